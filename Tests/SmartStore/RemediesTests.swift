import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Does what the message of a store's error says help?
@Suite struct StoreRemediesTests {
  /// A call that fails, and what its message says to do before it is repeated.
  private struct Case: Sendable {
    let code: SmartStoreError.Code
    /// The remedy as the message words it.
    let says: String
    var prepare: @Sendable (SmartStore) async throws -> Void = { _ in }
    let call: @Sendable (SmartStore) async throws -> Void
    let remedy: @Sendable (SmartStore) async throws -> Void
    /// The call as it is corrected; nil for the same call.
    var corrected: (@Sendable (SmartStore) async throws -> Void)?
  }

  @Sendable private static func register(_ store: SmartStore) async throws {
    try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("k:string"))
  }

  private static func smart(_ text: String, _ arguments: [JSONValue]? = nil)
    -> @Sendable (SmartStore) async throws -> Void
  {
    { store in
      _ = try await store.query(
        using: .buildSmartQuerySpec(smartSql: text, pageSize: 9), whereArgs: arguments)
    }
  }

  private static func upsert(_ entry: JSONValue, by path: String)
    -> @Sendable (SmartStore) async throws -> Void
  {
    { store in
      try await store.upsert(entries: [entry], forSoupNamed: "s", withExternalIdPath: path)
    }
  }

  private static let cases = [
    Case(
      code: .unknownSoup, says: "Register it", call: smart("select {s:k} from {s}"),
      remedy: register),
    Case(
      code: .noIndexSpecs, says: "Name at least one path",
      call: { try await $0.registerSoup(withName: "s", withIndices: []) }, remedy: { _ in },
      corrected: register),
    Case(
      code: .invalidIndexSpec, says: "Use string, integer, floating, full_text or json1",
      call: {
        try await $0.registerSoup(
          withName: "s", withIndices: [SoupIndex(path: "k", type: SoupIndexType(rawValue: "text"))])
      }, remedy: { _ in }, corrected: register),
    Case(
      code: .invalidSoupName, says: "Choose a name",
      call: { try await $0.registerSoup(withName: "", withIndices: [SoupIndex]("k:string")) },
      remedy: { _ in }, corrected: register),
    Case(
      code: .notIndexed, says: "must be altered to index it", prepare: register,
      call: upsert(["m": "1"], by: "m"),
      remedy: {
        try await $0.alterSoup(
          named: "s", indexSpecs: [SoupIndex]("k:string", "m:string"), reIndexData: true)
      }),
    Case(
      code: .externalIdMissing, says: "Give every entry a value there", prepare: register,
      call: upsert(["m": "1"], by: "k"), remedy: { _ in }, corrected: upsert(["k": "1"], by: "k")),
    Case(
      code: .ambiguousMatch, says: "Remove the doubles",
      prepare: { store in
        try await register(store)
        try await store.upsert(entries: [["k": "1"], ["k": "1"]], forSoupNamed: "s")
      },
      call: upsert(["k": "1"], by: "k"),
      remedy: { try await $0.remove(entryIds: [2], forSoupNamed: "s") }),
    Case(
      code: .bindArgumentCount, says: "1 placeholders but 0 arguments", prepare: register,
      call: smart("select {s:k} from {s} where {s:k} = ?"), remedy: { _ in },
      corrected: smart("select {s:k} from {s} where {s:k} = ?", ["1"])),
    Case(
      code: .refusedStatement, says: "Use the calls of the store", prepare: register,
      call: smart("delete from {s}"), remedy: { _ in },
      corrected: { try await $0.clearSoup("s") }),
    Case(
      code: .invalidReference, says: "Write {soup} or {soup:path}", prepare: register,
      call: smart("select {s:k:l} from {s}"), remedy: { _ in },
      corrected: smart("select {s:k} from {s}")),
    Case(
      code: .invalidQuerySpec, says: "Write {soup:__local__} = 1", prepare: register,
      call: smart("select {s:k} from {s} where 'true' = {s:__local__}"), remedy: { _ in },
      corrected: smart("select {s:k} from {s} where {s:__local__} = 1")),
  ]

  @Test(arguments: cases.indices)
  func `the call succeeds once what the message says is done`(number: Int) async throws {
    let tested = Self.cases[number]
    try await withStore { store in
      try await tested.prepare(store)
      let error = await #expect(throws: SmartStoreError.self) { try await tested.call(store) }
      #expect(error?.code == tested.code)
      #expect(error?.message.contains(tested.says) == true, "\(error?.message ?? "")")
      try await tested.remedy(store)
      try await (tested.corrected ?? tested.call)(store)
    }
  }
}
