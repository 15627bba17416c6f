import HTTPTypes
import Hummingbird
import LocalServer

/// Sends the browser a small page, and ends the login after the page was sent.
struct CallbackResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let callback: Callback
  let place: RedirectEndpoint

  func respond(to request: Request, context: Context) async throws -> Response {
    let expected = place.redirectURI(port: callback.listeningPort)
    // A page elsewhere may point a name of its own at this machine; the host tells.
    guard request.head.namesOneHost, let host = request.head.authority,
      expected.lowercased().hasPrefix("http://\(host.lowercased())/")
    else { return page(.foreign) }
    let fragment: String?
    do {
      fragment = try await self.fragment(in: request, origin: "http://\(host.lowercased())")
    } catch {
      return page(.foreign)
    }
    let reply = callback.judge(
      isGet: request.method == .get, path: request.uri.path, query: request.uri.query ?? "",
      fragment: fragment, redirectURI: expected, expected: place.path)
    return page(reply)
  }

  /// No fragment with tokens is longer.
  private static let maxFragmentBytes = 64 * 1024

  /// What the page of the redirect sent from behind its `#`; `nil` if it is another request, or comes
  /// from another page.
  private func fragment(in request: Request, origin: String) async throws -> String? {
    guard request.method == .post, callback.takesFragments,
      request.headers[.origin].map({ $0.lowercased() == origin }) ?? true
    else { return nil }
    let body = try await request.body.collect(upTo: Self.maxFragmentBytes)
    return String(decoding: body.readableBytesView, as: UTF8.self)
  }

  private func page(_ reply: Callback.Reply) -> Response {
    let nonce = Self.nonce()
    let page = CallbackPage(reply, nonce: nonce)
    let bytes = ByteBuffer(string: page.html)
    var delivery: PageDelivery?
    if case .accepted = reply { delivery = PageDelivery(callback) }
    return Response(
      status: page.status,
      headers: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        .connection: "close",
        .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'"
          + (reply == .relay ? "; script-src 'nonce-\(nonce)'; connect-src 'self'" : ""),
        .referrerPolicy: "no-referrer",
      ],
      body: ResponseBody(contentLength: bytes.readableBytes) { [delivery] writer in
        try await writer.write(bytes)
        try await writer.finish(nil)
        delivery?.end()
      })
  }

  /// Marks the one script that may run.
  private static func nonce() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
  }
}

extension HTTPField.Name {
  fileprivate static let referrerPolicy: HTTPField.Name = {
    guard let name = HTTPField.Name("Referrer-Policy") else { preconditionFailure("a field name") }
    return name
  }()
}

/// The page that ends a login, on its way to the browser.
///
/// A browser that hangs up before it has the page has brought the redirect all the same: then the
/// response is dropped, and this value with it.
final class PageDelivery: Sendable {
  private let callback: Callback

  init(_ callback: Callback) { self.callback = callback }

  deinit { end() }

  /// The page was sent, or never will be.
  func end() { callback.pageSent() }
}

/// What the person in front of the browser reads.
struct CallbackPage {
  let status: HTTPResponse.Status
  let html: String

  init(_ reply: Callback.Reply, nonce: String = "") {
    let title: String
    let text: String
    var script = ""
    switch reply {
    case .relay:
      (status, title) = (.ok, "The login is almost done")
      text = "This page tells the program. It needs JavaScript."
      // The tokens leave the address at once, and never stand in one that is sent.
      script = """
        <script nonce="\(nonce)">
        const fragment = location.hash.slice(1);
        history.replaceState(null, "", location.pathname);
        fetch(location.pathname, {method: "POST", body: fragment})
          .then(reply => reply.text())
          .then(page => { document.open(); document.write(page); document.close(); });
        </script>
        """
    case .accepted(isRefusal: false):
      (status, title) = (.ok, "You are logged in")
      text = "You can close this window and go back to the program."
    case .accepted(isRefusal: true):
      (status, title) = (.ok, "The login did not succeed")
      text = "The program tells you why. You can close this window."
    case .alreadyUsed:
      (status, title) = (.gone, "This login is already finished")
      text = "If it was not you, start the login again from the program."
    case .foreign:
      (status, title) = (.badRequest, "This page does not belong to the login")
      text = "The program still waits for the login that it started. Go back to that page."
    case .notFound:
      (status, title) = (.notFound, "There is nothing here")
      text = "The program only waits for the end of a login."
    case .methodNotAllowed:
      (status, title) = (.methodNotAllowed, "There is nothing to send here")
      text = "The program only waits for the end of a login."
    }
    html = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
      <style>body{font:1.1em/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto;padding:0 1em}\
      </style></head>
      <body><h1>\(title)</h1><p>\(text)</p>\(script)</body></html>

      """
  }
}
