import NIOHTTP1

/// Who may use the server: programs that know the token, at the server's own address (HT-95).
struct AccessRules: Sendable {
  /// 192 random bits as hexadecimal digits, new for each server.
  let token: String

  init() {
    var generator = SystemRandomNumberGenerator()
    token = (0..<24).map { _ in
      let byte = UInt8.random(in: .min ... .max, using: &generator)
      return (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// The address at which a server on this port is reached.
  static func host(_ port: Int) -> String { "127.0.0.1:\(port)" }

  /// The path behind the token, without query and fragment, if the request is admitted.
  func path(of head: HTTPRequestHead, port: Int) -> Substring? {
    guard head.headers["host"] == [Self.host(port)] else { return nil }
    let path = head.uri.prefix { $0 != "?" && $0 != "#" }
    let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].isEmpty, isToken(parts[1]) else { return nil }
    return parts[2]
  }

  /// Whether the request opens a socket and may do so. A program sends no origin, a page its own.
  func admitsSocket(_ head: HTTPRequestHead, port: Int) -> Bool {
    guard head.method == .GET, path(of: head, port: port) == "_bridge",
      head.headers["sec-websocket-version"] == ["13"],
      head.headers["sec-websocket-key"].count == 1
    else { return false }
    let origins = head.headers["origin"]
    return origins.isEmpty || origins == ["http://" + Self.host(port)]
  }

  /// Takes the same time wherever the texts differ.
  private func isToken(_ text: Substring) -> Bool {
    guard text.utf8.count == token.utf8.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(text.utf8, token.utf8) { difference |= one ^ other }
    return difference == 0
  }
}
