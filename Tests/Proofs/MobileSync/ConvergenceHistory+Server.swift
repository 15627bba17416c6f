import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import Synchronization
@testable import MobileSyncTests

// The org, and what its users do.
extension ConvergenceHistory {
  /// A record of the org.
  private struct Found {
    let level: Int
    let record: JSONObject

    var id: String { record["Id"]?.string ?? "" }
  }

  func prepareOrg() {
    let world = world
    for (number, level) in world.levels.enumerated() {
      guard let lookup = level.lookup else { continue }
      org.relate(
        world.shape.isTree ? "Contacts" : "Children \(number)",
        parent: world.levels[level.parent].object, child: level.object, by: lookup,
        cascades: world.shape == .masterDetail)
    }
    org.setTickLength(world.tickLength)
    org.setQueryTime(0)
    org.pageSize = world.pageSize
    org.setChildPageSize(world.pageSize)
    org.changeValuesOnSaving { _, fields in
      for field in ConvergenceFields.written {
        guard let value = fields[field].map({ ConvergenceLedger.typed($0, in: field) }) else {
          continue
        }
        fields[field] = world.normalizes ? ConvergenceLedger.normalized(value, in: field) : value
      }
    }
    let tags = Mutex(Set<String>())
    org.runAfterChanges { change in
      let tag = change.new?[ConvergenceFields.tag]?.string
      let isNew = tag.map { tag in tags.withLock { $0.insert(tag).inserted } } ?? false
      return (world.replacesValues && isNew ? Self.replacement(change) : [])
        + Self.flow(change, world)
    }
    for number in 0..<3 { createOnServer(number) }
  }

  /// Replaces the values of a new record, except its name, in a transaction of its own.
  private static func replacement(_ change: InMemoryOrg.Change) -> [InMemoryOrg.FlowUpdate] {
    var fields: JSONObject = [:]
    for field in ConvergenceFields.written where field != ConvergenceFields.name {
      if let value = change.new?[field] {
        fields[field] = ConvergenceLedger.replaced(value, in: field)
      }
    }
    return [InMemoryOrg.FlowUpdate(change.type, change.id, fields)]
  }

  /// Sets a field of the changed record, and moves the dates of the parents of changed children, as a
  /// roll-up summary does.
  private static func flow(
    _ change: InMemoryOrg.Change, _ world: ConvergenceWorld
  ) -> [InMemoryOrg.FlowUpdate] {
    var updates: [InMemoryOrg.FlowUpdate] = []
    if world.hasFlow, let new = change.new {
      let stamp = new["LastModifiedDate"]?.string ?? ""
      updates.append(
        InMemoryOrg.FlowUpdate(
          change.type, change.id, [ConvergenceFields.stamp: .string("after \(stamp)")]))
    }
    if world.rollsUp, world.shape.isTree, change.type == world.levels[1].object {
      let lookup = world.levels[1].lookup ?? ""
      let parents = [change.old, change.new].compactMap { $0?[lookup]?.string }
      for parent in Set(parents).sorted() {
        updates.append(InMemoryOrg.FlowUpdate(world.levels[0].object, parent))
      }
    }
    return updates
  }

  /// All records, level by level, by id.
  private func records() -> [Found] {
    world.levels.enumerated().flatMap { number, level in
      org.records(level.object).map { Found(level: number, record: $0) }
    }
  }

  private func pickRecord(_ pick: Int) -> Found? {
    let records = records()
    return records.isEmpty ? nil : records[pick % records.count]
  }

  func numbersOnServer() -> Set<Int> {
    records().reduce(into: []) { $0.formUnion(ConvergenceLedger.numbers(in: $1.record)) }
  }

  // MARK: Changes

  func createOnServer(_ pick: Int) {
    var number = pick % world.levels.count
    var record = newRecord()
    record[ConvergenceFields.extra] = record[ConvergenceFields.tag]
    if world.sharesValues { record["CreatedById"] = .string(ConvergenceDevice.userId) }
    if let lookup = world.levels[number].lookup {
      let parents = org.records(world.levels[world.levels[number].parent].object)
      if parents.isEmpty {
        if world.shape.isTree { number = 0 }
      } else if world.shape.isTree || pick % 3 != 0 {
        record[lookup] = parents[pick % parents.count]["Id"]
      }
    }
    org.create(world.levels[number].object, record)
  }

