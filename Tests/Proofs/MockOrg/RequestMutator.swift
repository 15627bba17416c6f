import SalesforceSDKCommon
import TestSupport

@testable import SalesforceMockOrg
@testable import MockOrgTests

/// Good requests of every kind, and requests that are a little off from them.
struct RequestMutator {
  struct Request: CustomStringConvertible {
    var method: String
    var path: String
    var headers: [String: String] = ["content-type": "application/json"]
    var body: [UInt8] = []

    var description: String {
      "\(method) \(path) \(headers.sorted { $0.key < $1.key }) \(String(decoding: body, as: UTF8.self))"
    }
  }

  private var random: SeededGenerator
  private let good: [Request]

  /// - Parameter ids: Ids of an account and of a contact.
  init(seed: UInt64, account: String, contact: String) {
    random = SeededGenerator(seed: seed)
    func request(_ method: String, _ path: String, _ body: String = "") -> Request {
      Request(method: method, path: "/services/data/v66.0" + path, body: Array(body.utf8))
    }
    func search(_ path: String, _ q: String) -> Request {
      request("GET", "\(path)?q=\(PercentEncoding.encode(q))")
    }
    let record = #"{"attributes":{"type":"Account"},"Name":"c","NumberOfEmployees":3}"#
    let bad = #"{"attributes":{"type":"Contact"},"Email":"a@b.co"}"#
    let url = "/services/data/v66.0/sobjects"
    good = [
      request(
        "POST", "/sobjects/Account", #"{"Name":"a","NumberOfEmployees":5,"Industry":"Banking"}"#),
      request(
        "POST", "/sobjects/Contact",
        #"{"LastName":"a\u00e9","Birthdate":"2000-01-01","AccountId":"\#(account)"}"#),
      request("PATCH", "/sobjects/Contact/\(contact)", #"{"LastName":"b","Email":"a@b.co"}"#),
      request("PATCH", "/sobjects/Contact/Id/\(contact)", #"{"LastName":"b"}"#),
      request("DELETE", "/sobjects/Contact/\(contact)"),
      request("GET", "/sobjects/Account/\(account)?fields=Name,Owner.Name"),
      request("GET", "/sobjects/Account/describe"), request("GET", "/sobjects"),
      search(
        "/query",
        "SELECT Id, Owner.Name, (SELECT LastName FROM Contacts LIMIT 2) FROM Account WHERE Name LIKE "
          + "'a\\_%' AND CreatedDate > LAST_N_DAYS:3 ORDER BY Name NULLS LAST LIMIT 5"),
      search(
        "/query",
        "SELECT Industry, COUNT(Id) n FROM Account GROUP BY ROLLUP(Industry) HAVING COUNT(Id) > 0"),
      search(
        "/query",
        "SELECT TYPEOF What WHEN Account THEN Phone ELSE Name END FROM Task FOR VIEW"),
      search(
        "/queryAll", "SELECT COUNT() FROM Contact WHERE AccountId NOT IN (SELECT Id FROM Account)"),
      search(
        "/search",
        "FIND {\"a b\" OR (c* AND NOT d)} IN NAME FIELDS RETURNING Account(Name, toLabel(Industry) "
          + "WHERE Name != 'x' ORDER BY Name LIMIT 3), Contact LIMIT 10"),
      request(
        "GET", "/parameterizedSearch?q=ab&sobject=Account&Account.fields=Id,Name&Account.limit=5"),
      request(
        "POST", "/parameterizedSearch",
        #"{"q":"ab","in":"ALL","sobjects":[{"name":"Account","fields":["Id"],"where":"Name='a'","limit":2}]}"#
      ),
      request(
        "POST", "/composite/sobjects", #"{"allOrNone":false,"records":[\#(record),\#(bad)]}"#),
      request(
        "POST", "/composite/sobjects", #"{"allOrNone":true,"records":[\#(record),\#(bad)]}"#),
      request(
        "PATCH", "/composite/sobjects",
        #"{"allOrNone":true,"records":[{"attributes":{"type":"Account"},"id":"\#(account)","Name":"n"},{"attributes":{"type":"Contact"},"id":"\#(contact)","LastName":"n"}]}"#
      ),
      request(
        "PATCH", "/composite/sobjects/Account/Id",
        #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Id":"\#(account)","Name":"n"},\#(record)]}"#
      ),
      request(
        "DELETE", "/composite/sobjects?ids=\(contact),003000000000009AAA&allOrNone=true"),
      request("POST", "/composite/sobjects/Account", #"{"ids":["\#(account)"],"fields":["Name"]}"#),
      request(
        "POST", "/composite",
        #"{"allOrNone":true,"compositeRequest":[{"method":"POST","url":"\#(url)/Account","referenceId":"A","body":{"Name":"q"}},{"method":"POST","url":"\#(url)/Contact","referenceId":"C","body":{"LastName":"x","AccountId":"@{A.id}"}},{"method":"POST","url":"\#(url)/Contact","referenceId":"D","body":{}}]}"#
      ),
      request(
        "POST", "/composite",
        #"{"allOrNone":false,"compositeRequest":[{"method":"POST","url":"\#(url)/Account","referenceId":"A","body":{"Name":"q"}},{"method":"GET","url":"\#(url)/Account/@{A.id}","referenceId":"B"}]}"#
      ),
      request(
        "POST", "/composite/tree/Account",
        #"{"records":[{"attributes":{"type":"Account","referenceId":"r"},"Name":"t","Contacts":{"records":[{"attributes":{"type":"Contact","referenceId":"s"},"LastName":"u"}]}}]}"#
      ),
      request(
        "POST", "/composite/batch",
        #"{"batchRequests":[{"method":"GET","url":"v66.0/sobjects/Account/describe"},{"method":"PATCH","url":"v66.0/sobjects/Contact/\#(contact)","richInput":{"LastName":"v"}}]}"#
      ),
      request(
        "GET",
        "/query?explain=\(PercentEncoding.encode("SELECT Id FROM Account a, a.Contacts c WHERE Name = 'a'"))"
      ),
      request("GET", "/sobjects/Account/\(account)/Contacts?fields=LastName,Account.Owner.Name"),
      request(
        "GET",
        "/sobjects/Contact/updated?start=2026-05-15T11%3A00%3A00Z&end=2026-05-15T13%3A00%3A00Z"),
      request("GET", "/ui-api/records/\(contact)?fields=Contact.LastName,Contact.Account.Name"),
      request("GET", "/search/suggestions?q=ab&sobject=Account,Contact"),
      request(
        "POST", "/jobs/query", #"{"operation":"query","query":"SELECT Name FROM Account"}"#),
    ]
  }

  /// The next request; one of ten is good.
  mutating func next() -> Request {
    var request = pick(good)
    switch below(10) {
    case 0: request.method = pick(["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "get", "X"])
    case 1...3: request.path = String(decoding: mutated(Array(request.path.utf8)), as: UTF8.self)
    case 4:
      request.headers[
        pick([
          "content-type", "if-modified-since", "if-unmodified-since", "if-none-match",
          "sforce-query-options", "sforce-call-options", "content-encoding", "accept",
          "sforce-duplicate-rule-header",
        ])] = pick([
          "", "application/xml", "text/csv", "batchSize=-1", "batchSize=9e9", "gzip",
          "allowSave=true; includeRecordDetails=true", "allowSave==;;",
          "Fri, 99 Foo 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:00 GMT", "\u{0}", "é", "*",
        ])
    case 5: break
    default: request.body = mutated(request.body)
    }
    return request
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

  /// Cuts, doubles, moves or overwrites a few pieces of a text.
  private mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(3) {
      let at = below(bytes.count + 1)
      let end = min(at + below(12), bytes.count)
      switch below(7) {
      case 0: bytes.removeSubrange(at..<end)
      case 1: bytes.insert(contentsOf: bytes[at..<end], at: below(bytes.count + 1))
      case 2 where at < bytes.count: bytes[at] = UInt8(below(256))
      case 3: bytes.removeSubrange(at...)
      case 4:
        // Values of other types, for whatever stands between two commas.
        let comma = UInt8(ascii: ",")
        let from = bytes[..<at].lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? at
        let to = bytes[at...].firstIndex { $0 == comma || $0 == UInt8(ascii: "}") } ?? at
        bytes.replaceSubrange(
          min(from, to)..<to,
          with: Array(
            pick([
              "null", "[]", "{}", "1e999", "-1", "\"\"", "true", "99999999999999999999", "\"x\"",
              "0.1", "[[[[]]]]", "\"2026-13-45\"", "{\"a\":1}",
            ]).utf8))
      case 5:
        let other = pick(good)
        let piece = below(2) == 0 ? other.body : Array(other.path.utf8)
        let start = below(piece.count + 1)
        bytes.insert(contentsOf: piece[start..<min(start + below(30), piece.count)], at: at)
      default:
        bytes.insert(
          contentsOf: Array(
            pick([
              "\"", "{", "}", "[", "]", "\\", "null", "'", "%", "&", "=", "\u{0}", "é", "__c", "Id",
              "@{", "@{A.id}", "Name", "SELECT ", "--", "/", "?", ",", " ", "%zz", "%00", "..", "+",
              "attributes", "\\ud800", "😀",
            ]).utf8), at: at)
      }
    }
    return bytes
  }
}
