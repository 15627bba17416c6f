/// The bound of a series of pages that a server leads through, each page to the next.
///
/// A server that is at fault, or hostile, may lead to further pages for ever, and each under an address of its own. The
/// series ends with a ``Fault``
/// - if a page leads back to an earlier one,
/// - if ``maxIdlePages`` pages in a row bring no new record,
/// - if the pages have clearly more records than the server counted itself,
/// - after ``maxPages`` pages.
///
/// It keeps one number a page, however many records the pages have.
package struct PageBound<Cursor: Equatable> {
  /// The limit that a series exceeded.
  package enum Fault: Sendable, Hashable {
    case circle
    case idle(pages: Int)
    case beyondTotal(Int)
    case tooMany(pages: Int)

    /// A sentence for the message of an error.
    package var reason: String {
      switch self {
      case .circle:
        "The server's pages lead in a circle: a later page led back to an earlier one."
      case .idle(let pages):
        "The server's pages do not end: \(pages) pages in a row brought no new record."
      case .beyondTotal(let total):
        "The server's pages do not end: they have more than the \(total) records that the server counted."
      case .tooMany(let pages): "The server's pages do not end: \(pages) of them led to another."
      }
    }
  }

  /// The maximum number of pages in a row without new records.
  package static var maxIdlePages: Int { 1_000 }
  /// The maximum number of pages: of 2,000 records each, they would have two thousand million.
  package static var maxPages: Int { 1_000_000 }

  /// Whether the first total counts. Otherwise the greatest of all pages does.
  private let isTotalFixed: Bool
  private var cursors = CircleDetector<Cursor>()
  /// Hash values of the pages' first records. A page whose first record began an earlier page is not new: any finite
  /// set of records has only so many to begin a page with.
  private var firsts: Set<Int> = []
  private var pages = 0
  private var idle = 0
  private var records = 0
  private var total: Int?

  /// - Parameter isTotalFixed: Whether the server counts the records once, as for a query. Default: true.
  package init(isTotalFixed: Bool = true) { self.isTotalFixed = isTotalFixed }

  /// Adds a page that leads to another.
  ///
  /// - Parameters:
  ///   - next: The cursor of the other page; nil if cursors cannot be compared.
  ///   - count: The number of the page's records and other changes; nil if it is not known.
  ///   - first: A hash value of the first of them; nil if it has none.
  ///   - total: The number of records of all pages by this page; nil or negative if it has none.
  /// - Returns: The limit that is exceeded now.
  package mutating func follow(
    _ next: Cursor?, count: Int? = nil, first: Int? = nil, total: Int? = nil
  ) -> Fault? {
    if let next, cursors.returns(to: next) { return .circle }
    pages += 1
    if pages >= Self.maxPages { return .tooMany(pages: pages) }
    guard let count else { return nil }
    let isNew = count > 0 && (first.map { firsts.insert($0).inserted } ?? true)
    idle = isNew ? 0 : idle + 1
    if idle >= Self.maxIdlePages { return .idle(pages: idle) }
    if let total, total >= 0, !(isTotalFixed && self.total != nil) {
      self.total = max(total, self.total ?? 0)
    }
    records = records.addingReportingOverflow(count).partialValue
    // Records may come while the pages are read, and some servers count roughly.
    if let total = self.total, records > total, records - total > max(total / 10, 2_000) {
      return .beyondTotal(total)
    }
    return nil
  }
}

extension PageBound: Sendable where Cursor: Sendable {}

extension JSONSlice {
  /// A hash value of the text, within this process.
  package var textHash: Int {
    withUTF8 { bytes in
      var hasher = Hasher()
      hasher.combine(bytes: bytes)
      return hasher.finalize()
    }
  }
}
