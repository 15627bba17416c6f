/// Whether a record may be sent without overwriting a change on the server.
enum DateRule {
  /// Whether the local record is newer than the server's, by what the server says about its age.
  ///
  /// Dates are compared as instants.
  ///
  /// - Parameters:
  ///   - localDate: The modification date that was downloaded with the record; nil if it has none. It is
  ///     the server's, since editing a record does not change it.
  ///   - isDeleted: Whether the record was deleted locally.
  static func isNewer(localDate: Int64?, isDeleted: Bool, than remote: RemoteDate) -> Bool {
    guard let localDate else { return true }
    return switch remote {
    case .modified(let date): localDate >= date
    case .gone: isDeleted
    case .unknown: false
    }
  }
}
