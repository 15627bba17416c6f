import Foundation
import HTTPTypes
import SalesforceSDKCore
import Synchronization
import Testing

@testable import LoopbackLogin
import TestSupport

/// CO-29, CO-44: the user-agent flow through the listener, and the name `localhost`.
@Suite struct LoopbackFlowTests {
  private let transport = URLSessionTransport()

  private func send(
    _ address: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:],
    body: String? = nil
  ) async throws -> RestResponse {
    try await transport.send(
      TransportRequest(
        method: method, url: try #require(URL(string: address)), headers: headers,
        body: body.map { Array($0.utf8) }))
  }

  private func redirectURI(_ page: URL) throws -> String {
    let items = URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems
    return try #require(items?.first { $0.name == "redirect_uri" }?.value)
  }

  @Test(.covers("CO-29", "CO-44.1", "HT-95.1"))
  func `the redirect's page hands over what only the browser sees`()
    async throws
  {
    let attempt = AuthorizationSession(
      app: ConnectedApp(clientId: "c", redirectURI: "http://127.0.0.1:0/callback"),
      server: .production, flow: .userAgent)
    let statuses = Mutex<[Int]>([])
    let pages = Mutex<[String]>([])
    let presenter = LoopbackLoginPresenter { page in
      let uri = try redirectURI(page)
      let origin = uri.replacing("/callback", with: "")
      let fragment = "access_token=00D%21AQ&state=\(attempt.state)"
      let relay = try await send(uri)
      pages.withLock {
        $0 += [
          String(decoding: relay.body, as: UTF8.self),
          relay.headers[.contentSecurityPolicy] ?? "",
        ]
      }
      for (body, sender) in [
        // Another page, another login, and no tokens at all.
        (fragment, "https://evil.example"), (fragment, "null"),
        ("access_token=x&state=other", origin), ("", origin),
        (String(repeating: "x", count: 100_000), origin),
      ] {
        let answer = try await send(
          uri, method: .post, headers: [.origin: sender], body: body)
        statuses.withLock { $0.append(answer.status) }
      }
      // The login ends with this one, and may not wait for its response to be read.
      _ = try await send(uri, method: .post, headers: [.origin: origin], body: fragment)
    }
    let redirect = try await presenter.redirect(of: attempt)
    guard
      case .tokens = attempt.verdict(on: redirect.address, redirectURI: redirect.redirectURI)
    else {
      Issue.record("the redirect brings no tokens")
      return
    }
    #expect(statuses.withLock { $0 } == [405, 405, 400, 400, 400])
    let (page, policy) = pages.withLock { ($0[0], $0[1]) }
    // One script may run, and it may speak to this listener alone.
    let nonce = try #require(page.firstMatch(of: #/<script nonce="([a-z0-9]+)">/#)).output.1
    #expect(policy.contains("script-src 'nonce-\(nonce)'"))
    #expect(policy.contains("default-src 'none'") && policy.contains("connect-src 'self'"))
  }

  @Test(.covers("CO-44.2"))
  func `the web-server flow takes nothing that a page sends`() async throws {
    let attempt = AuthorizationSession(
      app: ConnectedApp(clientId: "c", redirectURI: "http://127.0.0.1:0/callback"),
      server: .production)
    let statuses = Mutex<[Int]>([])
    let presenter = LoopbackLoginPresenter { page in
      let uri = try redirectURI(page)
      let post = try await send(uri, method: .post, body: "code=x&state=\(attempt.state)")
      let bare = try await send(uri)
      statuses.withLock { $0 = [post.status, bare.status] }
      _ = try await send("\(uri)?code=x&state=\(attempt.state)")
    }
    _ = try await presenter.redirect(of: attempt)
    #expect(statuses.withLock { $0 } == [405, 400])
  }

  @Test(.covers("CO-44.1"))
  func `a redirect to localhost is received on both of its addresses`() async throws {
    for address in ["127.0.0.1", "::1"] {
      let attempt = AuthorizationSession(
        app: ConnectedApp(clientId: "c", redirectURI: "http://localhost:0/callback"),
        server: .production)
      let presenter = LoopbackLoginPresenter { page in
        let uri = try redirectURI(page)
        let port = try #require(URL(string: uri)?.port)
        let status = plainGet(
          "/callback?code=x&state=\(attempt.state)", address: address, port: port,
          host: "localhost:\(port)")
        #expect(status == "HTTP/1.1 200 OK")
      }
      let redirect = try await presenter.redirect(of: attempt)
      #expect(redirect.address.hasPrefix("http://localhost:"))
    }
  }
}
