import Testing

@testable import MobileSync
import TestSupport

@Suite struct SOQLTokenizerTests {
  @Test(
    .covers("MS-277"),
    arguments: [
      "", " ", "select Id from Account", "select 'a b' from (x (y 'z)' )) w", "where A='x'and B=2",
      "a'unclosed", "(unclosed ( 'x' )", "it\\'s", "select \u{1F600} from 'é'", "\t\n a \r\n",
    ])
  func `joined tokens give the text back`(soql: String) {
    #expect(SOQLTokenizer.tokens(of: soql).map(\.text).joined() == soql)
  }

  @Test(.covers("MS-277"))
  func `order by and group by are one token with one blank`() {
    let tokens = SOQLTokenizer.tokens(of: "Order \n By x GROUP  by y order z")
    #expect(
      tokens.filter { $0.kind == .word }.map(\.text)
        == ["Order By", "x", "GROUP by", "y", "order", "z"])
  }

  @Test(.covers("MS-277"))
  func `an escaped quote does not end a quoted text`() {
    let tokens = SOQLTokenizer.tokens(of: "x 'it\\'s' y")
    #expect(tokens.map(\.text) == ["x", " ", "'it\\'s'", " ", "y"])
  }

  @Test(.covers("MS-280"))
  func `an escaped backslash lets the quote close`() {
    let tokens = SOQLTokenizer.tokens(of: "'a\\\\' or 'b'")
    #expect(tokens.map(\.text) == ["'a\\\\'", " ", "or", " ", "'b'"])
  }

  @Test(.covers("MS-278"))
  func `a parenthesis in a quoted text inside parentheses does not count`() {
    let tokens = SOQLTokenizer.tokens(of: "(a ')' b) c")
    #expect(tokens.map(\.text) == ["(a ')' b)", " ", "c"])
  }
}
