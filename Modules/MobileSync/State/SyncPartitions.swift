import SalesforceSDKCommon

/// The ranges of ids of a sync's first download, with the progress of each.
///
/// JSON, as stored in the sync's state:
///
/// ```json
/// { "watermark": 1700000000000, "total": 100000, "highest": "001…",
///   "ranges": [{ "from": null, "below": "001…", "last": "001…", "saved": 26000, "done": false }] }
/// ```
public struct SyncPartitions: Sendable, Equatable {
  /// A range and its watermark.
  public struct Partition: Sendable, Equatable {
    /// The first id of the range; nil: it has no lower end.
    let from: String?
    /// The exclusive upper bound of the range; nil if there is none.
    public internal(set) var below: String?
    /// The watermark: all records of the range up to this id are saved; nil if none is.
    public internal(set) var savedUntil: String?
    /// The number of saved records of the range.
    public internal(set) var saved = 0
    /// Whether all are saved.
    public internal(set) var isDone = false

    /// The remaining range to download.
    var rest: SyncIdRange { SyncIdRange(from: from, after: savedUntil, below: below) }
  }

  /// The ranges. Together they cover all ids, and no id is in two of them.
  public internal(set) var ranges: [Partition]
  /// The number of records when the ranges were created.
  public let total: Int
  /// Up to when every range is complete, in milliseconds since 1970: the newest date that a record had before the
  /// first range was requested.
  let watermark: Int64
  private let highest: String

  /// More ranges than this are not made, however unevenly the ids are spread.
  private static let most = 64

  /// Creates ranges of equal width; nil if the ids cannot be divided.
  init?(_ bounds: SyncIdBounds, count: Int) {
    let cuts = IdScale.boundaries(from: bounds.lowest, to: bounds.highest, count: count)
    if cuts.isEmpty { return nil }
    ranges = zip([nil] + cuts, cuts + [nil]).map { Partition(from: $0, below: $1) }
    total = bounds.count
    watermark = bounds.newestChange
    highest = bounds.highest
  }

  /// Whether every range is saved.
  public var isDone: Bool { ranges.allSatisfy(\.isDone) }
  /// The number of saved records.
  public var saved: Int { ranges.reduce(0) { $0 + $1.saved } }

  /// A page of a range is about to be saved.
  ///
  /// - Parameters:
  ///   - ids: The ids of its records. Only in ascending order they move the watermark: without it the range begins
  ///     again after an interruption, and costs requests, but no record.
  ///   - isLast: Whether no page follows.
  mutating func save(_ ids: [String], ofRange index: Int, isLast: Bool) {
    let before = [ranges[index].savedUntil ?? ranges[index].from ?? ""]
    if let last = ids.last, zip(before + ids, ids).allSatisfy({ $0 <= $1 }) {
      ranges[index].savedUntil = last
    }
    ranges[index].saved += ids.count
    ranges[index].isDone = isLast
  }

  /// Splits the rest of a range whose first page is about to be saved, if it has far more records
  /// than its share.
  ///
  /// - Parameters:
  ///   - rest: The number of records of the range after that page.
  ///   - pageSize: The number of records of a page, which is the minimum share of a range.
  ///   - count: The number of ranges to download in parallel.
  /// - Returns: Whether the range was split. Then it must be requested again, and new ranges cover
  ///   the rest of it.
  mutating func cut(_ index: Int, rest: Int, pageSize: Int, count: Int) -> Bool {
    let share = max(total / max(count, 1), pageSize, 1)
    guard let last = ranges[index].savedUntil, rest / 3 > share / 2, ranges.count < Self.most
    else { return false }
    let end = ranges[index].below
    let cuts = IdScale.boundaries(
      from: last, to: end ?? highest, count: min(rest / share, Self.most - ranges.count) + 1)
    guard let first = cuts.first, last < first else { return false }
    ranges[index].below = first
    ranges += zip(cuts, cuts.dropFirst().map(Optional.some) + [end]).map {
      Partition(from: $0, below: $1)
    }
    return true
  }

  // MARK: JSON

  /// Reads the stored form; nil if it is none.
  init?(json: JSONSlice) {
    guard let watermark = json["watermark"]?.int64, let total = json["total"]?.int64,
      let highest = json["highest"]?.string, let ranges = json["ranges"], ranges.count > 0
    else { return nil }
    self.watermark = watermark
    self.total = Int(clamping: total)
    self.highest = highest
    self.ranges = ranges.elements.map { range in
      Partition(
        from: range["from"]?.string, below: range["below"]?.string,
        savedUntil: range["last"]?.string, saved: Int(clamping: range["saved"]?.int64 ?? 0),
        isDone: range["done"]?.bool ?? false)
    }
  }

  /// The stored form.
  var json: JSONObject {
    [
      "watermark": .integer(watermark), "total": .integer(Int64(total)),
      "highest": .string(highest),
      "ranges": .array(
        ranges.map { range in
          [
            "from": range.from.map { .string($0) } ?? .null,
            "below": range.below.map { .string($0) } ?? .null,
            "last": range.savedUntil.map { .string($0) } ?? .null,
            "saved": .integer(Int64(range.saved)), "done": .bool(range.isDone),
          ]
        }),
    ]
  }
}
