@testable import BulkJobs
@testable import FieldforceGzip
@testable import SalesforceSDKCommon

@testable import SalesforceMockOrg

/// JSON, CSV, XML, dates, and bodies of HTTP.
extension FuzzedParser {
  static let json = FuzzedParser(name: "json") { (bytes) throws(Finding) in
    guard let slice = try? JSONSlice(parsing: bytes) else { return }
    let value = slice.value
    guard let again = try? JSONValue(parsing: value.text) else {
      throw Finding(description: "the text of a parsed value is JSON: \(value.text)")
    }
    try require(again == value, "a value that is written and read is the same")
  }

  static let csv = FuzzedParser(name: "csv") { (bytes) throws(Finding) in
    if let rows = CSV.rows(bytes) {
      var written: [UInt8] = []
      for row in rows { CSV.append(row, to: &written) }
      try require(CSV.rows(written) == rows, "rows that are written and read are the same")
    }
    var reader = CSVReader(bytes)
    while let row = try? reader.nextTexts() {
      try require(!row.isEmpty, "a row has cells")
    }
  }

  static let xml = FuzzedParser(name: "xml") { (bytes) throws(Finding) in
    guard let root = XMLElement(parsing: bytes) else { return }
    var open = [root]
    while let element = open.popLast() {
      try require(
        XMLText.unescaped(XMLText.escaped(element.text)) == element.text,
        "a text that is escaped and read is the same")
      open += element.children
    }
  }

  static let dates = FuzzedParser(name: "dates") { (bytes) throws(Finding) in
    let text = text(bytes)
    if let date = SalesforceDate.parse(text) {
      try require(
        SalesforceDate.parse(date.text) == date, "a date that is written and read is the same")
    }
    if let date = SalesforceDate.parseHTTP(text),
      let again = SalesforceDate.parseHTTP(date.httpText)
    {
      try require(again == date, "a date of HTTP that is written and read is the same")
    }
    _ = SalesforceDate.parseDay(text)
    _ = DateText.parseDate(text)
    _ = DateText.parseDateTime(text)
    _ = DateText.parseTime(text)
    _ = DateText.parseHTTP(text)
  }

  static let gzip = FuzzedParser(name: "gzip") { (bytes) throws(Finding) in
    let limit = 1 << 20
    if let expanded = Gzip.expanded(bytes, limit: limit) {
      try require(expanded.count <= limit, "no body is longer than its limit")
    }
    if let compressed = Gzip.compressed(bytes) {
      try require(
        Gzip.expanded(compressed, limit: max(1, bytes.count)) == bytes,
        "a body that is compressed and expanded is the same")
    }
  }

  static let multipart = FuzzedParser(name: "multipart") { (bytes) throws(Finding) in
    let request = OrgRequest(
      method: "POST", target: "/services/data/v66.0/sobjects/ContentVersion",
      headers: ["content-type": "multipart/form-data; boundary=B"], body: bytes)
    for part in (try? Multipart.parts(of: request)) ?? [] {
      try require(part.body.count <= bytes.count, "a part is within its body")
    }
  }

  static let paths = FuzzedParser(name: "paths") { (bytes) throws(Finding) in
    let request = OrgRequest(method: "GET", target: text(bytes), headers: [:], body: bytes)
    _ = request.readingSuffix
    _ = try? Conditions(
      OrgRequest(
        method: "GET", target: "/",
        headers: ["if-modified-since": text(bytes), "if-none-match": text(bytes)], body: []))
  }
}
