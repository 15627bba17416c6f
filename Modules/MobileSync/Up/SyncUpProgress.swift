/// The progress of a sync up: one step per record, in order.
struct SyncUpProgress: Sendable, Equatable {
  private let total: Int
  private(set) var finished = 0

  init(total: Int) {
    self.total = total
  }

  /// The percentages to report after `count` further records are done: one per record, none for
  /// the last of the run, which is reported as done.
  mutating func advance(by count: Int) -> [Int] {
    let first = finished + 1
    finished = min(finished + count, total)
    guard first <= finished else { return [] }
    return (first...finished).filter { $0 < total }.map { Int(Int64($0) * 100 / Int64(total)) }
  }
}
