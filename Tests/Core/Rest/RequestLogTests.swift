import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore

/// What does the log say of a request, and what does it leave out?
@Suite struct RequestLogTests {
  @Test(
    arguments: [
      ("/services/data/v66.0/query?q=SELECT+Name+FROM+Account", "/services/data/v66.0/query"),
      ("/query/01gD0000002HU6KIAW-2000", "/query/01gD0000002HU6KIAW-2000"),
      ("/sobjects/Account/001000000000001AAA", "/sobjects/Account/001000000000001AAA"),
      (
        "/sobjects/Account/001000000000001AAA/Owner/Ada",
        "/sobjects/Account/001000000000001AAA/Owner/Ada"
      ),
      ("/sobjects/Account/Email__c/ada@example.com", "/sobjects/Account/Email__c/…"),
      ("/sobjects/Account/Number__c/Ada-Lovelace", "/sobjects/Account/Number__c/…"),
      ("/sobjects/Account/Key__c/001000000000001AAA", "/sobjects/Account/Key__c/…"),
      ("/sobjects/Account/Ada/", "/sobjects/Account/…"),
      ("/sobjects/Account/describe/layouts/012000000000001AAA", nil),
      ("/composite/sobjects", nil),
      ("/connect/files/069000000000001AAA/content", nil),
      ("/services/apexrest/Visits/Ada/Lovelace#x", "/services/apexrest/Visits/…/…"),
      ("https://ada:secret@acme.my.salesforce.com/a%20b/c;sid=1/d?sid=2", "/…/…/d"),
      ("", "/"),
    ] as [(String, String?)])
  func `paths are logged without queries and values`(target: String, logged: String?) {
    #expect(RequestLine.safePath(target) == logged ?? target)
  }

  @Test func `a request describes itself without values`() {
    let base = RestRequest(path: "https://a@acme.my.salesforce.com/sobjects/Case/N__c/4711?x=y")
    #expect("\(base)" == "GET acme.my.salesforce.com/sobjects/Case/N__c/…")
    #expect("\(RestRequest(path: "/{v}/sobjects/Case/N__c/4711"))" == "GET /sobjects/Case/N__c/…")
  }

  @Test func `a request is one line with method, path, status, time and bytes`() {
    var line = RequestLine(
      method: .get, path: "/query", status: 200,
      duration: .milliseconds(34) + .microseconds(900), sentBytes: 0, receivedBytes: 1_234)
    #expect("\(line)" == "GET /query: 200, 34 ms, 0 bytes sent, 1234 bytes received")
    line = RequestLine(
      method: .post, path: "/", status: nil, duration: .seconds(2), sentBytes: 3, receivedBytes: 0)
    #expect("\(line)" == "POST /: no response, 2000 ms, 3 bytes sent, 0 bytes received")
  }

  @Test func `the server's line keeps the column that a caret points to`() {
    func line(_ message: String) -> String {
      RestError.ServerError(errorCode: "MALFORMED_QUERY", message: message).line
    }
    #expect(line("No such column.\n") == "MALFORMED_QUERY: No such column.")
    #expect(line("\n  SELECT Nmae\n         ^\n") == "MALFORMED_QUERY:\n  SELECT Nmae\n         ^")
    #expect(line("") == "MALFORMED_QUERY")
    #expect(RestError.ServerError(errorCode: "", message: "expired").line == "expired")
  }
}
