import Testing

@testable import MobileSync

@Suite struct SOQLTokenizerTests {
  @Test(arguments: [
    "", " ", "select Id from Account", "select 'a b' from (x (y 'z)' )) w", "where A='x'and B=2",
    "a'unclosed", "(unclosed ( 'x' )", "it\\'s", "select \u{1F600} from 'é'", "\t\n a \r\n",
  ])
  func `MS-277 joined tokens give the text back`(soql: String) {
    #expect(SOQLTokenizer.tokens(of: soql).map(\.text).joined() == soql)
  }

  @Test func `MS-277 order by and group by are one token with one blank`() {
    let tokens = SOQLTokenizer.tokens(of: "Order \n By x GROUP  by y order z")
    #expect(
      tokens.filter { $0.kind == .word }.map(\.text)
        == ["Order By", "x", "GROUP by", "y", "order", "z"])
  }

  @Test func `MS-277 an escaped quote does not end a quoted text`() {
    let tokens = SOQLTokenizer.tokens(of: "x 'it\\'s' y")
    #expect(tokens.map(\.text) == ["x", " ", "'it\\'s'", " ", "y"])
  }

  @Test func `MS-280 an escaped backslash lets the quote close`() {
    let tokens = SOQLTokenizer.tokens(of: "'a\\\\' or 'b'")
    #expect(tokens.map(\.text) == ["'a\\\\'", " ", "or", " ", "'b'"])
  }

  @Test func `MS-278 a parenthesis in a quoted text inside parentheses does not count`() {
    let tokens = SOQLTokenizer.tokens(of: "(a ')' b) c")
    #expect(tokens.map(\.text) == ["(a ')' b)", " ", "c"])
  }
}
