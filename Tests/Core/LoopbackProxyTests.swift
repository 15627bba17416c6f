import Foundation
import HTTPTypes
import Testing

@testable import SalesforceSDKCore

/// Requests to this machine while the environment names a proxy.
@Suite struct LoopbackProxyTests {
  @Test func `a request to this machine never goes to a proxy`() async throws {
    let proxy = try SocketServer { _, connection in
      connection.send(SocketServer.answer("proxy"))
      return true
    }
    let server = try SocketServer { _, connection in
      connection.send(SocketServer.answer("server"))
      return true
    }
    setenv("http_proxy", proxy.url().absoluteString, 1)
    defer { unsetenv("http_proxy") }
    let request = TransportRequest(
      method: .get, url: server.url("/limits"), headers: [.authorization: "Bearer secret"])
    let response = try await URLSessionTransport().send(request)
    #expect(text(response.body) == "server")
    let streamed = try await URLSessionTransport().withStream(to: request) { stream in
      try await stream.body.prefix(upTo: 100)
    }
    #expect(text(streamed) == "server")
    #expect(proxy.requests.isEmpty)
  }
}
