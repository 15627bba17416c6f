@testable import MobileSync
import Testing

/// Why is an entry not sent?
@Suite struct HeldEntriesTests {
  private static let mark = SyncRecordOutcome(
    syncId: 1, soupName: "s", entryId: 3, recordId: nil, action: .create, kind: .unanswered,
    time: 0)

  @Test func `every combination of findings has one reason, and none where the entry is sent`() {
    for bits in 0..<16 {
      var held = HeldEntries()
      let (conflict, undecided) = (bits & 1 != 0, bits & 2 != 0)
      let (inDoubt, overruled) = (bits & 4 != 0, bits & 8 != 0)
      if conflict { held.conflicts = [3] }
      if undecided { held.undecided = [3] }
      if inDoubt { held.inDoubt = [3: Self.mark] }
      if overruled { held.overruled = [3] }
      let isHeld = conflict || undecided || inDoubt
      #expect(held.contains(3) == isHeld)
      #expect(held.reason(3) == (undecided ? .undecided : isHeld ? .conflict : nil))
      #expect(held.reason(4) == nil)
      var joined = HeldEntries()
      joined.formUnion(held)
      #expect(joined.reason(3) == held.reason(3) && joined.overruled == held.overruled)
    }
  }
}
