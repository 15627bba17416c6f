/// Account records as a query returns them, 14 fields and about 550 bytes each, the same on every run.
struct SamplePage {
  /// One record's text and the values of its indexed paths.
  struct Record {
    let text: String
    let name: String
    let accountNumber: String
    let employees: Int64
    let revenue: Double
  }

  static let industries = ["Agriculture", "Banking", "Construction", "Education", "Utilities"]
  static let cities = ["Cambridge", "São Paulo", "Köln", "Minneapolis", "Ōsaka"]

  /// The id of a record.
  static func id(_ index: Int) -> String { "0015e0000" + number(index).suffix(6) + "AAA" }

  private static func number(_ index: Int) -> String {
    let digits = String(index)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  static func record(_ index: Int) -> Record {
    let number = number(index)
    let id = id(index)
    let name = "\(industries[index % 5]) Works \(number)"
    let employees = Int64(index &* 7919 % 50_000)
    let revenue = Double(index &* 104_729 % 9_000_000) + 0.25
    let minute = 10 + index / 60 % 50
    let second = 10 + index % 50
    let text = """
      {"attributes":{"type":"Account","url":"/services/data/v66.0/sobjects/Account/\(id)"},\
      "Id":"\(id)","LastModifiedDate":"2026-03-04T05:\(minute):\(second).000+0000",\
      "Name":"\(name)","AccountNumber":"AC-\(number)","Industry":"\(industries[index % 5])",\
      "Type":"Customer - Direct","Phone":"(617) 555-\(number.suffix(4))",\
      "BillingStreet":"\(index % 900) Harbor Street","BillingCity":"\(cities[index % 5])",\
      "BillingPostalCode":"\(number.suffix(5))","NumberOfEmployees":\(employees),\
      "AnnualRevenue":\(revenue),"IsActive__c":\(index % 3 == 0),\
      "Description":"Visited by the \\"north\\" team; next call planned for the spring season."}
      """
    return Record(
      text: text, name: name, accountNumber: "AC-\(number)", employees: employees, revenue: revenue)
  }

  /// The body of one response to a query that has `total` rows, for the rows in `range`.
  static func body(_ range: Range<Int>, total: Int) -> [UInt8] {
    var body = "{\"totalSize\":\(total),\"done\":\(range.upperBound == total),"
    if range.upperBound < total {
      body += "\"nextRecordsUrl\":\"/services/data/v66.0/query/01g5e000001-\(range.upperBound)\","
    }
    body += "\"records\":["
    body += range.map { record($0).text }.joined(separator: ",")
    return Array((body + "]}").utf8)
  }
}
