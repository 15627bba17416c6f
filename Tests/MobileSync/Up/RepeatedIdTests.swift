import BasicSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Which ids of a server, or of a proxy, must not bring entries together?
@Suite struct RepeatedIdTests {
  private static let id = "001000000000099AAA"

  private func up(_ device: Device, _ target: some SyncUpTarget) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]),
      soupName: Device.soup)
  }

  private static func result(_ id: String) -> String {
    #"{"id":"\#(id)","success":true,"errors":[]}"#
  }

  @Test func `one id for twenty creates of a request accepts none and keeps all`() async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.create((0..<20).map { ["Name": .string("record \($0)")] })
    let body = "[\(Array(repeating: Self.result(Self.id), count: 20).joined(separator: ","))]"
    device.org.intervene { number, _ in
      number == 1 ? .response(status: 200, body: body) : .none
    }
    let run = try await up(device, CollectionSyncUpTarget())
    _ = try? await run.finished()
    let rows = try await device.rows()
    #expect(
      Set(rows.compactMap { $0["Name"]?.string }) == Set((0..<20).map { "record \($0)" }))
    #expect(try await device.dirtyRows().count == 20)
    #expect(rows.allSatisfy { $0["Id"]?.string != Self.id })
    #expect(
      rows.allSatisfy { $0[SyncKeys.lastError]?.string?.contains("UNEXPECTED_RESPONSE") == true })
    let outcomes = try await device.manager.outcomes(forId: run.state.id)
    #expect(outcomes.count == 20 && outcomes.allSatisfy { $0.kind == .unanswered })

    // The server has none of them, so the next run creates each of them once.
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(device.org.records("Account").count == 20)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `one id for the creates of several requests keeps all entries`() async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.create((0..<5).map { ["Name": .string("record \($0)")] })
    device.org.intervene { _, request in
      request.line.hasPrefix("POST") ? .response(status: 201, body: Self.result(Self.id)) : .none
    }
    _ = try? await up(device, BasicSyncUpTarget()).finished()
    let rows = try await device.rows()
    #expect(Set(rows.compactMap { $0["Name"]?.string }).count == 5)
    #expect(rows.filter { $0["Id"]?.string == Self.id }.count == 1)
    #expect(try await device.dirtyRows().count == 4)
  }

  @Test func `the id of an entry from an earlier run accepts no create`() async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.create([["Name": "first"]])
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    let first = try #require(try await device.rows().first?["Id"]?.string)
    try await device.create([["Name": "second"]])
    device.org.intervene { _, request in
      request.line.hasPrefix("POST")
        ? .response(status: 200, body: "[\(Self.result(first))]") : .none
    }
    _ = try? await up(device, CollectionSyncUpTarget()).finished()
    device.org.intervene(nil)
    let rows = try await device.rows()
    #expect(rows.compactMap { $0["Name"]?.string } == ["first", "second"])
    #expect(rows.map { $0["Id"]?.string == first } == [true, false])
    #expect(rows[1][SyncKeys.lastError]?.string?.contains("UNEXPECTED_RESPONSE") == true)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(device.org.records("Account").count == 2)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: ["../../x?y#", "1' OR '1'='1", "001", "001000000000099AA\u{e9}", " "])
  func `a text that is no id of a record accepts no create`(id: String) async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.create([["Name": "mine"]])
    device.org.intervene { number, _ in
      number == 1 ? .response(status: 200, body: "[\(Self.result(id))]") : .none
    }
    _ = try? await up(device, CollectionSyncUpTarget()).finished()
    let row = try #require(try await device.rows().first)
    #expect(row["Name"] == "mine" && row["Id"]?.string != id)
    #expect(try await device.dirtyRows().count == 1)
  }
}
