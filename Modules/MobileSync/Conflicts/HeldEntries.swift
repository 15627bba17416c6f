/// The entries of a soup that a sync up does not send, with the reasons.
struct HeldEntries: Sendable {
  /// The server's records are newer or gone, or a conflict is open.
  var conflicts: Set<Int64> = []
  /// The server did not return its version.
  var undecided: Set<Int64> = []
  /// Unacknowledged entries of an earlier run, if it is unknown whether the server has them; with
  /// their marks.
  var inDoubt: [Int64: SyncRecordOutcome] = [:]
  /// Entries in conflict that are sent, since this merge mode decides for them; their conflicts end when the server
  /// has accepted them.
  var overruled: Set<Int64> = []

  /// Whether the entry is not sent.
  func contains(_ entryId: Int64) -> Bool {
    conflicts.contains(entryId) || undecided.contains(entryId) || inDoubt[entryId] != nil
  }

  /// The reason why the entry is not sent; nil if it is. A create in doubt is in conflict.
  func reason(_ entryId: Int64) -> SyncRecordOutcome.Kind? {
    if undecided.contains(entryId) || inDoubt[entryId]?.action == .update { return .undecided }
    return contains(entryId) ? .conflict : nil
  }

  mutating func formUnion(_ other: HeldEntries) {
    conflicts.formUnion(other.conflicts)
    undecided.formUnion(other.undecided)
    inDoubt.merge(other.inDoubt) { first, _ in first }
    overruled.formUnion(other.overruled)
  }
}
