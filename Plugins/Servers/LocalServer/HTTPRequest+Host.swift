package import HTTPTypes

extension HTTPRequest {
  /// Whether the request has exactly one `Host` header, and this is not empty. Of several, each program may believe another
  /// one (RFC 9112, 3.2).
  package var namesOneHost: Bool {
    guard let authority, !authority.isEmpty else { return false }
    // The first header became the authority.
    return headerFields.allSatisfy { $0.name.canonicalName != "host" }
  }

  /// Whether the request has a `Host` header.
  package var namesHost: Bool {
    authority != nil || headerFields.contains { $0.name.canonicalName == "host" }
  }
}
