import MobileSync
import Testing
import TestSupport

/// Do values and lists of ids stand in a query as the server reads them?
@Suite struct SOQLLiteralTests {
  @Test(.covers("MS-295"))
  func `quotes and backslashes cannot end a text early`() {
    #expect(SOQLLiteral.text(#"O'Neil \ Sons"#) == #"'O\'Neil \\ Sons'"#)
    #expect(SOQLLiteral.text("a\r\nb") == #"'a\r\nb'"#)
    #expect(SOQLLiteral.list(["a", "b'"]) == #"('a', 'b\'')"#)
  }

  @Test(.covers("MS-131"))
  func `a list of ids fits into an address`() {
    let ids = (0..<1_001).map { "001" + String(repeating: "x", count: 11) + "\($0 + 1_000)" }
    #expect(SOQLLiteral.slices(of: ids).map(\.count) == [500, 500, 1])
    #expect(SOQLLiteral.slices(of: ids, atMost: 400).map(\.count) == [400, 400, 201])
    #expect(SOQLLiteral.slices(of: ids, atMost: 0).map(\.count) == [500, 500, 1])
    #expect(SOQLLiteral.slices(of: []).isEmpty)
    let long = (0..<4).map { String(repeating: "ä", count: 1_500) + "\($0)" }
    // 9,000 bytes each, encoded.
    #expect(SOQLLiteral.slices(of: long).map(\.count) == [1, 1, 1, 1])
  }
}
