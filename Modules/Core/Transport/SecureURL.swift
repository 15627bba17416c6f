package import Foundation

extension URL {
  /// Whether a request may go there: https anywhere, plain http on this machine alone.
  package var isAllowedForTransport: Bool {
    switch scheme?.lowercased() {
    case "https": !(host() ?? "").isEmpty
    case "http": isLoopback
    default: false
    }
  }

  /// - Throws: ``TransportError`` `insecureURL` unless a request may go there.
  func checkIsSecure() throws(TransportError) {
    guard isAllowedForTransport else {
      throw TransportError(
        .insecureURL,
        "\(withoutQuery) is not https; plain http is for this machine alone")
    }
  }

  /// Whether the host is this machine: 127.0.0.0/8, ::1 or localhost, written out.
  ///
  /// The name is not looked up: what a name resolves to is somebody else's decision.
  package var isLoopback: Bool {
    guard var host = host()?.lowercased() else { return false }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { (48...57).contains($0) } && UInt8(part) != nil
      }
  }

  /// Scheme, host and port, for comparing origins.
  package var origin: String {
    let scheme = scheme?.lowercased() ?? ""
    let port = port ?? (scheme == "http" ? 80 : 443)
    return "\(scheme)://\(host()?.lowercased() ?? ""):\(port)"
  }
}
