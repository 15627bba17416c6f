import HTTPTypes
import Hummingbird

/// Answers the browser with a small page, and ends the login after the page was sent.
struct CallbackResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let callback: Callback
  let place: RedirectPlace

  func respond(to request: Request, context: Context) async throws -> Response {
    let expected = place.redirectURI(port: callback.listeningPort)
    // A page elsewhere may point a name of its own at this machine; the host tells.
    guard let host = request.head.authority,
      expected.lowercased().hasPrefix("http://\(host.lowercased())/")
    else { return page(.foreign) }
    let answer = callback.judge(
      isGet: request.method == .get, path: request.uri.path, query: request.uri.query ?? "",
      redirectURI: expected, expected: place.path)
    return page(answer)
  }

  private func page(_ answer: Callback.Answer) -> Response {
    let page = CallbackPage(answer)
    let bytes = ByteBuffer(string: page.html)
    var delivery: PageDelivery?
    if case .accepted = answer { delivery = PageDelivery(callback) }
    return Response(
      status: page.status,
      headers: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        .connection: "close",
        .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'",
      ],
      body: ResponseBody(contentLength: bytes.readableBytes) { [delivery] writer in
        try await writer.write(bytes)
        try await writer.finish(nil)
        delivery?.end()
      })
  }
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

  init(_ answer: Callback.Answer) {
    let title: String
    let text: String
    switch answer {
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
      <body><h1>\(title)</h1><p>\(text)</p></body></html>

      """
  }
}
