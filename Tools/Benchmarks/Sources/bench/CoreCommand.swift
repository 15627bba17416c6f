import ArgumentParser
import Foundation
import Hummingbird
import SalesforceSDKCore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The speed of requests and the memory of large bodies, each compared with a bare URLSession.
struct CoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "core", subcommands: [Serve.self, Requests.self, Transfer.self, TracedReads.self])

  /// Responds to small requests, and sends and receives large bodies.
  struct Serve: AsyncParsableCommand {
    func run() async throws {
      let small = ByteBuffer(string: #"{"DailyApiRequests":{"Max":15000,"Remaining":14998}}"#)
      let piece = ByteBuffer(bytes: [UInt8](repeating: 0x61, count: 262_144))
      let router = Router()
      router.get("/services/data/:version/limits") { _, _ in
        Response(
          status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: small))
      }
      router.get("/large/:pieces") { _, context in
        let pieces = try context.parameters.require("pieces", as: Int.self)
        return Response(
          status: .ok,
          body: .init(contentLength: pieces * piece.readableBytes) { writer in
            for _ in 0..<pieces { try await writer.write(piece) }
            try await writer.finish(nil)
          })
      }
      router.post("/large") { request, _ in
        var bytes = 0
        for try await buffer in request.body { bytes += buffer.readableBytes }
        return "\(bytes)"
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

  /// Many small requests, some at a time.
  struct Requests: AsyncParsableCommand {
    @Argument(help: "client or bare.") var contender: String
    @Option var url: String
    @Option var count = 3000
    @Option var parallel = 1

    func run() async throws {
      let once = try await request()
      // Connections are made before the clock starts.
      for _ in 0..<20 { try await once() }
      let share = count / parallel
      let start = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<parallel {
          group.addTask { for _ in 0..<share { try await once() } }
        }
        try await group.waitForAll()
      }
      try Measurement(seconds: (ContinuousClock.now - start) / .seconds(1)).print()
    }

    private func request() async throws -> @Sendable () async throws -> Void {
      if contender == "client" {
        let client = try await client(of: url)
        return {
          let json = try await client.send(.limits()).json()
          guard json["DailyApiRequests"] != nil else { throw ValidationError("no limits came") }
        }
      }
      let session = URLSession(configuration: .ephemeral)
      guard let address = URL(string: "\(url)/services/data/v66.0/limits") else {
        throw ValidationError("\(url) is no address")
      }
      var request = URLRequest(url: address)
      request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
      let signed = request
      return {
        let data: Data = try await withCheckedThrowingContinuation { continuation in
          session.dataTask(with: signed) { data, _, error in
            continuation.resume(
              with: data.map { .success($0) } ?? .failure(error ?? URLError(.unknown)))
          }.resume()
        }
        guard try JSONSerialization.jsonObject(with: data) is [String: Any] else {
          throw ValidationError("no limits came")
        }
      }
    }
  }

  /// One large body down into a file, or up from one, and what memory that took.
  struct Transfer: AsyncParsableCommand {
    @Argument(help: "down or up.") var direction: String
    @Option var url: String
    @Option var megabytes = 1000

    func run() async throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "fieldforce-bench-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "body")
      let client = try await client(of: url)
      let bytes = Int64(megabytes) << 20
      if direction == "up" {
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
          throw ValidationError("\(file.path) cannot be made")
        }
        let handle = try FileHandle(forWritingTo: file)
        // A file with a hole has the size without the time of writing it.
        try handle.truncate(atOffset: UInt64(bytes))
        try handle.close()
      }
      let start = ContinuousClock.now
      if direction == "up" {
        var request = RestRequest(method: .post, path: "/large", endpoint: "")
        request.upload = try UploadBody(file: file)
        guard try await client.send(request).text == "\(bytes)" else {
          throw ValidationError("the server got another number of bytes")
        }
      } else {
        let download = try await client.download(
          RestRequest(path: "/large/\(megabytes * 4)", endpoint: ""), to: file)
        guard download.bytes == bytes else {
          throw ValidationError("\(download.bytes) bytes came")
        }
      }
      try Measurement(
        seconds: (ContinuousClock.now - start) / .seconds(1), bytes: Int(bytes),
        peakMegabytes: peakMegabytes()
      ).print()
    }
  }
}

/// Returns a client with an account on the server, like a program's.
private func client(of url: String) async throws -> RestClient {
  guard let instance = URL(string: url) else { throw ValidationError("\(url) is no address") }
  let account = UserAccount(
    identity: UserAccountIdentity(
      userId: "005000000000001AAA", organizationId: "00D000000000001EAA"),
    credentials: OAuthCredentials(
      clientId: "bench", redirectURI: "http://127.0.0.1/callback", loginServer: .production,
      accessToken: "token", refreshToken: "refresh", instanceURL: instance),
    profile: UserProfile(username: "bench@example.com"))
  let persister = InMemoryAccountPersister()
  try await persister.save(account)
  let transport = URLSessionTransport()
  let accounts = try await UserAccountManager(persister: persister, transport: transport)
  return RestClient(account: account, accounts: accounts, transport: transport)
}
