import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// How the values of responses become text.
@Suite struct ResponseJSONTests {
  private func text(_ value: ResponseJSON) -> String {
    String(decoding: value.bytes, as: UTF8.self)
  }

  @Test func `members keep their order, also those that are added`() {
    var json: ResponseJSON = ["z": 1, "a": nil, "list": [true, "x"], "empty": [:]]
    json.append(["b": .string(orNull: nil), "a2": .double(2)])
    #expect(text(json) == #"{"z":1,"a":null,"list":[true,"x"],"empty":{},"b":null,"a2":2.0}"#)
  }

  @Test func `what is JSON already is sent byte for byte`() throws {
    let slice = try JSONSlice(parsing: #"{"n": 1.50, "s": "\u00e9"}"#)
    #expect(text(["record": .raw(slice)]) == #"{"record":{"n": 1.50, "s": "\u00e9"}}"#)
  }

  @Test func `a number that JSON cannot write is null`() {
    #expect(text([.double(.infinity), .double(.nan), .double(0.5)]) == "[null,null,0.5]")
  }
}
