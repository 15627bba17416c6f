import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
@testable import MobileSyncTests

// What the users of the devices do.
extension ConvergenceHistory {
  private typealias Row = ConvergenceDevice.Row

  /// The fields of a new record.
  func newRecord() -> JSONObject {
    var record: JSONObject = [
      ConvergenceFields.tag: .string(ledger.newTag()), ConvergenceFields.region: "in",
    ]
    for field in ConvergenceFields.written { record[field] = newValue(field) }
    complete(&record)
    return record
  }

  /// Sets what the world adds to a new record.
  private func complete(_ record: inout JSONObject) {
    if world.hasExternalId { record[ConvergenceFields.externalId] = .string(newKey()) }
    if world.hasSecondDown { record[ConvergenceFields.kind] = keyCount % 2 == 0 ? "a" : "b" }
    if world.sharesValues {
      for (field, value) in ConvergenceFields.shared { record[field] = value }
    }
  }

  private func newKey() -> String { "k\(ledger.newTag())" }
  private var keyCount: Int { org.records(world.levels[0].object).count }

  /// A value that was never written before, as users write it.
  func newValue(_ field: String) -> JSONValue {
    ConvergenceLedger.value(ledger.newNumber(), in: field, sloppily: world.normalizes)
  }

  func edit(_ device: ConvergenceDevice, _ pick: Int, _ field: Int) async throws {
    let rows = try await device.rows()
    guard !rows.isEmpty else { return }
    let row = rows[pick % rows.count]
    let name = ConvergenceFields.written[field % ConvergenceFields.written.count]
    let seen = try await device.edit(row, [name: newValue(name)])
    ledger.allowReplacing([ConvergenceLedger.number(of: seen?[name])].compactMap { $0 })
  }

  func create(_ device: ConvergenceDevice, _ pick: Int) async throws {
    let rows = try await device.rows()
    var number = pick % world.levels.count
    var record = newRecord()
    let parents = rows.filter { $0.level == world.levels[number].parent }
    if let lookup = world.levels[number].lookup {
      if parents.isEmpty {
        // Children of trees need a parent.
        if world.shape.isTree { number = 0 }
      } else if world.shape.isTree || pick % 3 != 0 {
        record[lookup] = .string(parents[pick % parents.count].id)
      }
    }
    try await device.create(record, at: number)
  }

  /// Creates a record that nothing tells apart from others of this device but an external id. No user
  /// deletes such records, so that their number is known.
  func createEqual(_ device: ConvergenceDevice) async throws {
    var record: JSONObject = [
      "Name": "equal", "Phone": "equal",
      ConvergenceFields.tag: .string(ledger.equalTag(device: device.number)),
      ConvergenceFields.region: "in",
    ]
    complete(&record)
    try await device.create(record, at: 0)
  }

  func misdirect(_ device: ConvergenceDevice, _ pick: Int) async throws {
    let rows = try await device.rows().filter { world.levels[$0.level].lookup != nil }
    guard !rows.isEmpty, !world.shape.isTree else { return }
    let row = rows[pick % rows.count]
    _ = try await device.edit(
      row, [world.levels[row.level].lookup ?? "": "001000000000999AAA"])
  }

  func relate(_ device: ConvergenceDevice, _ pick: Int, _ other: Int) async throws {
    let rows = try await device.rows()
    let children = rows.filter { world.levels[$0.level].lookup != nil }
    guard !children.isEmpty, !world.shape.isTree else { return }
    let row = children[pick % children.count]
    let level = world.levels[row.level]
    let parents = rows.filter { $0.level == level.parent }
    guard let lookup = level.lookup, !parents.isEmpty else { return }
    _ = try await device.edit(row, [lookup: .string(parents[other % parents.count].id)])
  }

  func delete(_ device: ConvergenceDevice, _ pick: Int) async throws {
    let rows = try await device.rows().filter { !ConvergenceLedger.isEqual($0.record) }
    guard !rows.isEmpty else { return }
    let row = rows[pick % rows.count]
    // The user knows that a tree goes as a whole.
    for seen in try await device.delete(row) {
      ledger.allowReplacing(ConvergenceLedger.numbers(in: seen))
    }
  }

  /// Undoes the changes of an unsynced entry, if that is possible.
  func undo(_ device: ConvergenceDevice, _ pick: Int) async throws {
    let rows = try await device.allRows().filter {
      $0.isDirty && !ConvergenceLedger.isEqual($0.record)
    }
    guard !rows.isEmpty else { return }
    let row = rows[pick % rows.count]
    do {
      try await device.store.undoEdit(id: row.id, in: world.levels[row.level].soup)
      ledger.allowReplacing(ConvergenceLedger.numbers(in: row.record))
    } catch let error as SyncError where error.code == .cannotUndo {
      // It is in doubt, or its version before the edit is not known.
    }
  }

  /// A device breaks: what it has not uploaded goes into a bundle, and from there into another device, or into the new
  /// store of the same.
  func rescue(_ device: ConvergenceDevice, into other: ConvergenceDevice) async throws {
    // Only its own store distinguishes a record that equals others of its user.
    guard
      try await !device.allRows().contains(where: {
        $0.isDirty && ConvergenceLedger.isEqual($0.record)
      })
    else { return }
    let bundle = try await device.exportRescue()
    try await device.replaceStore()
    try await other.importRescue(bundle)
  }

  func refers(_ row: ConvergenceDevice.Row, to id: String) -> Bool {
    guard let lookup = world.levels[row.level].lookup else { return false }
    return row.record[lookup]?.string == id
  }

  /// Lets rows refer to nothing, or to another record, whose lookups lead nowhere: the server refuses
  /// them.
  func mendLookups(of device: ConvergenceDevice) async throws {
    let rows = try await device.rows()
    for row in rows where row.isDirty {
      let level = world.levels[row.level]
      guard let lookup = level.lookup, let id = row.record[lookup]?.string else { continue }
      // A device may still have a parent that the server has deleted.
      let parents = rows.filter {
        $0.level == level.parent
          && ($0.isCreated || org.record(world.levels[level.parent].object, $0.id) != nil)
      }
      if parents.contains(where: { $0.id == id })
        || (!world.shape.isTree && org.record(world.levels[level.parent].object, id) != nil)
      {
        continue
      }
      guard world.shape.isTree else {
        _ = try await device.edit(row, [lookup: .null])
        continue
      }
      if let parent = parents.first {
        _ = try await device.edit(row, [lookup: .string(parent.id)])
      } else {
        for seen in try await device.delete(row) {
          ledger.allowReplacing(ConvergenceLedger.numbers(in: seen))
        }
      }
    }
  }
}
