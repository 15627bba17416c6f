import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import TestSupport
@testable import MobileSyncTests

/// What stays the same during a story: the soups and syncs of the devices, and the habits of the org.
struct ConvergenceWorld: Sendable, Equatable {
  /// How records refer to each other.
  enum Shape: String, Sendable, CaseIterable {
    /// One object without references.
    case flat
    /// One object whose records refer to each other.
    case selfReference
    /// Three objects, each referring to the one before.
    case chain
    /// Parents whose children the org deletes with them, synced as trees.
    case masterDetail
    /// Parents and children that outlive them, synced as trees.
    case lookupTree

    var isTree: Bool { self == .masterDetail || self == .lookupTree }
  }

  /// The target of syncs up; trees have their own.
  enum Target: String, Sendable, CaseIterable { case collection, batch, basic, bulk }
  /// The target of syncs down; trees have their own.
  enum Source: String, Sendable, CaseIterable {
    /// Queries, one page after the other.
    case pages
    /// Queries whose first download is split, and whose ghosts are found by deletions.
    case ranges
    case bulk
  }

  /// The merge modes of a device's syncs.
  struct Modes: Sendable, Equatable {
    var down: SyncMergeMode
    var secondDown: SyncMergeMode
    var up: SyncMergeMode

    static let merging = Modes(down: .mergeFields, secondDown: .mergeFields, up: .mergeFields)
  }

  var shape = Shape.flat
  var target = Target.collection
  var source = Source.pages
  var hasExternalId = false
  /// Whether a second sync down fills the first soup, with a query that overlaps the first one's.
  var hasSecondDown = false
  /// Whether the org trims texts, formats phone numbers and rounds numbers.
  var normalizes = false
  /// Whether a flow replaces the values of each new record by others, except its name, after the creation.
  var replacesValues = false
  /// Whether one user creates all records, and they share most of their values: only names tell them apart.
  var sharesValues = false
  /// Whether a flow sets a further field in a transaction of its own.
  var hasFlow = false
  /// Whether a change of a child changes the date of its parent, too, as that of a roll-up summary does.
  var rollsUp = false
  var commitsLate = false
  var fetchesModificationDates = false
  /// The number of records in a page of a query, and of a request of a sync up.
  var pageSize = 1_000
  var batchSize = 25
  /// The milliseconds between two changes on the server, whose dates are whole seconds.
  var tickLength: Int64 = 1_000
  /// The merge modes of each device.
  var modes = [Modes.merging, Modes.merging]
  /// The hours by which the clock of each device is ahead of the org's.
  var hoursAhead = [0, 0]

  /// The simplest world.
  init() {}

  /// The world of a seed.
  init(_ random: inout SeededGenerator) {
    func pick<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: 0..<values.count, using: &random)]
    }
    shape = pick([.flat, .flat, .selfReference, .chain, .masterDetail, .lookupTree])
    target = pick(Target.allCases)
    source = pick([.pages, .pages, .ranges, .bulk])
    hasExternalId = pick([true, false])
    hasSecondDown = pick([true, false, false]) && !shape.isTree
    normalizes = pick([true, false])
    replacesValues = pick([true, false, false])
    hasFlow = pick([true, false, false])
    commitsLate = pick([true, false, false])
    fetchesModificationDates = pick([true, false, false])
    pageSize = pick([1, 2, 3, 1_000])
    batchSize = pick([1, 2, 3, 25])
    tickLength = pick([150, 400, 1_000, 2_600])
    // What a flow changes in the second of the creation looks like another record.
    if replacesValues { tickLength = max(tickLength, 1_000) }
    let count = pick([2, 2, 2, 3])
    let usual = Modes(down: pick(Self.modes), secondDown: pick(Self.modes), up: pick(Self.modes))
    let isMixed = pick([true, false])
    modes = (0..<count).map { _ in
      isMixed
        ? Modes(down: pick(Self.modes), secondDown: pick(Self.modes), up: pick(Self.modes)) : usual
    }
    hoursAhead = (0..<count).map { _ in pick([0, 0, -11, -2, 3, 14]) }
    sharesValues = pick([true, false])
    rollsUp = pick([true, false]) && shape.isTree
  }

  private static let modes: [SyncMergeMode] = [
    .mergeFields, .mergeFields, .leaveIfChanged, .overwrite,
  ]

  /// This world with one of its properties as the simplest has it, for each property that differs.
  var simpler: [ConvergenceWorld] {
    func with(_ change: (inout ConvergenceWorld) -> Void) -> ConvergenceWorld {
      var world = self
      change(&world)
      return world
    }
    let simple = ConvergenceWorld()
    var worlds = [
      with { $0.shape = .flat }, with { $0.target = .collection },
      with { $0.source = .pages },
      with { $0.hasExternalId = false },
      with { $0.hasSecondDown = false }, with { $0.normalizes = false },
      with { $0.replacesValues = false }, with { $0.hasFlow = false },
      with { $0.sharesValues = false }, with { $0.rollsUp = false },
      with { $0.commitsLate = false }, with { $0.fetchesModificationDates = false },
      with { $0.pageSize = simple.pageSize }, with { $0.batchSize = simple.batchSize },
      with { $0.tickLength = simple.tickLength },
      with { $0.hoursAhead = $0.hoursAhead.map { _ in 0 } },
    ]
    if modes.count > 2 {
      worlds.append(
        with {
          $0.modes.removeLast()
          $0.hoursAhead.removeLast()
        })
    }
    worlds.append(with { $0.modes = $0.modes.map { _ in .merging } })
    for index in modes.indices {
      worlds.append(with { $0.modes[index] = .merging })
      worlds.append(with { $0.modes[index].down = .mergeFields })
      worlds.append(with { $0.modes[index].secondDown = .mergeFields })
      worlds.append(with { $0.modes[index].up = .mergeFields })
    }
    return worlds.filter { $0 != self }
  }

  /// How far the syncs down look back: late transactions have old dates.
  var lateCommitWindow: Duration { commitsLate ? .seconds(20) : .zero }

  /// Whether an upload of any device replaces what others wrote.
  var hasOverwritingUpload: Bool { modes.contains { $0.up == .overwrite } }
}

extension ConvergenceWorld: CustomStringConvertible {
  var description: String {
    var parts = [
      "Shape \(shape), target \(shape.isTree ? "tree" : target.rawValue)", "source \(source)",
      "page size \(pageSize)",
      "batch size \(batchSize)", "\(tickLength) ms between changes",
    ]
    if hasExternalId { parts.append("external id") }
    if hasSecondDown { parts.append("two syncs down") }
    if normalizes { parts.append("the server normalizes values") }
    if replacesValues { parts.append("a flow replaces the values of new records") }
    if sharesValues { parts.append("records of one user share their values") }
    if hasFlow { parts.append("a flow") }
    if rollsUp { parts.append("children change their parents' dates") }
    if commitsLate { parts.append("late commits") }
    if fetchesModificationDates { parts.append("fetches modification dates") }
    for (number, (modes, hours)) in zip(modes, hoursAhead).enumerated() {
      let second = hasSecondDown ? ", second down \(modes.secondDown)" : ""
      parts.append(
        "device \(number): down \(modes.down)\(second), up \(modes.up), clock \(hours) h ahead")
    }
    return parts.joined(separator: "; ") + "."
  }
}
