import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import TestSupport
import Testing
@testable import MobileSyncTests

/// Does a soup hold one entry for each record after any history with external ids, lost responses and downloads
/// between?
@Suite struct TwinTests {
  /// What happens in a history, on one device and on its server.
  private enum Step: CaseIterable {
    case create, edit, delete, editOnServer, deleteOnServer, recreateOnServer, createOnServer
    case down, up, losingUp, unreachableUp, double, restart
  }

  private static let modes = [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields]
  private static let histories = 40

  private static func target(_ number: Int) -> any SyncUpTarget {
    let fields = SyncUpFields(externalIdFieldName: "Ext__c")
    switch number % 3 {
    case 0: return CollectionSyncUpTarget(fields: fields)
    case 1: return BatchSyncUpTarget(fields: fields)
    default: return BasicSyncUpTarget(fields: fields)
    }
  }

  @Test(arguments: modes)
  func `a record has one entry after any history of lost responses and downloads`(
    mode: SyncMergeMode
  ) async throws {
    let first = Effort.seed(1)
    for number in 0..<Effort.times(Self.histories) {
      let seed = first &+ UInt64(number)
      if let fault = try await Self.live(seed, mode) {
        Issue.record("Seed \(seed), \(mode): \(fault)")
        return
      }
    }
  }

