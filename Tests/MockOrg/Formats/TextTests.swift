import FieldforceGzip
import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// The forms of text that are not JSON.
@Suite struct TextTests {
  @Test(arguments: [
    ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
    ("a\r\n\"x\r\ny\"\r\n\r\n", [["a"], ["x\r\ny"]]),
    ("a,,\n\"\",\"\"\"\",", [["a", "", ""], ["", "\"", ""]]),
    ("\u{feff}ä", [["ä"]]),
    ("", []),
  ])
  func `CSV is read as RFC 4180 writes it`(text: String, rows: [[String]]) {
    #expect(CSV.rows(Array(text.utf8)) == rows)
  }

  @Test func `an open quote is no CSV, and what is written reads back`() {
    #expect(CSV.rows(Array("\"a".utf8)) == nil)
    var text: [UInt8] = []
    let row = ["a\"b", "c,d", "e\nf", ""]
    CSV.append(row, to: &text)
    #expect(CSV.rows(text) == [row])
  }

  @Test func `XML is read with its prefixes, entities, comments and sections`() throws {
    let text = """
      <?xml version="1.0"?><!DOCTYPE x><!-- c --><a:x k="1 &lt; 2" xmlns:a="u"><b>1 &amp; 2</b>
      <!-- <c/> --><c/><d><![CDATA[<raw>&]]></d></a:x>
      """
    let root = try #require(XMLElement(parsing: Array(text.utf8)))
    #expect(root.name == "x" && root.attributes["k"] == "1 < 2")
    #expect(root["b"]?.text == "1 & 2")
    #expect(root.children.map(\.name) == ["b", "c", "d"])
    #expect(root["d"]?.text == "<raw>&")
  }

  @Test(arguments: [
    "", "x", "<a>", "<a></b>", "<a b></a>", "<a b=c/>", "<a", "<a>&", "<!--", "<a><![CDATA[",
    String(repeating: "<a>", count: 500),
  ])
  func `what is no XML is none`(text: String) {
    #expect(XMLElement(parsing: Array(text.utf8)) == nil)
  }

  @Test func `bodies go through gzip and back, within a limit`() throws {
    let bytes = Array(String(repeating: "salesforce ", count: 10_000).utf8)
    let gzip = try #require(Gzip.compressed(bytes))
    #expect(gzip.count < bytes.count / 20)
    #expect(gzip.prefix(2) == [0x1f, 0x8b])
    #expect(Gzip.expanded(gzip, limit: 1 << 20) == bytes)
    #expect(Gzip.expanded(gzip, limit: 1000) == nil)
    #expect(Gzip.expanded(Array(gzip.dropLast(20)), limit: 1 << 20) == nil)
    #expect(Gzip.expanded([1, 2, 3], limit: 1 << 20) == nil)
    #expect(Gzip.compressed([]).flatMap { Gzip.expanded($0, limit: 10) } == [])
  }

  @Test func `a multipart body that lacks its parts is refused`() {
    for (type, body) in [
      ("multipart/form-data", "--X\r\n\r\n--X--"), ("multipart/form-data; boundary=X", ""),
      ("multipart/form-data; boundary=X", "--X\r\nContent-Type: a\r\n\r\nb\r\n--X--"),
      ("multipart/form-data; boundary=X", "--X\r\n--X--"),
    ] {
      let request = OrgRequest(
        method: "POST", target: "/", headers: ["content-type": type], body: Array(body.utf8))
      #expect(throws: ServerError.self) { try Multipart.parts(of: request) }
    }
  }
}

/// Responses and bodies in XML.
@Suite struct XMLFormTests {
  @Test func `a client that asks for XML gets it, errors included`() async throws {
    let org = try OrgUnderTest()
    let headers = ["accept": "application/xml", "content-type": "application/xml"]
    let made = await org.send(
      "POST", "/sobjects/Account",
      "<Account><Name>A &lt; B</Name><NumberOfEmployees>3</NumberOfEmployees></Account>",
      headers: headers)
    #expect(made.status == 201, "\(made.text)")
    let result = try #require(XMLElement(parsing: Array(made.text.utf8)))
    #expect(result.name == "Result" && result["success"]?.text == "true")
    let id = try #require(result["id"]?.text)
    let read = await org.send("GET", "/sobjects/Account/\(id)", headers: headers)
    let record = try #require(XMLElement(parsing: Array(read.text.utf8)))
    #expect(record.name == "Account" && record.attributes["type"] == "Account")
    #expect(record["Name"]?.text == "A < B")
    #expect(record["Phone"]?.attributes["nil"] == "true")
    let query = await org.query("SELECT Nope FROM Account", headers: headers)
    let errors = try #require(XMLElement(parsing: Array(query.text.utf8)))
    #expect(errors.name == "Errors" && errors["Error"]?["errorCode"]?.text == "INVALID_FIELD")
    let rows = await org.query("SELECT Name FROM Account", headers: headers)
    #expect(
      XMLElement(parsing: Array(rows.text.utf8))?["records"]?["Name"]?.text == "A < B")
    let bad = await org.send("POST", "/sobjects/Account", "<a", headers: headers)
    #expect(bad.text.contains("XML_PARSER_ERROR"))
  }
}
