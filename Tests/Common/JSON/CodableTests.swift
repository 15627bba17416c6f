import Foundation
import SalesforceSDKCommon
import Testing

/// The way between JSON and the caller's own types.
struct CodableTests {
  private struct Record: Codable, Equatable {
    enum Stage: String, Codable { case open, won }
    struct Owner: Codable, Equatable { var name: String }

    var id: String
    var amount: Double?
    var small: Int8
    var huge: UInt64
    var stage: Stage
    var owner: Owner
    var tags: [String]
    var counts: [String: Int]
    var created: Date
    var photo: Data
    var link: URL
    var price: Decimal
    var anything: JSONValue
    var ratio: Float
    var unique: UUID
  }

  private func record() throws -> Record {
    Record(
      id: "0\"1", amount: nil, small: -128, huge: .max, stage: .won, owner: .init(name: "Jörg"),
      tags: ["a", ""], counts: Dictionary(uniqueKeysWithValues: (0..<60).map { ("k\($0)", $0) }),
      created: Date(timeIntervalSince1970: 1_772_353_800.25), photo: Data([0, 255]),
      link: try #require(URL(string: "https://x.example/a?b=c")),
      price: try #require(Decimal(string: "12345678901234567890.12")),
      anything: ["n": 1.5, "l": [nil, true]], ratio: 0.1, unique: UUID())
  }

  @Test func `a type survives the way to JSON and back`() throws {
    let record = try record()
    let value = try JSONValue(encoding: record)
    #expect(value["huge"]?.text == "18446744073709551615" && value["ratio"]?.text == "0.1")
    #expect(value["created"] == "2026-03-01T08:30:00.250+0000" && value["photo"] == "AP8=")
    #expect(value["price"]?.text == "12345678901234567890.12" && value["amount"] == nil)
    #expect(value["link"] == "https://x.example/a?b=c")
    #expect(try value.decode(as: Record.self) == record)
    #expect(try JSONSlice(parsing: value.serialized()).decode() == record)
  }

  @Test func `dates come as text, days, milliseconds or seconds`() throws {
    let date = Date(timeIntervalSince1970: 86_400)
    func read(_ text: String, _ dates: JSONDates = .salesforce) throws -> [Date] {
      try JSONSlice(parsing: text).decode(dates: dates)
    }
    #expect(try read(#"["1970-01-02","1970-01-02T00:00:00Z"]"#) == [date, date])
    #expect(try read("[86400000]", .milliseconds) == [date])
    #expect(try read("[86400]", .seconds) == [date])
    #expect(try JSONValue(encoding: [date], dates: .milliseconds) == [86_400_000])
    #expect(throws: JSONError.self) { try read("[86400]") }
  }

