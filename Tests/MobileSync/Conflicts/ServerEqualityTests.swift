@testable import MobileSync
import SalesforceSDKCommon
import Testing

/// Which values are the same to the server?
@Suite struct ServerEqualityTests {
  private static let values: [JSONValue?] = [
    nil, .null, "", " ", "a", " a ", "A", "1", 0, 1, 1.0, 1.4, true, false, ["a"], [:],
    ["Name": "n"], ["attributes": ["url": "x"], "Name": "n"],
    "2024-01-01T00:00:00.000Z", "2024-01-01T01:00:00.000+0100",
  ]

  @Test func `equality is symmetric, and each value is the same as itself`() {
    for left in Self.values {
      #expect(ServerEquality.same(left, left), "\(left as Any)")
      for right in Self.values {
        #expect(
          ServerEquality.same(left, right) == ServerEquality.same(right, left),
          "\(left as Any) \(right as Any)")
      }
    }
  }

  @Test func `what is the same is stored, and numbers are stored as doubles`() throws {
    for left in Self.values.compactMap(\.self) {
      for right in Self.values where ServerEquality.same(left, right) {
        #expect(ServerEquality.isStored(left, as: right), "\(left) \(right as Any)")
      }
    }
    let sent = try JSONSlice(parsing: "1234567890123456.789").value
    let stored = try JSONSlice(parsing: "1234567890123456.8").value
    #expect(!ServerEquality.same(sent, stored))
    #expect(ServerEquality.isStored(sent, as: stored))
  }

  @Test func `integers that a double cannot tell apart are different edits`() throws {
    let one = try JSONSlice(parsing: "9007199254740992").value
    let next = try JSONSlice(parsing: "9007199254740993").value
    #expect(!ServerEquality.same(one, next))
  }

  @Test(arguments: [
    ("(555) 123", "555-123", true), ("ACME", "acme", true), ("a", "b", false), ("", "", false),
  ])
  func `a text in another form may be what the server stored`(
    sent: String, stored: String, may: Bool
  ) {
    #expect(ServerEquality.mayBeStored(.string(sent), as: .string(stored)) == may)
  }

  @Test(arguments: [
    (#""12""#, "12", true), (#""12.0""#, "12", true), (#"" 12 ""#, "12", true),
    (#""12""#, "13", false),
    (#""true""#, "true", true), (#""TRUE""#, "true", true), (#""true""#, "false", false),
    (#""true""#, "1", false), (#""1""#, "true", false), ("1", "true", false), (#""""#, "0", false),
    (#""""#, "false", false), (#""a""#, "1", false), (#""0x1""#, "1", false),
    (#""nan""#, "1", false),
  ])
  func `a text that spells a number or a Boolean may be stored as it, and the reverse`(
    text: String, value: String, is isStored: Bool
  ) throws {
    let (text, value) = (try JSONSlice(parsing: text).value, try JSONSlice(parsing: value).value)
    #expect(ServerEquality.isStored(text, as: value) == isStored)
    #expect(ServerEquality.isStored(value, as: text) == isStored)
    #expect(ServerEquality.mayBeStored(text, as: value) == isStored)
    // As edits they differ.
    #expect(!ServerEquality.same(text, value) || text == value)
  }

  @Test(arguments: [
    ("10.0042", "10", true), ("10.0042", "11", false), ("10.6", "11", true), ("10.6", "10", false),
    ("12.345", "12.35", true), ("12.345", "12.34", true), ("12.345", "12.36", false),
    ("-0.5", "-1", true), ("1e300", "1e300", true), ("1e300", "2e300", false),
    ("0.1", "0.10000000000000001", true),
  ])
  func `a number may be stored as what rounding gives, and as no other`(
    sent: String, stored: String, may: Bool
  ) throws {
    let (sent, stored) = (try JSONSlice(parsing: sent).value, try JSONSlice(parsing: stored).value)
    #expect(ServerEquality.mayBeStored(sent, as: stored) == may)
  }

  @Test(arguments: [
    (#"{"F":"a"}"#, #"{"F":" a "}"#, true), (#"{"F":"a"}"#, #"{"F":null}"#, false),
    (#"{"F":""}"#, #"{}"#, false), (#"{"F":1,"G":""}"#, #"{"F":1.0,"G":null}"#, true),
    (#"{"F":true}"#, #"{"F":true}"#, true), (#"{"F":["a"]}"#, #"{"F":"a"}"#, true),
    (#"{"F":["a"]}"#, #"{"F":null}"#, false), (#"{"R.F":"a"}"#, #"{}"#, false),
  ])
  func `a record agrees with what was sent if it has every value, and one is not empty`(
    sent: String, made: String, agrees: Bool
  ) throws {
    let sent = try JSONSlice(parsing: sent).members.map { (name: $0.key, value: $0.value) }
    #expect(FieldAgreement.holds(sent, try JSONSlice(parsing: made)) == agrees)
  }
}