  /// - Returns: The number that was written, if one was.
  @discardableResult
  func editOnServer(_ pick: Int, _ field: Int, isLate: Bool = false) async throws -> Int? {
    guard let found = pickRecord(pick) else { return nil }
    let object = world.levels[found.level].object
    var value = JSONValue.string("extra \(ledger.newTag())")
    var name = ConvergenceFields.extra
    if field < ConvergenceFields.written.count {
      name = ConvergenceFields.written[field]
      value = newValue(name)
      ledger.allowReplacing(
        [ConvergenceLedger.number(of: found.record[name])].compactMap { $0 })
    }
    org.committingLate(by: isLate ? 10_000 : 0) { org.update(object, found.id, [name: value]) }
    return name == ConvergenceFields.extra ? nil : ConvergenceLedger.number(of: value)
  }

  func move(_ pick: Int, byKind isKind: Bool) async throws {
    guard let found = pickRecord(pick), !isKind || world.hasSecondDown else { return }
    let name = isKind ? ConvergenceFields.kind : ConvergenceFields.region
    let (one, other): (JSONValue, JSONValue) = isKind ? ("a", "b") : ("in", "out")
    org.update(
      world.levels[found.level].object, found.id, [name: found.record[name] == one ? other : one])
  }

  func deleteOnServer(_ pick: Int) async throws {
    let records = records().filter { !ConvergenceLedger.isEqual($0.record) }
    guard !records.isEmpty else { return }
    try await delete(records[pick % records.count])
  }

  private func delete(_ found: Found) async throws {
    let before = Set(records().map(\.id))
    ledger.allowReplacing(ConvergenceLedger.numbers(in: found.record))
    allowReplacingChildren(of: found.record, found.level)
    org.delete(world.levels[found.level].object, found.id)
    let gone = before.subtracting(records().map(\.id))
    deletedIds.withLock { $0.formUnion(gone) }
    // Where uploads overwrite, each device that edits a deleted record creates it again.
    if world.hasOverwritingUpload, !world.hasExternalId { ledger.allowRepeating(found.record) }
  }

  func undelete(_ pick: Int) async throws {
    let bin = world.levels.flatMap { org.deletedRecords($0.object) }
    guard !bin.isEmpty else { return }
    let record = bin[pick % bin.count]
    // A record that was created again in its place stays alone.
    let tag = record[ConvergenceFields.tag]
    var places = records().map(\.record)
    for device in devices {
      places += try await device.allRows().filter(\.isCreated).map(\.record)
    }
    if places.contains(where: { $0[ConvergenceFields.tag] == tag || isSameKey($0, record) }) {
      return
    }
    // Children of trees need a parent.
    let object = record["attributes"]?["type"]?.string
    let lookup = world.levels.first { $0.object == object }?.lookup
    if world.shape.isTree, let lookup {
      let parent = record[lookup]?.string ?? ""
      guard org.record(world.levels[0].object, parent) != nil else { return }
    }
    org.undelete(record["Id"]?.string ?? "")
  }

  private func isSameKey(_ left: JSONObject, _ right: JSONObject) -> Bool {
    left[ConvergenceFields.externalId]?.string.map {
      $0 == right[ConvergenceFields.externalId]?.string
    } ?? false
  }

  /// Deletes a record and creates another with the same external id.
  func replace(_ pick: Int) async throws {
    let records = records().filter { !ConvergenceLedger.isEqual($0.record) }
    guard world.hasExternalId, !records.isEmpty else { return }
    let found = records[pick % records.count]
    try await delete(found)
    var record = newRecord()
    record[ConvergenceFields.externalId] = found.record[ConvergenceFields.externalId]
    if let lookup = world.levels[found.level].lookup { record[lookup] = found.record[lookup] }
    org.create(world.levels[found.level].object, record)
  }
}
