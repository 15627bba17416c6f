import BulkJobs
import Testing

@Suite struct CSVReaderTests {
  private func rows(_ text: String) throws -> [[String]] {
    var reader = CSVReader(Array(text.utf8))
    var rows: [[String]] = []
    while let row = try reader.nextTexts() { rows.append(row) }
    return rows
  }

  @Test(arguments: [
    ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]), ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
    ("\"a\"\"b\",\"c,d\"\n", [["a\"b", "c,d"]]), ("\"a\nb\",\"\"\n", [["a\nb", ""]]),
    ("a,\n,b\n", [["a", ""], ["", "b"]]), ("\u{FEFF}a\n", [["a"]]), ("", []), ("\n\n", []),
    ("\"\"\"\"\n", [["\""]]), ("\"\"\"\"\"x\"\n", [["\"\"x"]]), ("ä,🙂\n", [["ä", "🙂"]]),
  ])
  func `cells are read as RFC 4180 has them`(_ text: String, _ expected: [[String]]) throws {
    #expect(try rows(text) == expected)
  }

  @Test(arguments: ["\"a", "\"a\"b\n", "a,\"b\n", "\"a\"\"\n"])
  func `what is no CSV is refused`(_ text: String) {
    #expect(throws: CSVReader.Malformed.self) { try rows(text) }
  }

  @Test func `every text reads back as it was written`() throws {
    let parts = ["", "a", "\"", ",", "\n", "\r\n", " ", "#N/A", "ü"]
    for first in parts {
      for second in parts {
        for third in parts {
          let row = [first + second + third, second, third + "x"]
          var writer = CSVWriter()
          writer.row(row)
          writer.row(["end", nil, "x"])
          var reader = CSVReader(writer.bytes)
          #expect(try reader.nextTexts() == row)
          #expect(try reader.nextTexts() == ["end", "", "x"])
          #expect(try reader.nextTexts() == nil)
        }
      }
    }
  }
}