  @Test(arguments: [
    (#"[{"name":1}]"#, JSONError.Code.typeMismatch, "0.name"),
    (#"[{"name":"a"},{}]"#, .missing, "1.name"),
    (#"[{"name":null}]"#, .typeMismatch, "0.name"), ("{}", .typeMismatch, ""),
  ])
  func `an error of a conversion names the member`(text: String, code: JSONError.Code, path: String)
  {
    let error = #expect(throws: JSONError.self) {
      try JSONSlice(parsing: text).decode(as: [Record.Owner].self)
    }
    #expect(error?.code == code && error?.path == path)
  }

  @Test func `an integer type takes exact integers in its range and nothing else`() throws {
    func read<T: Decodable>(_ text: String, _ type: T.Type) -> T? {
      try? JSONSlice(parsing: text).decode(as: type)
    }
    #expect(read("127.0", Int8.self) == 127 && read("128", Int8.self) == nil)
    #expect(
      read("1.5", Int.self) == nil && read("true", Int.self) == nil && read("1", Bool.self) == nil)
    #expect(read("-1", UInt.self) == nil && read("18446744073709551615", UInt64.self) == .max)
    #expect(read("1e400", Double.self) == nil && read("1e300", Float.self) == nil)
    #expect(read("null", Int?.self) == .some(nil) && read("[null,2]", [Int?].self) == [nil, 2])
  }

  @Test func `what has no JSON form is refused`() throws {
    let error = #expect(throws: JSONError.self) { try JSONValue(encoding: ["a": Double.nan]) }
    #expect(error?.code == .notRepresentable && error?.path == "a")
    #expect(throws: JSONError.self) { try JSONValue.double(.infinity).serialized() }
    #expect(JSONValue.array([.double(.nan)]).text == "[null]")
  }

  private struct Refusal: Error {}
  private struct Refuser: Codable {
    init() {}
    init(from decoder: any Decoder) throws { throw Refusal() }
    func encode(to encoder: any Encoder) throws { throw Refusal() }
  }

  @Test(arguments: [JSONDates.salesforce, .milliseconds, .seconds])
  func `a date that JSON cannot show is refused`(dates: JSONDates) {
    for seconds in [Double.nan, .infinity, -.infinity] {
      let error = #expect(throws: JSONError.self) {
        try JSONValue(encoding: [Date(timeIntervalSince1970: seconds)], dates: dates)
      }
      #expect(error?.code == .notRepresentable && error?.path == "0")
    }
    #expect(throws: JSONError.self) {
      try JSONValue(encoding: [Date(timeIntervalSince1970: 1e300)], dates: .milliseconds)
    }
  }

  @Test func `no message quotes the value that a type refuses`() {
    let error = #expect(throws: JSONError.self) {
      try JSONSlice(parsing: #"{"stage":"Jane Doe"}"#).decode(as: [String: Record.Stage].self)
    }
    #expect(error?.code == .typeMismatch && error?.path == "stage")
    #expect(error?.description.contains("Jane") == false)
  }

  @Test func `the error of a type's own code is the cause`() throws {
    let reading = #expect(throws: JSONError.self) {
      try JSONSlice(parsing: "[1]").decode(as: [Refuser].self)
    }
    let writing = #expect(throws: JSONError.self) { try JSONValue(encoding: [Refuser()]) }
    #expect(reading?.code == .rejected && reading?.cause is Refusal)
    #expect(writing?.code == .rejected && writing?.cause is Refusal)
  }

  private class Base: Codable {
    var base = 1
  }
  private final class Derived: Base {
    var derived = 2
    private enum Key: CodingKey { case derived, list }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      derived = try container.decode(Int.self, forKey: .derived)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      #expect(try list.decode(Int.self) == 5 && list.decodeNil() && list.isAtEnd)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encode(5)
      try list.encodeNil()
      try super.encode(to: container.superEncoder())
      try container.encode(derived, forKey: .derived)
    }
  }

  @Test func `nested containers and super work`() throws {
    let object = Derived()
    object.base = 7
    let value = try JSONValue(encoding: object)
    #expect(value.text == #"{"list":[5,null],"super":{"base":7},"derived":2}"#)
    let copy = try value.decode(as: Derived.self)
    #expect(copy.base == 7 && copy.derived == 2)
  }

  @Test func `a value passes through other encoders too`() throws {
    let value: JSONValue = ["a": [1, 2.5, "x", nil, true], "b": ["c": [:]]]
    let data = try JSONEncoder().encode(value)
    #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
  }

  @Test func `the writer builds texts with commas where they belong`() throws {
    var writer = JSONWriter()
    writer.beginObject()
    try writer.member("a\n", [1, "\u{1}\"\\/"])
    writer.key("b")
    writer.beginArray()
    writer.raw(try JSONSlice(parsing: "[ 1.50 ]"))
    writer.null()
    writer.integer(UInt64.max)
    try writer.double(0.5)
    writer.bool(false)
    writer.beginObject()
    writer.endObject()
    writer.endArray()
    #expect(!writer.isComplete)
    writer.endObject()
    #expect(writer.isComplete)
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"a\n":[1,"\u0001\"\\/"],"b":[[ 1.50 ],null,18446744073709551615,0.5,false,{}]}"#)
  }
}
