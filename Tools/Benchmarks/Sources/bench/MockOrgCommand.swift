import ArgumentParser
import Foundation
import Hummingbird
import SalesforceMockOrg

/// The contenders of the mock org's rows: servers to query, and work that is timed without HTTP.
struct MockOrgCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mock-org",
    subcommands: [
      MockOrgServeCommand.self, BareRouteCommand.self, MockOrgLoadCommand.self,
      MockOrgSnapshotCommand.self,
    ])
}

/// Serves an org with made-up accounts, and says where and to whom it opens.
struct MockOrgServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "serve")
  @Option var records: Int

  func run() async throws {
    let org = try MockOrg()
    try await org.generate("Account", count: records)
    let server = try await MockOrgServer.start(org)
    print(server.info.json)
    fflush(nil)
    // The table's driver ends this process.
    while true { try await Task.sleep(for: .seconds(3600)) }
  }
}

/// Serves one response of a given size with nothing behind it, to tell what the server itself costs.
struct BareRouteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "bare-route")
  @Option(help: "The size of the response.") var bytes: Int

  func run() async throws {
    let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes)
    let router = Router()
    router.get("/services/data/:version/sobjects/:object/:id") { _, _ in
      Response(
        status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }
    let application = Application(
      router: router,
      configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        guard let port = channel.localAddress?.port else { return }
        try? Measurement(url: "http://127.0.0.1:\(port)").print()
      })
    try await application.runService()
  }
}

/// Creates random records in an empty org.
struct MockOrgLoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "load")
  @Option var records: Int

  func run() async throws {
    let org = try MockOrg()
    let start = ContinuousClock.now
    try await org.generate("Account", count: records)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try Measurement(seconds: seconds, records: records, peakMegabytes: peakMegabytes()).print()
  }
}

/// Saves, restores and resets an org with made-up accounts.
struct MockOrgSnapshotCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "snapshots")
  @Option var records: Int
  @Option var rounds = 9

  /// The medians, in seconds.
  private struct Medians: Encodable {
    var save: Double
    var restore: Double
    var reset: Double
  }

  func run() async throws {
    let org = try MockOrg()
    try await org.generate("Account", count: records)
    var saves: [Double] = []
    var restores: [Double] = []
    var resets: [Double] = []
    for _ in 0..<rounds {
      var start = ContinuousClock.now
      let snapshot = try await org.snapshot()
      saves.append((ContinuousClock.now - start) / .seconds(1))
      start = .now
      try await org.reset()
      resets.append((ContinuousClock.now - start) / .seconds(1))
      start = .now
      try await org.restore(snapshot)
      restores.append((ContinuousClock.now - start) / .seconds(1))
    }
    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    let medians = Medians(save: median(saves), restore: median(restores), reset: median(resets))
    let text = try JSONEncoder().encode(medians)
    FileHandle.standardOutput.write(text + Data("\n".utf8))
  }
}
