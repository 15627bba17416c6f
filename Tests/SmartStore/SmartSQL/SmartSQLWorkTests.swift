import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// How does the work of a conversion grow with the length of the statement?
@Suite struct SmartSQLWorkTests {
  private static let soups = Dictionary(
    [
      Soup(name: "cases", number: 1, indexes: .init("title:string", "owner:string")),
      Soup(name: "animals", number: 2, indexes: .init("name:full_text")),
    ].map { (MemberKey($0.name), $0) }, uniquingKeysWith: { first, _ in first })

  @Test(
    .covers("SS-157"),
    arguments: [
      "select {cases:title}, '{x}', a.{cases:site} from {cases} where {cases:owner} = ? ", "x", " ",
      "(", "'", "'it''s' ", "{cases:title}", "{cases:a.b.c} ", "-", "-- c\n", "/", "/* c */", "\"",
      #""o'clock".{cases:site} "#, "`a``b`.{cases:site}", "match ",
      "x match '{animals:name}:\"{a}\"' ",
      "x match '", ";", "a.b.c.{cases:site},", "é", "load_extension ",
      "select {cases:site} from {cases} x, ", "{cases:__local__} = 'true' ", "select (",
    ])
  func `a statement of twice the length takes twice the steps`(part: String) throws {
    /// How often a byte of the statement is read.
    func steps(length: Int) throws -> Int {
      let text = String(repeating: part, count: length / part.utf8.count)
      let bytes = CountedBytes(text)
      var converter = SmartSQLConverter(text, bytes: bytes, soups: Self.soups)
      _ = try converter.run()
      return bytes.reads.count
    }
    let (once, twice) = (try steps(length: 25_000), try steps(length: 50_000))
    #expect(abs(twice - 2 * once) <= once / 50)
    #expect(once <= 10 * 25_000)
  }
}

/// The bytes of a text. They count how often one of them is read.
private struct CountedBytes: RandomAccessCollection {
  final class Reads {
    var count = 0
  }

  private let bytes: [UInt8]
  let reads = Reads()
  let startIndex = 0
  var endIndex: Int { bytes.count }

  init(_ text: String) { bytes = Array(text.utf8) }

  subscript(position: Int) -> UInt8 {
    reads.count += 1
    return bytes[position]
  }
}
