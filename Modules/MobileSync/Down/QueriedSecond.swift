/// The earliest time at which the server can have read the records of a run.
///
/// Modification dates have whole seconds: a record that is changed later in the second of the watermark has the
/// watermark's date, and a query for what is newer misses it.
struct QueriedSecond: Sendable {
  /// In milliseconds since 1970, by the server's clock; nil if its responses have no date.
  private let earliest: Int64?

  /// - Parameters:
  ///   - serverTime: The server's time, to the second, in a response that is not older than the first page.
  ///   - elapsed: How long ago the request for that page was sent.
  init(serverTime: Int64?, since elapsed: Duration) {
    let parts = elapsed.components
    let milliseconds = parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000 + 1
    earliest = serverTime.map { $0 - milliseconds }
  }

  /// Whether records may be changed after the query and get this date all the same.
  func mayBe(ofChangesAt date: Int64) -> Bool {
    guard let earliest, date > 0 else { return false }
    return earliest < (date / 1_000 + 1) * 1_000
  }
}
