import Foundation
import HTTPTypes
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// Where do requests go, with and without a proxy in the environment? The suite is serial: the environment is that
/// of the whole process.
@Suite(.serialized) struct LoopbackProxyTests {
  @Test(.covers("CO-130.4"))
  func `a request to another host goes to the proxy`() async throws {
    let proxy = try SocketServer { _, connection in
      connection.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
      return false
    }
    setenv("https_proxy", proxy.url().absoluteString, 1)
    defer { unsetenv("https_proxy") }
    let url = try #require(URL(string: "https://proxied.invalid/limits"))
    await #expect(throws: TransportError.self) {
      try await URLSessionTransport().send(
        TransportRequest(method: .get, url: url, headers: [.authorization: "Bearer secret"]))
    }
    let request = try #require(proxy.requests.first)
    #expect(request.head.hasPrefix("CONNECT proxied.invalid:443 HTTP/1."))
    // The proxy learns the name of the host, and nothing of the request.
    #expect(!request.head.contains("secret") && !request.head.contains("limits"))
  }

  @Test(.covers("CO-125.4"))
  func `a host name that does not exist is unreachable`() async throws {
    // The top-level domain is reserved for names that never resolve.
    let url = try #require(URL(string: "https://fieldforce.invalid/"))
    let error = await #expect(throws: TransportError.self) {
      try await URLSessionTransport().send(TransportRequest(method: .get, url: url))
    }
    #expect(error?.code == .unreachable)
  }

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
