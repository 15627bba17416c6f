import SmartStore
import Synchronization

/// The numbers of entries of soups. The first page of a soup counts; those behind it, which follow at once as the
/// user scrolls, take its number.
final class EntryCounts: Sendable {
  private static let lifetime: Duration = .seconds(30)
  private static let capacity = 1_000

  private let known = Mutex<[String: (count: Int64, time: ContinuousClock.Instant)]>([:])

  func count(
    of soupName: String, store: String, isFirst: Bool, in reader: borrowing StoreReader
  ) throws -> Int64 {
    let key = "\(store)/\(soupName)"
    if !isFirst, let found = known.withLock({ $0[key] }),
      ContinuousClock.now - found.time < Self.lifetime
    {
      return found.count
    }
    let count = try reader.inspectedCount(ofSoupNamed: soupName)
    known.withLock { known in
      if known.count >= Self.capacity { known = [:] }
      known[key] = (count, .now)
    }
    return count
  }
}
