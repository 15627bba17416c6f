import Crypto
import Foundation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// The samples of the guide to the store, as they stand there.
@Suite struct GuideTests {
  @Test func `the samples of the guide do what it says`() async throws {
    try await TemporaryFolder.with { temporary in
      let folder = temporary.file("guide")
      let keys = FixedKeyProvider(SymmetricKey(size: .bits256))
      let newKeys = FixedKeyProvider(SymmetricKey(size: .bits256))
      // sample: store-open
      let stores = SmartStoreManager(root: folder, encryption: .encrypted(keys))
      let store = try await stores.sharedGlobal(withName: "visits")
      try await store.registerSoup(
        withName: "visits",
        withIndices: [
          SoupIndex(path: "customer.name", type: .string), SoupIndex(path: "day", type: .integer),
          SoupIndex(path: "note", type: .fullText),
        ])
      // end of sample

      // sample: store-write
      let saved = try await store.upsert(
        entries: [
          ["customer": ["name": "Ada"], "day": 3, "note": "bring the long ladder"],
          ["customer": ["name": "Grace"], "day": 4, "note": "gate is open"],
        ], forSoupNamed: "visits")
      let id = saved[0]["_soupEntryId"]?.int64
      // end of sample
      #expect(id == 1)

      // sample: store-transaction
      try await store.inTransaction { transaction in
        try transaction.upsert(
          entries: [["customer": ["name": "Alan"], "day": 5]], forSoupNamed: "visits")
        try transaction.remove(entryIds: [2], forSoupNamed: "visits")
      }
      // end of sample

      let pages = [
        [try JSONSlice(parsing: #"{"customer":{"name":"Joan"},"day":6}"#)],
        [try JSONSlice(parsing: #"{"customer":{"name":"Mary"},"day":7}"#)],
      ]
      // sample: store-bulk
      try await store.upsert(slices: pages[0], soup: "visits", durability: .normal)
      try await store.bulkLoad(intoSoupNamed: "visits") { load in
        for page in pages.dropFirst() { try await load.append(page) }
      }
      // end of sample

      // sample: store-query
      let soon = try QuerySpec.buildRangeQuerySpec(
        soupName: "visits", path: "day", beginKey: 3, endKey: 6, orderPath: "day", pageSize: 20)
      let visits = try await store.queryEntries(using: soon)
      let ladders = try await store.count(
        using: .buildMatchQuerySpec(
          soupName: "visits", path: "note", matchKey: "ladder", pageSize: 20))
      let names = try await store.query(
        using: .buildSmartQuerySpec(
          smartSql: "SELECT {visits:customer.name} FROM {visits} WHERE {visits:day} > ?",
          pageSize: 20), whereArgs: [5])
      // end of sample
      #expect(visits.count == 3)
      #expect(ladders == 1)
      #expect(names == [["Joan"], ["Mary"]])

      // sample: store-read
      let (total, first) = try await store.read { reader in
        (try reader.count(using: soon), try reader.queryEntries(using: soon).first)
      }
      // end of sample
      #expect(total == 3 && first?["day"]?.int64 == 3)

      // sample: store-observe
      for try await visits in store.observeEntries(soon) {
        print("\(visits.count) visits")
        break
      }
      // end of sample

      // sample: store-alter
      try await store.alterSoup(
        named: "visits",
        indexSpecs: [
          SoupIndex(path: "customer.name", type: .fullText), SoupIndex(path: "day", type: .integer),
        ], reIndexData: true)
      // end of sample
      #expect(try await store.hasIndex(forPath: "note", inSoupNamed: "visits") == false)

      // sample: store-maintain
      let report = try await store.verify()
      for finding in report.findings { print(finding) }

      try await stores.withClosedStore(named: "visits", owner: .global) { files in
        try files.changeKey(from: keys, to: newKeys)
      }
      // end of sample
      #expect(report.isClean)
      let again = SmartStoreManager(root: folder, encryption: .encrypted(newKeys))
      #expect(try await again.sharedGlobal(withName: "visits").allSoupNames() == ["visits"])
      try await again.close()
    }
  }
}
