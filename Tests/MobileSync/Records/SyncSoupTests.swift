import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing

@testable import MobileSync
import TestSupport

/// How are records found by their flags?
@Suite struct SyncSoupTests {
  @Test(.covers("MS-78"), arguments: [SoupIndexType.string, .integer, .json1])
  func `the edits of a page are looked up by its ids, not by reading all edits`(
    flagIndex: SoupIndexType
  ) async throws {
    let device = try await Device.open(InMemoryOrg(), flagIndex: flagIndex)
    let records = SyncSoup(soupName: Device.soup, idField: "Id")
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

  @Test(.covers("MS-92"), arguments: [SoupIndexType.string, .integer, .json1])
  func `clean records are distinguished from others, whatever form the flags have`(
    flagIndex: SoupIndexType
  ) async throws {
    let device = try await Device.open(InMemoryOrg(), flagIndex: flagIndex)
    let records = SyncSoup(soupName: Device.soup, idField: "Id")
    // More than a page, and an id that several entries on both sides of its end share.
    let clean = (0..<1_998).map { JSONValue.object(["Id": .string("a\($0)"), "__local__": false]) }
    let shared: [JSONValue] = [
      ["Id": "b", "__local__": false], ["Id": "b", "__local__": true],
      ["Id": "b", "__local__": false], ["Id": "b", "__local__": false],
    ]
    let others: [JSONValue] = [
      ["Id": "c", "__local__": true], ["Id": "d"], ["Id": "e", "__local__": 0],
      ["__local__": false],
    ]
    try await device.store.upsert(entries: clean + shared + others, forSoupNamed: Device.soup)
    device.store.capturesExplainQueryPlan = true
    let ids = try await records.cleanIds(in: device.store, syncId: nil)
    let expected = clean.compactMap { $0["Id"]?.string } + ["b", "b", "b", "e"]
    #expect(ids.sorted() == expected.sorted())
    // Of the index alone: a walk through the records would fill the page cache with them.
    let plan = device.store.lastExplainQueryPlan?.details.joined(separator: "; ") ?? ""
    #expect(plan.contains("USING COVERING INDEX"), "\(plan)")
  }

  @Test(.covers("MS-97"))
  func `clean records of a sync are those that name it`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let records = SyncSoup(soupName: Device.soup, idField: "Id")
    try await device.store.upsert(
      entries: (0..<4_100).map { number in
        [
          "Id": .string("a\(number)"), "__local__": .bool(number % 5 == 0),
          "__sync_id__": .integer(Int64(number % 2)),
        ]
      }, forSoupNamed: Device.soup)
    let ids = try await records.cleanIds(in: device.store, syncId: 1)
    let expected = (0..<4_100).filter { $0 % 2 == 1 && $0 % 5 != 0 }.map { "a\($0)" }
    #expect(ids.sorted() == expected.sorted())
  }

  @Test(.covers("MS-95"))
  func `ghosts are looked up by their ids, not by reading all clean records`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg())
    let records = SyncSoup(soupName: Device.soup, idField: "Id")
    try await device.store.upsert(
      entries: (0..<10).map { ["Id": .string("a\($0)"), "__local__": false] },
      forSoupNamed: Device.soup)
    device.store.capturesExplainQueryPlan = true
    let gone = ["a1", "a2", "a3", "a4", "none"]
    _ = try await device.store.read { try records.cleanOwned(ids: gone[...], in: $0) }
    let plan = device.store.lastExplainQueryPlan?.details.joined(separator: "; ") ?? ""
    #expect(plan.contains("_0=?"), "\(plan)")
  }
}
