import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore

/// Results as values of the caller's own types.
@Suite struct TypedEntryTests {
  fileprivate struct Account: Codable, Equatable {
    struct Owner: Codable, Equatable { let name: String }
    let id: String
    let name: String?
    let employees: Int64
    let revenue: Double
    let isPartner: Bool
    let tags: [String]
    let owner: Owner
    let lastModified: Date
  }

  private let text = """
    {"id":"001","name":null,"employees":9007199254740993,"revenue":1.5,"isPartner":true,\
    "tags":["é","/"],"owner":{"name":"Ada"},"lastModified":"2026-11-21T08:00:00.000+0000"}
    """

  private func withAccount(_ body: (SmartStore) async throws -> Void) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "accounts", withIndices: [SoupIndex]("id:string", "employees:integer"))
      try await store.upsert(entries: [try json(text)], forSoupNamed: "accounts")
      try await body(store)
    }
  }

  @Test func `an entry decodes as the caller's type, straight from what is stored`() async throws {
    try await withAccount { store async throws in
      let expected = Account(
        id: "001", name: nil, employees: 9_007_199_254_740_993, revenue: 1.5, isPartner: true,
        tags: ["é", "/"], owner: .init(name: "Ada"),
        lastModified: Date(timeIntervalSince1970: 1_795_248_000))
      // sample: typed-query
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "accounts", path: "id", matchKey: "001", pageSize: 10)
      let accounts = try await store.query(using: spec, as: Account.self)
      // end of sample
      #expect(accounts == [expected])
      #expect(
        try await store.retrieve(
          usingSoupEntryIds: [1, 1, 2], fromSoupNamed: "accounts", as: Account.self) == [expected])
      #expect(
        try await store.query(
          using: .buildSmartQuerySpec(
            smartSql: "select {accounts:_soup} from {accounts} where {accounts:id} = ?",
            pageSize: 1), whereArgs: ["001"], as: Account.self) == [expected])
      #expect(try await store.query(using: spec, startingFromPageIndex: 1, as: Account.self) == [])
    }
  }

  @Test func `a row decodes from its one value, or from its values by name`() async throws {
    // sample: typed-row
    struct Row: Decodable, Equatable {
      let id: String
      let employees: Int64
      let owner: String
      let none: String?
      enum CodingKeys: String, CodingKey {
        case id, employees, none
        case owner = "owner.name"
      }
    }
    // end of sample
    let row = Row(id: "001", employees: 9_007_199_254_740_993, owner: "Ada", none: nil)
    try await withAccount { store async throws in
      #expect(
        try await store.query(
          using: .buildSmartQuerySpec(smartSql: "select count(*) from {accounts}", pageSize: 1),
          as: Int.self) == [1])
      #expect(
        try await store.query(
          using: .buildAllQuerySpec(
            soupName: "accounts", selectPaths: ["id", "employees", "owner.name", "none"],
            pageSize: 1), as: Row.self) == [row])
      // sample: typed-rows
      let rows = try await store.query(
        using: .buildSmartQuerySpec(
          smartSql: """
            select {accounts:id} as id, {accounts:employees} as employees, \
            {accounts:owner.name} as 'owner.name' from {accounts}
            """, pageSize: 1), as: Row.self)
      // end of sample
      #expect(rows == [row])
      struct Whole: Decodable, Equatable {
        let n: Int
        let soup: Account.Owner.Holder
      }
      let whole = try await store.query(
        using: .buildSmartQuerySpec(
          smartSql: "select 1 as n, {accounts:_soup} from {accounts}", pageSize: 1), as: Whole.self)
      #expect(whole == [Whole(n: 1, soup: .init(owner: .init(name: "Ada")))])
    }
  }

  @Test func `an entry that a join does not find decodes as nil`() async throws {
    struct Item: Decodable, Equatable { let key: String }
    for features in [[], [SoupSpec.featureExternalStorage]] {
      try await withStore { store async throws in
        try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("key:string"))
        try await store.registerSoup(
          withSpec: SoupSpec(name: "b", features: features),
          withIndices: [SoupIndex]("key:string"))
        try await store.upsert(entries: [["key": "x"], ["key": "y"]], forSoupNamed: "a")
        try await store.upsert(entries: [["key": "x"]], forSoupNamed: "b")
        let spec = try QuerySpec.buildSmartQuerySpec(
          smartSql: """
            select {b:_soup} from {a} left join {b} on {a}.{a:key} = {b}.{b:key} \
            order by {a}.{a:_soupEntryId}
            """, pageSize: 9)
        #expect(try await store.query(using: spec, as: Item?.self) == [Item(key: "x"), nil])
      }
    }
  }

  @Test func `an entry that does not fit the type fails with the member's name`() async throws {
    struct Wrong: Decodable { let id: Int }
    try await withAccount { store async throws in
      let error = await expectFailure(.notDecodable) {
        _ = try await store.query(
          using: .buildAllQuerySpec(soupName: "accounts", pageSize: 1), as: Wrong.self)
      }
      #expect(error?.message.contains("id") == true)
      #expect(error?.number == 999)
      #expect(error?.cause is JSONError)
      await expectFailure(.unknownSoup) {
        _ = try await store.query(
          using: .buildAllQuerySpec(soupName: "none", pageSize: 1), as: Wrong.self)
      }
    }
  }
}

extension TypedEntryTests.Account.Owner {
  /// A part of an element is enough.
  fileprivate struct Holder: Decodable, Equatable { let owner: TypedEntryTests.Account.Owner }
}
