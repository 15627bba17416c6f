import Foundation
import HTTPTypes
import SalesforceSDKCore
import Synchronization
import Testing

@testable import LoopbackLogin
import TestSupport

/// CO-44: the listener for one redirect, over real sockets.
@Suite struct LoopbackLoginTests {
  private let app = ConnectedApp(clientId: "c", redirectURI: "http://127.0.0.1:0/callback?x")
  private let transport = URLSessionTransport()

  private func attempt(_ app: ConnectedApp? = nil) -> AuthorizationSession {
    AuthorizationSession(app: app ?? self.app, server: .production)
  }

  /// What the login page was given.
  private func redirectURI(_ page: URL) throws -> String {
    let items = URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems
    return try #require(items?.first { $0.name == "redirect_uri" }?.value)
  }

  private func get(_ address: String) async throws -> RestResponse {
    try await transport.send(
      TransportRequest(method: .get, url: try #require(URL(string: address))))
  }

  @Test(.covers("CO-44.1", "HT-73.1", "HT-74.1"))
  func `the browser is shown the page, and its redirect ends the login`()
    async throws
  {
    let attempt = attempt()
    let presenter = LoopbackLoginPresenter { page in
      _ = try await get("\(redirectURI(page))?code=a%3D%3D&state=\(attempt.state)")
    }
    let redirect = try await presenter.redirect(of: attempt)
    guard
      case .code("a%3D%3D") = attempt.verdict(
        on: redirect.address, redirectURI: redirect.redirectURI)
    else {
      Issue.record("the redirect holds no code")
      return
    }
    #expect(redirect.redirectURI.hasPrefix("http://127.0.0.1:"))
    #expect(redirect.redirectURI.hasSuffix("/callback"))
    #expect(!redirect.redirectURI.contains(":0/"))
  }

  @Test(.covers("CO-44.1"))
  func `the person reads that the login succeeded`() async throws {
    let attempt = attempt()
    let (answers, sink) = AsyncStream<RestResponse>.makeStream()
    let presenter = LoopbackLoginPresenter { page in
      let address = "\(try redirectURI(page))?code=a&state=\(attempt.state)"
      // The browser goes on by itself, whatever becomes of the program that opened it.
      Task.detached {
        if let response = try? await get(address) { sink.yield(response) }
        sink.finish()
      }
    }
    _ = try await presenter.redirect(of: attempt)
    var pages: [RestResponse] = []
    for await page in answers { pages.append(page) }
    #expect(pages.map(\.status) == [200])
    #expect(
      pages.first.map { String(decoding: $0.body, as: UTF8.self) }?.contains("logged in") == true)
  }

  @Test(.covers("CO-44.2", "HT-95.1"))
  func `what does not belong to the login is refused, and the login goes on`()
    async throws
  {
    let attempt = attempt()
    let statuses = Mutex<[Int]>([])
    let presenter = LoopbackLoginPresenter { page in
      let uri = try redirectURI(page)
      let root = uri.replacing("/callback", with: "")
      for address in [
        "\(uri)?code=x&state=wrong", "\(uri)?code=x", "\(uri)?error=access_denied", uri,
        "\(root)/", "\(root)/favicon.ico", "\(root)/callback/more?code=x&state=\(attempt.state)",
      ] {
        let status = try await get(address).status
        statuses.withLock { $0.append(status) }
      }
      let url = try #require(URL(string: "\(uri)?code=x&state=\(attempt.state)"))
      let post = try await transport.send(TransportRequest(method: .post, url: url))
      let host = try #require(HTTPField.Name("Host"))
      // A third party's name that points here.
      let rebound = try await transport.send(
        TransportRequest(method: .get, url: url, headers: [host: "evil.example.com"]))
      statuses.withLock { $0 += [post.status, rebound.status] }
      _ = try await get(url.absoluteString)
    }
    let redirect = try await presenter.redirect(of: attempt)
    #expect(redirect.address.contains("code=x"))
    #expect(statuses.withLock { $0 } == [400, 400, 400, 400, 404, 404, 404, 405, 400])
  }

  @Test(.covers("CO-30.1"))
  func `a refusal ends the login and is reported`() async throws {
    let attempt = attempt()
    let presenter = LoopbackLoginPresenter { page in
      _ = try await get(
        "\(redirectURI(page))?error=access_denied&error_description=no&state=\(attempt.state)")
    }
    let redirect = try await presenter.redirect(of: attempt)
    guard
      case .refused(let error) = attempt.verdict(
        on: redirect.address, redirectURI: redirect.redirectURI)
    else {
      Issue.record("the redirect tells no refusal")
      return
    }
    #expect(error.code == .accessDenied)
  }

  @Test(.covers("CO-44.1"))
  func `a second redirect is refused`() {
    let attempt = attempt()
    let callback = Callback(attempt)
    let uri = "http://127.0.0.1:1/callback"
    func judge(_ query: String) -> Callback.Reply {
      callback.judge(
        isGet: true, path: "/callback", query: query, redirectURI: uri, expected: "/callback")
    }
    #expect(judge("code=a&state=other") == .foreign)
    #expect(judge("code=a&state=\(attempt.state)") == .accepted(isRefusal: false))
    #expect(judge("code=b&state=\(attempt.state)") == .alreadyUsed)
    #expect(judge("code=a&state=\(attempt.state)") == .alreadyUsed)
    #expect(CallbackPage(.alreadyUsed).status == .gone)
  }

  @Test(.covers("CO-44.1"))
  func `of two redirects over the socket one ends the login, and the other is refused`()
    async throws
  {
    let attempt = attempt()
    let (answers, sink) = AsyncStream<(code: String, status: Int?)>.makeStream()
    let presenter = LoopbackLoginPresenter { page in
      let uri = try redirectURI(page)
      for code in ["first", "second"] {
        // Whatever becomes of the login and of its listener.
        Task.detached {
          let answer = try? await get("\(uri)?code=\(code)&state=\(attempt.state)")
          sink.yield((code, answer?.status))
        }
      }
    }
    let redirect = try await presenter.redirect(of: attempt)
    var accepted: [String] = []
    var refused: [Int?] = []
    for await answer in answers {
      if answer.status == 200 {
        accepted.append(answer.code)
      } else {
        refused.append(answer.status)
      }
      if accepted.count + refused.count == 2 { break }
    }
    let code = try #require(accepted.first)
    #expect(accepted.count == 1)
    #expect(redirect.address.contains("code=\(code)&"))
    // The listener is there still, or not any more.
    #expect(refused == [410] || refused == [nil])
  }

  @Test(.covers("CO-44.1"))
  func `a browser that hangs up before it has its page ends the login too`()
    async throws
  {
    let attempt = attempt()
    let callback = Callback(attempt)
    let answer = callback.judge(
      isGet: true, path: "/callback", query: "code=a&state=\(attempt.state)",
      redirectURI: "http://127.0.0.1:1/callback", expected: "/callback")
    #expect(answer == .accepted(isRefusal: false))
    // The response is dropped, and its delivery with it.
    do { _ = PageDelivery(callback) }
    #expect(try await callback.accepted.value().address.contains("code=a"))
  }

  @Test(.covers("CO-44.3"))
  func `a login that is not finished times out with 667`() async throws {
    let (opened, sink) = AsyncStream<Void>.makeStream()
    let clock = HandClock()
    let presenter = LoopbackLoginPresenter(timeLimit: .seconds(300), clock: clock) { _ in
      sink.finish()
    }
    let login = Task { try await presenter.redirect(of: attempt()) }
    for await _ in opened {}
    clock.fire()
    let error = await #expect(throws: OAuthError.self) { try await login.value }
    #expect(error?.number == 667)
  }

  @Test(.covers("CO-57"))
  func `cancelling the login closes the listener`() async throws {
    let (opened, sink) = AsyncStream<String>.makeStream()
    let presenter = LoopbackLoginPresenter { page in sink.yield(try redirectURI(page)) }
    let login = Task { try await presenter.redirect(of: attempt()) }
    var uri = ""
    for await address in opened {
      uri = address
      break
    }
    login.cancel()
    await #expect(throws: CancellationError.self) { try await login.value }
    let address = uri
    let error = await #expect(throws: TransportError.self) { try await get(address) }
    #expect(error?.code == .unreachable)
  }

  @Test func `a login that ends while others connect ends in peace`() async throws {
    // A server that is cancelled while it accepts a connection would end the process.
    for _ in 0..<20 {
      let attempt = attempt()
      let presenter = LoopbackLoginPresenter { page in
        let uri = try redirectURI(page)
        for _ in 0..<8 {
          Task.detached {
            _ = try? await URLSessionTransport().send(
              TransportRequest(method: .get, url: try #require(URL(string: uri))))
          }
        }
        _ = try await get("\(uri)?code=a&state=\(attempt.state)")
      }
      _ = try await presenter.redirect(of: attempt)
    }
  }

  @Test(.covers("CO-44.3"))
  func `a port that is taken is reported`() async throws {
    let first = attempt()
    let code = Mutex<OAuthError.Code?>(nil)
    let presenter = LoopbackLoginPresenter { page in
      let uri = try redirectURI(page)
      let second = attempt(ConnectedApp(clientId: "c", redirectURI: uri))
      do {
        _ = try await LoopbackLoginPresenter { _ in }.redirect(of: second)
      } catch let error as OAuthError {
        code.withLock { $0 = error.code }
      }
      _ = try await get("\(uri)?code=a&state=\(first.state)")
    }
    _ = try await presenter.redirect(of: first)
    #expect(code.withLock { $0 } == .browserLaunchFailed)
  }

  @Test func `a browser that cannot be opened ends the login`() async throws {
    struct NoBrowser: Error {}
    let error = await #expect(throws: OAuthError.self) {
      try await LoopbackLoginPresenter { _ in throw NoBrowser() }.redirect(of: attempt())
    }
    #expect(error?.code == .browserLaunchFailed)
    #expect(error?.cause is NoBrowser)
  }

  @Test(
    .covers("CO-28"),
    arguments: [
      "https://127.0.0.1/callback", "http://example.com/callback", "myapp://oauth/done", "",
      "http://0.0.0.0/callback",
    ])
  func `a redirect URI elsewhere is refused`(uri: String) async {
    let app = ConnectedApp(clientId: "c", redirectURI: uri)
    let error = await #expect(throws: OAuthError.self) {
      try await LoopbackLoginPresenter { _ in }.redirect(of: attempt(app))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test(
    .covers("CO-44.1"),
    arguments: [
      ("http://127.0.0.1:0/callback", ["127.0.0.1"], 0, "http://127.0.0.1:99/callback"),
      (
        "http://localhost:1717/OauthRedirect", ["127.0.0.1", "::1"], 1717,
        "http://localhost:99/OauthRedirect"
      ),
      ("http://127.0.0.1", ["127.0.0.1"], 0, "http://127.0.0.1:99/"),
      ("http://[::1]:8080/x", ["::1"], 8080, "http://[::1]:99/x"),
    ])
  func `where the redirect is awaited`(
    uri: String, addresses: [String], port: Int, withPort: String
  ) throws {
    let place = try RedirectEndpoint(uri)
    #expect(place.bindAddresses == addresses)
    #expect(place.port == port)
    #expect(place.redirectURI(port: 99) == withPort)
  }
}

/// A clock that moves by hand: `fire` ends every sleep of now and of later.
private final class HandClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let stream: AsyncStream<Void>
  private let sink: AsyncStream<Void>.Continuation
  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Duration { .zero }

  init() {
    (stream, sink) = AsyncStream.makeStream()
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    for await _ in stream {}
    try Task.checkCancellation()
  }

  func fire() { sink.finish() }
}
