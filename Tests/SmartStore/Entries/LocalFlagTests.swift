import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Which entries does the flag of local changes stand for?
@Suite struct LocalFlagTests {
  private static let changes = [
    "__locally_created__", "__locally_updated__", "__locally_deleted__",
  ]

  private func localEntries(_ store: SmartStore) async throws -> [JSONValue] {
    try await store.column(
      "SELECT {a:key} FROM {a} WHERE {a:__local__} IN (1, '1') ORDER BY {a:key}")
  }

  @Test(arguments: [SoupIndexType.string, .integer, .json1, nil])
  func `an entry with any flag is stored with the flag of local changes`(
    type: SoupIndexType?
  ) async throws {
    try await withStore { store async throws in
      var indexes = [SoupIndex("key:string")]
      if let type { indexes.append(SoupIndex(path: "__local__", type: type)) }
      try await store.registerSoup(withName: "a", withIndices: indexes)
      for (number, flag) in Self.changes.enumerated() {
        let saved = try await store.upsert(
          entries: [["key": .string("\(number) alone"), flag: true]], forSoupNamed: "a")
        #expect(saved[0]["__local__"] == true && saved[0][flag] == true)
        try await store.upsert(
          slices: [
            JSONSlice(parsing: #"{"__local__":false,"key":"\#(number) false","\#(flag)":"true"}"#),
            JSONSlice(parsing: #"{"key":"\#(number) number","\#(flag)":1,"__local__":null}"#),
            JSONSlice(
              parsing: #"{"key":"\#(number) escaped","\u005f\#(flag.dropFirst())":true}"#),
          ], soup: "a")
        try await store.upsert(
          entries: [
            ["key": "clean", "__local__": false, flag: false], ["key": "zero", flag: 0],
            ["key": "deep", "inner": [flag: true]],
          ], forSoupNamed: "a")
      }
      #expect(
        try await localEntries(store)
          == (0..<3).flatMap { number in
            ["alone", "escaped", "false", "number"].map { .string("\(number) \($0)") }
          })
    }
  }

  @Test func `every way to write an entry completes its flags`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex("key:string"), SoupIndex("__local__:string")])
      try await store.upsert(entries: [["key": "external"]], forSoupNamed: "a")
      try await store.upsert(
        entries: [["key": "external", "__locally_updated__": true]], forSoupNamed: "a",
        withExternalIdPath: "key")
      try await store.inTransaction { transaction in
        _ = try transaction.create(
          entry: ["key": "create", "__locally_created__": true], inSoupNamed: "a")
        let second = try transaction.create(entry: ["key": "update"], inSoupNamed: "a")
        _ = try transaction.update(
          entry: ["key": "update", "__locally_deleted__": true],
          withSoupEntryId: try #require(second["_soupEntryId"]?.int64), inSoupNamed: "a")
        try transaction.upsert(
          slices: [JSONSlice(parsing: #"{"key":"setting"}"#)],
          setting: [(key: "Name", value: "x"), (key: "__locally_updated__", value: true)],
          soup: "a")
      }
      try await store.bulkLoad(intoSoupNamed: "a") { load in
        try await load.append(
          (0..<40).map {
            try JSONSlice(parsing: #"{"key":"load\#($0)","__locally_created__":true}"#)
          })
      }
      #expect(try await localEntries(store).count == 44)
    }
  }

  @Test(arguments: [false, true])
  func `entries that an earlier version stored with one flag alone are completed once`(
    isExternal: Bool
  ) async throws {
    try await TemporaryFolder.with { folder in
      func open() async throws -> SmartStore {
        try await SmartStore.open(at: folder.file("store"), encryption: testEncryption)
      }
      var store = try await open()
      let spec = SoupSpec(name: "a", features: isExternal ? [SoupSpec.featureExternalStorage] : [])
      try await store.registerSoup(
        withSpec: spec, withIndices: [SoupIndex("key:string"), SoupIndex("__local__:string")])
      try await store.inTransaction { transaction in
        // The caller's own flags are left alone: so an earlier version stored them.
        try transaction.upsert(
          slices: (0..<100).map {
            try JSONSlice(parsing: #"{"key":"\#($0)","__locally_created__":\#($0 % 10 == 7)}"#)
          }, setting: [(key: "__local__", value: false)], soup: "a")
      }
      #expect(try await localEntries(store).isEmpty)
      try await store.close()

      store = try await open()
      #expect(
        try await localEntries(store).isEmpty, "done once, for a new store at the first opening")
      try await store.unsafelyExecute("PRAGMA user_version = 0")
      try await store.close()

      store = try await open()
      #expect(try await localEntries(store).count == 10)
      let entry = try await store.query(
        using: .buildExactQuerySpec(
          soupName: "a", path: "key", matchKey: "17", orderPath: "key", pageSize: 1))[0]
      #expect(entry["__local__"] == true && entry["__locally_created__"] == true)
      #expect(try await store.verify().findings.isEmpty)
      try await store.close()
    }
  }
}
