import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
@testable import MobileSyncTests

// What the users of the devices decide about conflicts. Who decides has seen all values.
extension ConvergenceHistory {
  /// Resolves a device's first conflict.
  func resolve(
    _ device: ConvergenceDevice, _ decision: ConvergenceStory.Decision
  ) async throws {
    // The user lets a create alone that the server may still complete.
    guard
      let conflict = try await device.store.conflicts().first(where: { $0.heldUntil == nil }),
      let row = try await device.allRows().first(where: {
        world.levels[$0.level].soup == conflict.soupName && $0.entryId == conflict.entryId
      })
    else { return }
    let resolution =
      switch conflict.kind {
      case .inDoubt: resolution(ofDoubt: conflict, row)
      case .parentMissing:
        try await resolution(ofMissingParent: conflict, decision, row, device)
      default: resolution(of: conflict, decision, row)
      }
    try await device.store.resolve(conflict, resolution)
  }

  /// The user detaches the child or lets its parent be created again, as far as that is possible, or gives the
  /// edit up.
  private func resolution(
    ofMissingParent conflict: SyncConflict, _ decision: ConvergenceStory.Decision,
    _ row: ConvergenceDevice.Row, _ device: ConvergenceDevice
  ) async throws -> SyncResolution {
    guard let parent = conflict.missingParent else { return .theirs }
    let family = try await device.allRows().filter {
      $0.id == parent.recordId || refers($0, to: parent.recordId)
    }
    let hasEntry = family.contains { $0.id == parent.recordId && $0.level == 0 }
    if decision == .mine, !parent.isRequired { return .detach }
    if decision != .theirs, hasEntry {
      // A record that two devices create again is two records.
      for row in family { ledger.allowRepeating(row.record) }
      return .recreateParent
    }
    ledger.allowReplacing(ConvergenceLedger.numbers(in: row.record))
    return .theirs
  }

  /// The user knows which record it is that was created here.
  private func resolution(
    ofDoubt conflict: SyncConflict, _ row: ConvergenceDevice.Row
  ) -> SyncResolution {
    let ids = conflict.candidates.map(\.id)
    let others = org.records(world.levels[row.level].object).filter {
      !ConvergenceLedger.isEqual($0)
        && $0[ConvergenceFields.tag] == row.record[ConvergenceFields.tag]
    }.compactMap { $0["Id"]?.string }
    let found = ids.first { id in
      let original = org.original(id)
      return conflict.fields.allSatisfy { original?[$0.name] == $0.base }
    }
    guard let id = found ?? others.first else { return .create }
    let object = world.levels[row.level].object
    ledger.allowReplacing(ConvergenceLedger.numbers(in: org.record(object, id)))
    return .record(id)
  }

  private func resolution(
    of conflict: SyncConflict, _ decision: ConvergenceStory.Decision, _ row: ConvergenceDevice.Row
  ) -> SyncResolution {
    let mine = conflict.fields.map { row.record[$0.name] } + conflict.fields.map(\.mine)
    let theirs = conflict.fields.map(\.theirs)
    switch (decision, conflict.kind) {
    case (_, .changedThere):
      // The user has looked at the server, too.
      ledger.allowReplacing(ConvergenceLedger.numbers(in: row.record))
      ledger.allowReplacing(
        ConvergenceLedger.numbers(
          in: org.record(world.levels[row.level].object, conflict.recordId)))
      return decision == .theirs ? .theirs : .mine
    case (.mine, .deletedThere), (.values, .deletedThere):
      // A record that two devices create again is two records.
      return .values([ConvergenceFields.tag: .string(ledger.newTag())])
    case (.mine, _):
      allowReplacing(theirs)
      allowReplacing(childrenIn: conflict)
      return .mine
    case (.theirs, .deletedThere):
      ledger.allowReplacing(ConvergenceLedger.numbers(in: row.record))
      return .theirs
    case (.theirs, _):
      if [.fields, .localEdits].contains(conflict.kind) { allowReplacing(mine) }
      if conflict.mergeMode == .leaveIfChanged {
        ledger.allowReplacing(ConvergenceLedger.numbers(in: row.record))
      }
      return .theirs
    case (.values, .fields), (.values, .localEdits):
      allowReplacing(mine + theirs)
      return .values(
        JSONObject(
          conflict.fields.map { (key: $0.name, value: newValue(of: $0, row)) }))
    default:
      allowReplacing(
        [row.record["Name"]] + conflict.fields.filter { $0.name == "Name" }.map(\.theirs))
      return .values(["Name": newValue("Name")])
    }
  }

  /// The user knows the children that the deletion of their parent takes along, as the conflict names them with their
  /// dates.
  private func allowReplacing(childrenIn conflict: SyncConflict) {
    for field in conflict.fields where field.name == "__children__" {
      for (id, date) in field.theirs?.object ?? [:] {
        let record = org.record(world.levels[1].object, id)
        if record?["LastModifiedDate"] == date {
          ledger.allowReplacing(ConvergenceLedger.numbers(in: record))
        }
      }
    }
  }

  /// A new value for a field in conflict; for one that is not in the ledger, what stands in the row.
  private func newValue(
    of field: SyncConflict.Field, _ row: ConvergenceDevice.Row
  ) -> JSONValue {
    ConvergenceFields.written.contains(field.name)
      ? newValue(field.name) : row.record[field.name] ?? .null
  }

  private func allowReplacing(_ values: [JSONValue?]) {
    ledger.allowReplacing(values.compactMap { ConvergenceLedger.number(of: $0) })
  }
}
