import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// Requests that no client means: none of them may be answered with 500, or change half of something.
@Suite struct MalformedRequestTests {
  @Test(arguments: [
    "", "{", "[]", "null", "1", "\"x\"", "{\"Name\":}", "{\"Name\":{}}",
    "{\"Name\":[1]}", "{\"attributes\":1}", "{\"\":1}", "{\"Name\":\"a\",\"Name\":\"b\"}x",
    String(repeating: "[", count: 3000), "\u{0}",
  ])
  func `a body that is none is a client's error`(body: String) async throws {
    let org = try OrgUnderTest()
    for (method, path) in [
      ("POST", "/sobjects/Account"), ("PATCH", "/sobjects/Account/001000000000000AAA"),
      ("POST", "/composite"), ("POST", "/composite/batch"), ("POST", "/composite/sobjects"),
      ("PATCH", "/composite/sobjects"), ("PATCH", "/composite/sobjects/Account/Id"),
      ("POST", "/composite/sobjects/Account"), ("POST", "/composite/tree/Account"),
    ] {
      let reply = await org.send(method, path, body)
      #expect((400..<500).contains(reply.status), "\(method) \(path): \(reply.text)")
      #expect(reply.json != nil)
    }
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `a body of another type is refused`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/sobjects/Account", "<x/>", headers: ["content-type": "application/xml"])
    #expect(reply.status == 415)
  }

  @Test(arguments: [
    "/nope", "/services", "/services/data/v1.0", "/services/data/v66", "/services/data/v66.0/nope",
    "/services/data/v66.0/sobjects/Account/a/b/c", "/services/data/v66.0/composite/nope",
    "/services/data/v66.0/sobjects/%00", "/services/data/vNaN.0", "//", "/%",
    "/services/data/v66.0/%zz",
  ])
  func `a path that is none is not found`(path: String) async throws {
    let org = try OrgUnderTest()
    let reply = await org.raw("GET", path, headers: ["authorization": "Bearer \(org.token)"])
    #expect(reply.status == 404, "\(reply.text)")
    #expect(reply.errorCode == "NOT_FOUND")
  }

  /// Requests that are good, for mutation.
  private let good: [(method: String, path: String, body: String)] = [
    ("POST", "/sobjects/Account", #"{"Name":"a","NumberOfEmployees":5,"Industry":"Banking"}"#),
    ("POST", "/sobjects/Contact", #"{"LastName":"a","Birthdate":"2000-01-01","Email":"a@b.co"}"#),
    ("PATCH", "/sobjects/Contact/Email/a@b.co", #"{"LastName":"b"}"#),
    ("GET", "/query?q=SELECT+Id,Name,Owner.Name+FROM+Account+WHERE+Name+LIKE+'a%25'+LIMIT+5", ""),
    ("GET", "/queryAll?q=SELECT+COUNT()+FROM+Contact", ""),
    ("GET", "/sobjects/Account/001Ff0000000001IAA?fields=Name,Owner.Name", ""),
    ("DELETE", "/composite/sobjects?ids=001Ff0000000001IAA,001Ff0000000002IAA&allOrNone=true", ""),
    (
      "POST", "/composite/sobjects",
      #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Name":"c"}]}"#
    ),
    (
      "POST", "/composite",
      #"{"compositeRequest":[{"method":"POST","url":"/services/data/v66.0/sobjects/Account","referenceId":"A","body":{"Name":"@{A.id}"}}]}"#
    ),
    (
      "POST", "/composite/tree/Account",
      #"{"records":[{"attributes":{"type":"Account","referenceId":"r"},"Name":"t","Contacts":{"records":[]}}]}"#
    ),
    (
      "POST", "/composite/batch",
      #"{"batchRequests":[{"method":"GET","url":"v66.0/sobjects/Account/describe"}]}"#
    ),
  ]

  @Test func `3000 mutations of good requests are answered, and never with 500`() async throws {
    let org = try OrgUnderTest()
    let seed: UInt64 = 20_260_515
    var random = SplitMix64(seed: seed)
    let pieces = [
      "\"", "{", "}", "[", "]", "\\", "null", "-1", "1e999", "'", "%", "&", "=", "\u{0}", "é",
      "__c",
      "Id", "@{", "Name", "SELECT", "--", "/", "?", ",", "0", " ",
    ]
    for round in 0..<3000 {
      var (method, path, body) = good[random.next(below: good.count)]
      func mutate(_ text: String) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0...random.next(below: 3) {
          let at = random.next(below: scalars.count + 1)
          switch random.next(below: 3) {
          case 0 where at < scalars.count: scalars.remove(at: at)
          case 1 where at < scalars.count:
            scalars[at] = Unicode.Scalar(UInt8(32 + random.next(below: 95)))
          default:
            scalars.insert(
              contentsOf: Array(pieces[random.next(below: pieces.count)].unicodeScalars), at: at)
          }
        }
        return String(String.UnicodeScalarView(scalars))
      }
      if body.isEmpty || random.next(below: 3) == 0 {
        path = mutate(path)
      } else {
        body = mutate(body)
      }
      let reply = await org.send(method, path, body)
      #expect(
        (200..<500).contains(reply.status), "seed \(seed) round \(round): \(method) \(path) \(body)"
      )
      #expect(reply.text.isEmpty || reply.json != nil, "seed \(seed) round \(round)")
    }
  }
}
