import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing

/// Are the server's forms of what this device has uploaded ever another user's change?
@Suite struct OwnFormsTests {
  /// Values that a device uploads one after the other, and what the server makes of each as it stores it.
  private static let forms: [[(sent: JSONValue, stored: JSONValue)]] = [
    [("5551", "(5) 551"), ("5552", "(5) 552"), ("5553", "(5) 553")],
    [("ab", "AB"), ("cd", "CD"), ("ef", "EF")],
    [(1.0042, 1), (2.0042, 2), (3.0042, 3)],
    [("12", 12), ("13", 13), ("14", 14)],
    [(12, "12"), (13, "13"), (14, "14")],
    [("true", true), ("false", false), ("true", true)],
  ]

  @Test(arguments: forms.indices, [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `the form of an own upload is no conflict, and a change by another user is one`(
    form: Int, mode: SyncMergeMode
  ) async throws {
    let org = InMemoryOrg()
    let values = Self.forms[form]
    org.changeValuesOnSaving { _, fields in
      if let value = values.first(where: { $0.sent == fields["Phone"] }) {
        fields["Phone"] = value.stored
      }
    }
    let device = try await Device.open(org)
    let sync = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]),
      soupName: Device.soup, syncName: "up")
    func run() async throws -> SyncOutcomeCounts {
      _ = try await device.manager.reSync(named: "up").finished()
      return try await device.manager.outcomeCounts(forId: sync.id)
    }
    try await device.create([["Name": "a", "Phone": values[0].sent]])
    #expect(try await run().succeeded == 1)
    let id = try #require(org.records("Account").first?["Id"]?.string)
    for value in values.dropFirst() {
      try await device.edit(id, ["Phone": value.sent])
      #expect(try await run().succeeded == 1)
      #expect(org.record("Account", id)?["Phone"] == value.stored)
      #expect(try await device.store.conflicts().isEmpty)
    }
    try await device.edit(id, ["Name": "b"])
    #expect(try await run().succeeded == 1)
    #expect(try await device.dirtyRows().isEmpty)
    org.update("Account", id, ["Phone": "theirs"])
    try await device.edit(id, ["Phone": "mine"])
    #expect(try await run().skipped == 1)
    #expect(org.record("Account", id)?["Phone"] == "theirs")
    #expect(try await device.store.conflicts().map(\.kind) == [.fields])
  }

  @Test func `a form that a download has brought is no longer the device's own`() async throws {
    let org = InMemoryOrg()
    org.changeValuesOnSaving { _, fields in
      if fields["Phone"] == "ab" { fields["Phone"] = "AB" }
    }
    let device = try await Device.open(org)
    let options = SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Phone"])
    for name in ["up", "down"] {
      if name == "up" {
        _ = try await device.manager.createSyncUp(
          options: options, soupName: Device.soup, syncName: name)
        try await device.create([["Name": "a", "Phone": "ab"]])
      } else {
        _ = try await device.manager.createSyncDown(
          targetJSON: ["type": "soql", "query": .string(Device.query)],
          options: SyncOptions(mergeMode: .mergeFields), soupName: Device.soup, syncName: name)
      }
      _ = try await device.manager.reSync(named: name).finished()
    }
    let id = try #require(org.records("Account").first?["Id"]?.string)
    #expect(try await device.row(id)?["Phone"] == "AB")
    org.update("Account", id, ["Phone": "a.b."])
    try await device.edit(id, ["Phone": "mine"])
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(try await device.store.conflicts().map(\.kind) == [.fields])
  }
}
