import NIOHTTP1
import SalesforceSDKCommon

/// The clients that may use the server (HT-95).
enum AccessRules: Sendable {
  /// Programs on this machine that know the token, at the server's own address.
  case token(String)
  /// The window that alone can open the socket's file; its pages are at `https://localhost`, and the origins from which
  /// they may call the bridge are checked one by one.
  case window(admits: @Sendable (_ origin: String) -> Bool)

  /// Rules with 192 random bits as hexadecimal digits, new for each server.
  static func randomToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<24).map { _ in
      let byte = UInt8.random(in: .min ... .max, using: &generator)
      return (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// The address at which a server on this port is reached.
  static func host(_ port: Int) -> String { "127.0.0.1:\(port)" }

  /// The path without query and fragment, if the request is admitted; without the token, where there is one.
  func path(of head: HTTPRequestHead, port: Int) -> Substring? {
    let path = head.uri.prefix { $0 != "?" && $0 != "#" }
    switch self {
    case .token(let token):
      guard head.headers["host"] == [Self.host(port)] else { return nil }
      let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0].isEmpty, parts[1].isEqual(toSecret: token) else {
        return nil
      }
      return parts[2]
    case .window:
      guard head.headers["host"] == ["localhost"], path.hasPrefix("/") else { return nil }
      return path.dropFirst()
    }
  }

  /// Whether the request opens a socket and may do so. A program sends no origin, a page its own.
  func admitsSocket(_ head: HTTPRequestHead, port: Int) -> Bool {
    guard head.method == .GET, path(of: head, port: port) == "_bridge",
      head.headers["sec-websocket-version"] == ["13"],
      head.headers["sec-websocket-key"].count == 1
    else { return false }
    let origins = head.headers["origin"]
    switch self {
    case .token: return origins.isEmpty || origins == ["http://" + Self.host(port)]
    case .window(let admits): return origins.count == 1 && admits(origins[0])
    }
  }

  /// The headers by which a browser keeps a file from, or gives it to, pages of other origins.
  func headers(for head: HTTPRequestHead, port: Int) -> [(name: String, value: String)] {
    // Existing pages use inline scripts and compile templates with `new Function`.
    let policy = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' "
    switch self {
    case .token:
      return [
        ("Content-Security-Policy", policy + "ws://\(Self.host(port)); frame-ancestors 'self'"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
      ]
    case .window(let admits):
      var headers = [
        ("Content-Security-Policy", policy + "wss://localhost; frame-ancestors 'self'"),
        // Pages of the org include scripts and styles of the app's folder (HT-3).
        ("Cross-Origin-Resource-Policy", "cross-origin"), ("Vary", "Origin"),
      ]
      if let origin = head.headers["origin"].first, admits(origin) {
        headers.append(("Access-Control-Allow-Origin", origin))
      }
      return headers
    }
  }
}
