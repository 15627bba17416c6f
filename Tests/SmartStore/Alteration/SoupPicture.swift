import SalesforceSDKCommon
import Testing

@testable import SmartStore

/// All that is on disk of one soup, with the number of its table left out: two soups with equal
/// pictures are the same.
struct SoupPicture: Equatable {
  /// The texts of the table, the full-text table and the indexes.
  var schema: [String] = []
  var map: [[JSONValue]] = []
  var rows: [[JSONValue]] = []
  var fullText: [[JSONValue]] = []
  var isExternal = false
}

extension SmartStore {
  func picture(of soupName: String) async throws -> SoupPicture {
    let attributes = try await rows(
      "select id, externalStorage from soup_attrs where soupName = ?", [.string(soupName)])
    let number = try #require(attributes.first?[0].int64)
    let table = "TABLE_\(number)"
    func anonymous(_ values: [[JSONValue]]) -> [[JSONValue]] {
      values.map { row in
        row.map { value in
          value.string.map { .string($0.replacing(table, with: "TABLE_#")) } ?? value
        }
      }
    }
    let master = try await rows(
      """
      select sql from sqlite_master where tbl_name in ('\(table)', '\(table)_fts') \
      and sql is not null order by type, name
      """)
    // Renaming a table and back leaves its name in quotes.
    let texts = anonymous(master).compactMap { row in
      row.first?.string?.replacing("\"TABLE_#\"", with: "TABLE_#")
        .replacing("\"TABLE_#_fts\"", with: "TABLE_#_fts")
        .replacing("'TABLE_#_fts'", with: "TABLE_#_fts")
    }
    let columns = try await column(
      "select name from pragma_table_info('\(table)') where name <> 'soup'"
    ).compactMap(\.string)
    let hasFullText = try await soupHasFullText(table)
    return SoupPicture(
      schema: texts,
      map: anonymous(
        try await rows(
          "select path, columnName, columnType from soup_index_map where soupName = ? order by rowid",
          [.string(soupName)])),
      rows: try await rows(
        "select \(columns.joined(separator: ", ")) from \(table) order by id"),
      fullText: hasFullText
        ? try await rows("select rowid, * from \(table)_fts order by rowid") : [],
      isExternal: attributes.first?[1] == 1)
  }

  private func soupHasFullText(_ table: String) async throws -> Bool {
    try await column("select 1 from sqlite_master where name = '\(table)_fts'") == [1]
  }

  /// What the operations table says, without times.
  func recordedOperations() async throws -> [[JSONValue]] {
    try await rows("select type, status, details from long_operations_status order by id")
  }

  /// The tables that only an alter under way has.
  func leftOvers() async throws -> [JSONValue] {
    try await column(
      "select name from sqlite_master where name like '%\\_old%' escape '\\' order by name")
  }
}

/// Elements whose values are of every kind, at paths `a` to `e`.
let mixedElements: [JSONValue] = [
  ["a": "one", "b": 1, "c": 1.5, "d": true, "e": ["x": "deep one"]],
  ["a": "900000", "b": 900_000, "c": 900_000, "d": "900000", "e": ["x": 3]],
  ["a": "1500000", "b": 1_500_000, "c": 1_500_000.25, "d": false, "e": ["list", "of", 3]],
  ["a": .null, "b": "text", "c": "-3", "d": .null],
  ["a": "ünïcode 😀 it's", "b": -9_223_372_036_854_775_808, "c": 1e300, "d": 7, "e": .null],
  [:],
]
