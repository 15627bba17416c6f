import ArgumentParser
import Foundation
import Hummingbird

/// Replays the pages of one query from memory, so that the server is not what is measured.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "serve")
  @Option var records: Int

  func run() async throws {
    let total = records
    var pages: [Int: ByteBuffer] = [:]
    for start in stride(from: 0, to: total, by: 2000) {
      let range = start..<min(start + 2000, total)
      pages[start] = ByteBuffer(bytes: SamplePage.body(range, total: total))
    }
    let replay = pages
    @Sendable func respond(_ start: Int) -> Response {
      guard let page = replay[start] else { return Response(status: .notFound) }
      return Response(
        status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: page))
    }

    let router = Router()
    router.get("/services/data/:version/query") { _, _ in respond(0) }
    router.get("/services/data/:version/query/:locator") { _, context in
      let locator = try context.parameters.require("locator")
      return respond(locator.split(separator: "-").last.flatMap { Int($0) } ?? -1)
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
