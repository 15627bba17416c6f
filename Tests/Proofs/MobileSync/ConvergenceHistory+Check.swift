import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Synchronization
@testable import MobileSyncTests

// What has to hold after each step, and in the end.
extension ConvergenceHistory {
  /// What is wrong already after a step; nil if nothing is.
  func faultNow(after step: ConvergenceStory.Step) async throws -> String? {
    switch step {
    case .sync(let device, _, _), .resolve(let device, _):
      devices.indices.contains(device) ? try await faultNow(on: devices[device]) : nil
    default: nil
    }
  }

  func faultNow(on device: ConvergenceDevice) async throws -> String? {
    if let fault = try await falseConflict(on: device) { return fault }
    if let fault = try await needlessDoubt(on: device) { return fault }
    return try await repeatedEntries(on: device)
  }

  /// A conflict that says of a record which was never deleted that it was.
  private func falseConflict(on device: ConvergenceDevice) async throws -> String? {
    for conflict in try await device.store.conflicts() where conflict.kind == .deletedThere {
      let isThere = world.levels.contains { org.record($0.object, conflict.recordId) != nil }
      if isThere, !deletedIds.withLock({ $0.contains(conflict.recordId) }) {
        return "device \(device.number) takes record \(conflict.recordId) for deleted"
      }
    }
    return nil
  }

  /// A create in doubt with a candidate that its name tells apart.
  private func needlessDoubt(on device: ConvergenceDevice) async throws -> String? {
    for conflict in try await device.store.conflicts() where conflict.kind == .inDoubt {
      let sent = conflict.fields.first { $0.name == ConvergenceFields.name }?.base
      for candidate in conflict.candidates {
        let name = org.original(candidate.id)?[ConvergenceFields.name]
        if ConvergenceLedger.number(of: name) != ConvergenceLedger.number(of: sent) {
          return "device \(device.number) holds \(sent ?? .null), since there is \(name ?? .null)"
        }
      }
    }
    return nil
  }

  /// Two entries of a soup with one id.
  private func repeatedEntries(on device: ConvergenceDevice) async throws -> String? {
    for soup in world.levels.map(\.soup) {
      let query = try QuerySpec.buildSmartQuerySpec(
        smartSql: "SELECT {\(soup):Id} FROM {\(soup)} GROUP BY {\(soup):Id} HAVING count(*) > 1",
        pageSize: 10)
      let found = try await device.store.query(using: query)
      if !found.isEmpty {
        return "device \(device.number) has several entries in \(soup) with the ids \(found)"
      }
    }
    return nil
  }

  /// Lets all devices sync until nothing moves, and looks at what came out.
  func calmDown() async throws -> String? {
    var left: String?
    for round in 0..<8 {
      for device in devices {
        // A held create is sent, or found, by a later run.
        while try await device.store.conflicts().contains(where: { $0.heldUntil == nil }) {
          try await resolve(device, (round + device.number) % 2 == 0 ? .mine : .theirs)
        }
        try await mendLookups(of: device)
        try await run(.related, device)
        for index in world.downs.indices { try await run(.down(index), device) }
        if round > 0 {
          for index in world.downs.indices { try await run(.ghosts(index), device) }
        }
        if let fault = try await faultNow(on: device) { return fault }
      }
      left = try await disagreement()
      if left == nil { break }
    }
    if let left { return left }
    let records = world.levels.flatMap { level in org.records(level.object) }
    if let fault = ledger.repetition(in: records) { return fault }
    let lost = ledger.lost(keeping: numbersOnServer())
    if !lost.isEmpty { return "values are lost without a conflict: \(lost)" }
    let findings = try await devices[0].store.verify().findings
    return findings.isEmpty ? nil : "the store of device 0 has \(findings)"
  }

  /// Where the devices and the org differ.
  private func disagreement() async throws -> String? {
    for device in devices {
      let rows = try await device.allRows()
      if let dirty = rows.first(where: { $0.record[SyncKeys.local]?.bool != false }) {
        return "device \(device.number) has a dirty entry: \(dirty.record)"
      }
      if try await !device.store.conflicts().isEmpty {
        return "device \(device.number) has conflicts"
      }
      for (number, level) in world.levels.enumerated() {
        let fields =
          world.fetchedFields(level, withExtra: device.fetchesExtra) + ["LastModifiedDate"]
        let expected = org.records(level.object).filter { world.isFetched($0, level, org) }
        let found = rows.filter { $0.level == number }.map(\.record)
        if let fault = Self.difference(found, expected, fields) {
          return "device \(device.number), \(level.soup): \(fault)"
        }
      }
    }
    return nil
  }

  private static func difference(
    _ found: [JSONObject], _ expected: [JSONObject], _ fields: [String]
  ) -> String? {
    func shape(_ record: JSONObject) -> [JSONValue] { fields.map { record[$0] ?? .null } }
    var here: [String: JSONObject] = [:]
    for record in found { here[record["Id"]?.string ?? ""] = record }
    for record in expected {
      let id = record["Id"]?.string ?? ""
      guard let row = here.removeValue(forKey: id) else {
        return "record \(id) is missing: \(record)"
      }
      for field in fields where (row[field] ?? .null) != (record[field] ?? .null) {
        return "record \(id) has \(field) \(row[field] ?? .null), the org \(record[field] ?? .null)"
      }
    }
    return here.isEmpty ? nil : "the org does not give \(here.values.map { $0 })"
  }

  // MARK: Sabotage

  /// Does what a fault of the engine would do.
  func spoil(_ sabotage: Sabotage) async throws {
    let device = devices[0]
    let row = try await device.allRows().first { !$0.isDirty }
    switch (sabotage, row) {
    case (.loseValue, _): _ = ledger.newNumber()
    case (.repeatRecord, _):
      if let record = org.records(world.levels[0].object).first {
        org.create(world.levels[0].object, record)
      }
    case (.repeatEntry, let row?):
      var record = row.record
      record["_soupEntryId"] = nil
      try await device.write(record, at: row.level)
    case (.loseEntry, let row?):
      try await device.store.remove(
        entryIds: [row.entryId], forSoupNamed: world.levels[row.level].soup)
    case (.ageEntry, let row?):
      var record = row.record
      record[ConvergenceFields.region] = "elsewhere"
      try await device.write(record, at: row.level)
    case (.inventEntry, let row?):
      var record = row.record
      record["_soupEntryId"] = nil
      record["Id"] = "001000000000777AAA"
      record[SyncKeys.syncId] = nil
      try await device.write(record, at: row.level)
    default: break
    }
  }
}