  /// Lives through a history.
  ///
  /// - Returns: What is wrong in the end; nil if nothing is.
  private static func live(_ seed: UInt64, _ mode: SyncMergeMode) async throws -> String? {
    var random = SeededGenerator(seed: seed)
    let org = InMemoryOrg()
    org.setClock(SalesforceDateNow.milliseconds)
    let device = try await Device.open(org)
    if seed % 2 == 0 {
      try await device.store.alterSoup(
        named: Device.soup,
        indexSpecs: try await device.store.indices(forSoupNamed: Device.soup)
          + [SoupIndex(path: "Ext__c", type: .string)], reIndexData: true)
    }
    _ = try await device.manager.createSyncUp(
      target: target(Int(seed / 2)),
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone", "Ext__c"]),
      soupName: Device.soup, syncName: "up")
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(
        query: "select Id, Name, Phone, Ext__c, LastModifiedDate from Account"),
      options: SyncOptions(mergeMode: mode), soupName: Device.soup, syncName: "down")
    var history = History(device: device, mode: mode)
    for _ in 0..<Int.random(in: 6...20, using: &random) {
      let step = Step.allCases.randomElement(using: &random) ?? .up
      let pick = Int.random(in: 0..<6, using: &random)
      if let fault = try await history.perform(step, pick) {
        return "\(fault)\n\(history.told.joined(separator: "\n"))"
      }
    }
    let fault = try await history.calmDown()
    return fault.map { "\($0)\n\(history.told.joined(separator: "\n"))" }
  }

  private struct History {
    let device: Device
    let mode: SyncMergeMode
    var told: [String] = []
    private var last = 0
    /// Values that the user wrote and that no user who saw them has replaced, deleted or decided about.
    private var written: Set<String> = []

    init(device: Device, mode: SyncMergeMode) {
      self.device = device
      self.mode = mode
    }

    private var org: InMemoryOrg { device.org }

    private mutating func value(_ name: String) -> JSONValue {
      last += 1
      return .string("\(name) \(last)")
    }

    private func rows() async throws -> [JSONValue] {
      try await device.rows().filter { $0[SyncKeys.locallyDeleted]?.bool != true }
    }

    mutating func perform(_ step: Step, _ pick: Int) async throws -> String? {
      told.append("\(step) \(pick)")
      let rows = try await rows()
      let records = org.records("Account")
      func row() -> JSONValue? { rows.isEmpty ? nil : rows[pick % rows.count] }
      func record() -> JSONObject? { records.isEmpty ? nil : records[pick % records.count] }
      switch step {
      case .create:
        let name = value("here")
        try await device.create([["Name": name, "Ext__c": value("x")]])
        written.insert(name.string ?? "")
      case .edit:
        guard let entryId = row()?["_soupEntryId"]?.int64 else { return nil }
        let phone = value("phone")
        if let seen = row()?["Phone"]?.string { written.remove(seen) }
        try await device.edit(entry: entryId, ["Phone": phone])
        written.insert(phone.string ?? "")
      case .delete:
        guard let id = row()?["Id"]?.string else { return nil }
        for seen in rows where seen["Id"]?.string == id {
          for field in ["Name", "Phone"] { written.remove(seen[field]?.string ?? "") }
        }
        try await device.delete(id)
      case .editOnServer:
        guard let seen = record(), let id = seen["Id"]?.string else { return nil }
        written.remove(seen["Phone"]?.string ?? "")
        org.update("Account", id, ["Phone": value("there")])
      case .deleteOnServer, .recreateOnServer:
        guard let seen = record(), let id = seen["Id"]?.string else { return nil }
        for field in ["Name", "Phone"] { written.remove(seen[field]?.string ?? "") }
        org.delete("Account", id)
        if step == .recreateOnServer {
          org.create("Account", ["Name": value("again"), "Ext__c": seen["Ext__c"] ?? .null])
        }
      case .createOnServer:
        org.create("Account", ["Name": value("there"), "Ext__c": value("x")])
      case .double:
        // An app that writes a record which it has got elsewhere, and which a sync has brought too.
        guard let seen = record(), rows.contains(where: { $0["Id"] == seen["Id"] }) else {
          return nil
        }
        var entry = seen
        for key in [
          SyncKeys.local, SyncKeys.locallyCreated, SyncKeys.locallyUpdated,
          SyncKeys.locallyDeleted,
        ] { entry[key] = false }
        try await device.store.upsert(entries: [.object(entry)], forSoupNamed: Device.soup)
      case .restart: try await device.restartProcess()
      case .down: return try await sync("down")
      case .up: return try await sync("up")
      case .losingUp, .unreachableUp:
        org.intervene { _, request in
          guard request.line.hasPrefix("P") || request.line.hasPrefix("D") else { return .none }
          return step == .losingUp ? .dropResponse : .unreachable
        }
        _ = await syncErrorCode { try await run("up") }
        org.intervene(nil)
      }
      return nil
    }

    private func run(_ name: String) async throws {
      _ = try await device.manager.reSync(named: name).finished()
    }

    /// Runs a sync with nothing in its way: it has to end well, with one entry for each record.
    private func sync(_ name: String) async throws -> String? {
      do {
        try await run(name)
      } catch {
        return "sync \(name) fails: \(error)"
      }
      let doubles = try await device.store.doubledRecords(registry: device.registry)
      return doubles.isEmpty ? nil : "after sync \(name) there are doubles: \(doubles)"
    }

    mutating func calmDown() async throws -> String? {
      for _ in 0..<6 {
        for name in ["up", "down", "up"] {
          if let fault = try await sync(name) { return fault }
        }
        _ = try await device.manager.cleanResyncGhosts(forName: "down")
        for conflict in try await device.store.conflicts() {
          for field in conflict.fields { written.remove(field.theirs?.string ?? "") }
          try await device.store.resolve(conflict, .mine)
        }
      }
      let rows = try await device.rows()
      let ids = rows.compactMap { $0["Id"]?.string }
      if Set(ids).count != ids.count { return "an id stands twice: \(ids.sorted())" }
      let keys = org.records("Account").compactMap { $0["Ext__c"]?.string }
      if Set(keys).count != keys.count { return "an external id stands twice: \(keys.sorted())" }
      if mode == .leaveIfChanged { return nil }
      if let dirty = try await device.dirtyRows().first {
        return "an entry stays unsynced: \(dirty)"
      }
      func shape(_ values: [JSONValue]) -> [String] {
        values.map { value in
          ["Id", "Name", "Phone", "Ext__c"].map { value[$0]?.string ?? "" }
            .joined(separator: ", ")
        }.sorted()
      }
      let (here, there) = (shape(rows), shape(org.records("Account").map { .object($0) }))
      if here != there { return "the device has \(here), the server \(there)" }
      if mode == .overwrite { return nil }
      let kept = Set(
        org.records("Account").flatMap { record in
          ["Name", "Phone"].compactMap { record[$0]?.string }
        })
      let lost = written.subtracting(kept).sorted()
      return lost.isEmpty ? nil : "edits are lost without a conflict: \(lost)"
    }
  }
}
