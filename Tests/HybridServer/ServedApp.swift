import Foundation
import HybridServer
import SalesforceHybridSDK
import SalesforceSDKCommon
import TestSupport

/// A server with a www folder and a plug-in that echoes.
struct ServedApp {
  let server: HybridServer
  let bridge: HybridBridge
  let folder: TemporaryFolder

  var host: String { "127.0.0.1:\(server.port)" }
  /// The path of the pages, with the token.
  var root: String { String(server.url.dropFirst("http://\(host)".count)) }

  /// Runs `body` with a server on these files; without files there is no www folder.
  static func with(
    _ files: [String: String] = ["index.html": "<p>start</p>"],
    limits: HybridLimits = HybridLimits(),
    _ body: (ServedApp) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let www = folder.file("www")
    for (name, text) in files {
      let file = www.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let bridge = try HybridBridge(plugins: [EchoPlugin()], limits: limits)
    let server = try await HybridServer.start(bridge: bridge, www: files.isEmpty ? nil : www)
    do {
      try await body(ServedApp(server: server, bridge: bridge, folder: folder))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// Requests a file by its path behind the token.
  func get(_ path: String, method: String = "GET") async throws -> RawConnection.Response {
    try await request(root + path, host: host, method: method)
  }

  func request(
    _ path: String, host: String, method: String = "GET", headers: [String] = []
  ) async throws -> RawConnection.Response {
    try await RawConnection.with(server.port) {
      try await $0.request(path, host: host, method: method, headers: headers)
    }
  }

  /// Opens a socket and lends it.
  func withSocket<R: Sendable>(
    _ body: (inout RawConnection) async throws -> R
  ) async throws -> R {
    let (path, host) = (root + "_bridge", host)
    return try await RawConnection.with(server.port) { connection in
      let answer = try await connection.request(path, host: host, headers: RawConnection.upgrade)
      guard answer.status == 101 else { throw Refused(status: answer.status) }
      return try await body(&connection)
    }
  }

  struct Refused: Error { let status: Int }
}

struct EchoPlugin: HybridPlugin {
  let serviceNames = ["echo"]

  func respond(to call: HybridCall) async throws -> HybridValue {
    switch call.action {
    case "echo": return HybridValue(.array(call.arguments.map(\.value)))
    case "count": return HybridValue(.integer(Int64(call.arguments.first?.utf8.count ?? 0)))
    default: throw call.invalidAction()
    }
  }
}
