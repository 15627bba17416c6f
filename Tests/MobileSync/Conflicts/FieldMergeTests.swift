@testable import MobileSync
import SalesforceSDKCommon
import Testing

/// What does the three-way merge make of a field?
@Suite struct FieldMergeTests {
  private let names = SyncFieldNames(id: "Id", modificationDate: "LastModifiedDate")

  private func merge(
    base: JSONObject?, mine: JSONObject, theirs: JSONObject
  ) throws -> FieldMerge {
    FieldMerge(
      base: base, mine: try JSONSlice(parsing: JSONValue.object(mine).text), theirs: theirs,
      names: names)
  }

  /// The value that the row has afterwards.
  private func value(_ merge: FieldMerge, _ mine: JSONValue?) -> JSONValue? {
    merge.taken.first { $0.key == "F" }?.value ?? mine
  }

  private static let values: [JSONValue?] = [nil, .null, "", "a", "b", "c"]

  @Test func `every combination of three values keeps both edits or tells of a conflict`() throws {
    for base in Self.values {
      for mine in Self.values {
        for their in Self.values {
          let result = try merge(
            base: base.map { ["F": $0] } ?? [:], mine: mine.map { ["F": $0] } ?? [:],
            theirs: their.map { ["F": $0] } ?? [:])
          let now = value(result, mine)
          let mineChanged = mine != nil && !ServerEquality.same(mine, base)
          let theirsChanged = their != nil && !ServerEquality.same(their, base)
          let note: Comment = "\(base as Any) \(mine as Any) \(their as Any)"
          let isOpen = !result.conflicts.isEmpty
          switch (mineChanged, theirsChanged) {
          case (true, false): #expect(now == mine && result.hasLocalChanges, note)
          case (false, true):
            // An empty field with an unknown former value may have been emptied locally.
            let mayBeEmptied = base == nil && mine != nil
            #expect(mayBeEmptied ? isOpen : ServerEquality.same(now, their), note)
          case (true, true):
            #expect(isOpen == !ServerEquality.same(mine, their), note)
            #expect(now == mine || ServerEquality.same(mine, their), note)
          case (false, false): #expect(ServerEquality.same(now, mine ?? their), note)
          }
          // With a base that is not known, a difference cannot be decided.
          if isOpen { #expect(mineChanged && theirsChanged || base == nil, note) }
        }
      }
    }
  }

  @Test func `merging again with the same record gives the same result`() throws {
    let mine: JSONObject = ["A": "mine", "B": "base", "C": "mine"]
    let theirs: JSONObject = ["A": "theirs", "B": "theirs", "C": "base"]
    let first = try merge(
      base: ["A": "base", "B": "base", "C": "base"], mine: mine, theirs: theirs)
    var row = mine
    for member in first.taken { row[member.key] = member.value }
    let second = try merge(base: first.base, mine: row, theirs: theirs)
    #expect(second.conflicts == first.conflicts)
    #expect(second.base == first.base)
    #expect(row == ["A": "mine", "B": "theirs", "C": "mine"])
    #expect(first.conflicts.map(\.name) == ["A"])
  }

  @Test func `a record of which nothing is left to send has no local changes`() throws {
    let result = try merge(
      base: ["A": "base", "LastModifiedDate": "1"],
      mine: ["A": "new", "Id": "1", "LastModifiedDate": "1", "__local__": true],
      theirs: ["A": "new", "Id": "1", "LastModifiedDate": "2"])
    #expect(!result.hasLocalChanges)
    #expect(result.base == ["A": "new", "LastModifiedDate": "2"])
    #expect(
      try merge(base: ["A": "a"], mine: ["A": "a", "Own": 1], theirs: ["A": "a"]).hasLocalChanges)
  }

  @Test func `a value that the server has put into another form is taken in that form`() throws {
    let result = try merge(base: ["F": "a"], mine: ["F": " b "], theirs: ["F": "b"])
    #expect(value(result, " b ") == "b")
    #expect(!result.hasLocalChanges && result.conflicts.isEmpty)
  }

  @Test(arguments: [
    ("a ", "a", true), ("2024-01-01T00:00:00.000Z", "2024-01-01T01:00:00.000+0100", true),
    ("a", "A", false), ("", "a", false),
  ])
  func `texts are compared as the server keeps them`(left: String, right: String, same: Bool) {
    #expect(ServerEquality.same(.string(left), .string(right)) == same)
  }

  @Test func `numbers are compared by value, related records without their address`() {
    #expect(ServerEquality.same(1, 1.0))
    #expect(ServerEquality.same(nil, ""))
    #expect(!ServerEquality.same(0, nil))
    #expect(
      ServerEquality.same(
        ["attributes": ["type": "User", "url": "x"], "Name": "n"], ["Name": "n"]))
  }
}
