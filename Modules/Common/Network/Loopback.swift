package import Foundation

extension URL {
  /// Whether the host is this machine: 127.0.0.0/8, ::1 or localhost, written out.
  ///
  /// The name is not resolved: the owner of a name decides what it resolves to.
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
}
