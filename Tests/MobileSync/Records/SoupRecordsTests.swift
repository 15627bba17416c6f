import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing

@testable import MobileSync

/// How are records found by their flags?
@Suite struct SoupRecordsTests {
  @Test(arguments: [SoupIndexType.string, .integer, .json1])
  func `MS-78 the edits of a page are looked up by its ids, not by reading all edits`(
    flagIndex: SoupIndexType
  ) async throws {
    let device = try await Device.open(InMemoryOrg(), flagIndex: flagIndex)
    let records = SoupRecords(soupName: Device.soup, idField: "Id")
    let page = ["001A", "001B", "001C"]
    var found = try await device.store.read { reader in
      try records.dirty(with: records.idField, among: page, in: reader).compactMap(\.id)
    }
    #expect(found.isEmpty)
    try await device.create((0..<1_200).map { ["Id": .string("other \($0)")] })
    try await device.create([["Id": "001A"], ["Id": "001C"]])
    try await device.store.upsert(
      entries: [["Id": "001B", "__local__": false]], forSoupNamed: Device.soup)
    device.store.capturesExplainQueryPlan = true
    found = try await device.store.read { reader in
      try records.dirty(with: records.idField, among: page, in: reader).compactMap(\.id)
    }
    #expect(found.sorted() == ["001A", "001C"])
    // The column of the id, which is the soup's first path; the flag's would lead through all edits.
    let plan = device.store.lastExplainQueryPlan?.details.joined(separator: "; ") ?? ""
    #expect(plan.contains("_0=?"), "\(plan)")
    device.store.capturesExplainQueryPlan = false
    let all = page + (0..<1_200).map { "other \($0)" }
    let count = try await device.store.read { reader in
      try records.dirty(with: records.idField, among: all, in: reader).count
    }
    #expect(count == 1_202)
  }
}
