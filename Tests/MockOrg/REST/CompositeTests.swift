import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg
import TestSupport

@Suite struct CompositeTests {
  private let createAccount =
    #"{"method":"POST","url":"/services/data/v66.0/sobjects/Account","referenceId":"A","body":{"Name":"Q\"uote"}}"#

  @Test(.covers("MS-226"))
  func `a later request takes the id that an earlier one made`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite",
      #"""
      {"compositeRequest":[\#(createAccount),
      {"method":"POST","url":"/services/data/v66.0/sobjects/Contact","referenceId":"C",
       "body":{"LastName":"x","AccountId":"@{A.id}"}},
      {"method":"GET","url":"/services/data/v66.0/query?q=SELECT+Id+FROM+Contact","referenceId":"Q"},
      {"method":"GET","url":"/services/data/v66.0/sobjects/Contact/@{Q.records[0].Id}?fields=AccountId",
       "referenceId":"G"}]}
      """#)
    #expect(reply.status == 200)
    let answers = reply.json?["compositeResponse"]
    #expect(answers?.elements.map { $0["httpStatusCode"]?.int64 } == [201, 201, 200, 200])
    #expect(answers?[0]?["referenceId"]?.string == "A")
    #expect(
      answers?[0]?["httpHeaders"]?["Location"]?.string?.hasSuffix(
        "/Account/\(answers?[0]?["body"]?["id"]?.string ?? "-")") == true)
    #expect(answers?[3]?["body"]?["AccountId"]?.string == answers?[0]?["body"]?["id"]?.string)
  }

  @Test func `with allOrNone a failure undoes all and halts the rest`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite",
      #"""
      {"allOrNone":true,"compositeRequest":[\#(createAccount),
      {"method":"POST","url":"/services/data/v66.0/sobjects/Contact","referenceId":"C","body":{}},
      {"method":"GET","url":"/services/data/v66.0/limits","referenceId":"L"}]}
      """#)
    let answers = reply.json?["compositeResponse"]
    let codes = answers?.elements.map { $0["body"]?[0]?["errorCode"]?.string }
    #expect(codes == ["PROCESSING_HALTED", "REQUIRED_FIELD_MISSING", "PROCESSING_HALTED"])
    #expect(answers?[0]?["httpStatusCode"]?.int64 == 400)
    #expect(
      answers?[0]?["body"]?[0]?["message"]?.string
        == "The transaction was rolled back since another operation in the same transaction failed."
    )
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `without allOrNone only what refers to a failure fails with it`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite",
      #"""
      {"compositeRequest":[
      {"method":"POST","url":"/services/data/v66.0/sobjects/Contact","referenceId":"C","body":{}},
      {"method":"GET","url":"/services/data/v66.0/sobjects/Contact/@{C.id}","referenceId":"G"},
      \#(createAccount)]}
      """#)
    let statuses = reply.json?["compositeResponse"]?.elements.map { $0["httpStatusCode"]?.int64 }
    #expect(statuses == [400, 400, 201])
    #expect(
      reply.json?["compositeResponse"]?[1]?["body"]?[0]?["errorCode"]?.string
        == "PROCESSING_HALTED")
  }

  @Test func `a composite request has unique names and at most 25 parts`() async throws {
    let org = try OrgUnderTest()
    let twice = await org.send(
      "POST", "/composite", #"{"compositeRequest":[\#(createAccount),\#(createAccount)]}"#)
    #expect(twice.status == 400)
    let many = (0..<26).map {
      #"{"method":"GET","url":"/services/data/v66.0/limits","referenceId":"r\#($0)"}"#
    }
    let reply = await org.send(
      "POST", "/composite", #"{"compositeRequest":[\#(many.joined(separator: ","))]}"#)
    #expect(reply.status == 400)
    let answer = reply.json?["compositeResponse"]?[0]
    #expect(answer?["body"]?[0]?["errorCode"]?.string == "LIMIT_EXCEEDED")
    #expect(
      answer?["body"]?[0]?["message"]?.string
        == "The request can’t contain more than 25 operations."
    )
    #expect(answer?["referenceId"]?.isNull == true)
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `at most five parts are queries or collections`() async throws {
    let org = try OrgUnderTest()
    func send(_ count: Int) async -> OrgUnderTest.Reply {
      let parts = (0..<count).map {
        let path = $0.isMultiple(of: 2) ? "query?q=SELECT+Id+FROM+Account" : "composite/sobjects"
        return
          #"{"method":"GET","url":"/services/data/v66.0/\#(path)","referenceId":"r\#($0)"}"#
      }
      return await org.send(
        "POST", "/composite", #"{"compositeRequest":[\#(parts.joined(separator: ","))]}"#)
    }
    #expect(await send(5).status == 200)
    let six = await send(6)
    #expect(six.status == 400)
    #expect(
      six.json?["compositeResponse"]?[0]?["body"]?[0]?["errorCode"]?.string == "LIMIT_EXCEEDED")
  }

  @Test(arguments: ["Accept", "authorization", "Content-Type"])
  func `a part has no headers that it inherits`(name: String) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite",
      #"""
      {"compositeRequest":[{"method":"GET","url":"/services/data/v66.0/limits","referenceId":"L",
      "httpHeaders":{"\#(name)":"x"}}]}
      """#)
    #expect(reply.status == 400)
    #expect(reply.errorCode == "INVALID_INPUT")
  }

  @Test(arguments: [true, false])
  func `a record of a collection that fails undoes a composite request that is all or none`(
    allOrNone: Bool
  ) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite",
      #"""
      {"allOrNone":\#(allOrNone),"compositeRequest":[\#(createAccount),
      {"method":"POST","url":"/services/data/v66.0/composite/sobjects","referenceId":"R","body":
      {"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Name":"x"},
      {"attributes":{"type":"Account"}}]}}]}
      """#)
    let answers = reply.json?["compositeResponse"]
    let codes = answers?[1]?["body"]?.elements.map { $0["errors"]?[0]?["statusCode"]?.string }
    if allOrNone {
      #expect(answers?[0]?["body"]?[0]?["errorCode"]?.string == "PROCESSING_HALTED")
      #expect(codes == ["ALL_OR_NONE_OPERATION_ROLLED_BACK", "REQUIRED_FIELD_MISSING"])
      #expect(try await org.org.count("Account") == 0)
    } else {
      #expect(answers?[0]?["httpStatusCode"]?.int64 == 201)
      #expect(codes == [nil, "REQUIRED_FIELD_MISSING"])
      #expect(try await org.org.count("Account") == 2)
    }
  }

  @Test func `a batch runs on after an error unless it asks to halt`() async throws {
    let org = try OrgUnderTest()
    func body(halt: Bool) -> String {
      #"""
      {"haltOnError":\#(halt),"batchRequests":[{"method":"GET","url":"v66.0/sobjects/Nope"},
      {"method":"POST","url":"v66.0/sobjects/Account","richInput":{"Name":"b"}}]}
      """#
    }
    let on = await org.send("POST", "/composite/batch", body(halt: false))
    #expect(on.json?["hasErrors"]?.bool == true)
    #expect(on.json?["results"]?.elements.map { $0["statusCode"]?.int64 } == [404, 201])
    let halted = await org.send("POST", "/composite/batch", body(halt: true))
    #expect(halted.json?["results"]?.elements.map { $0["statusCode"]?.int64 } == [404, 412])
    #expect(try await org.org.count("Account") == 1)
  }

  @Test func `a tree is created with its children, or not at all`() async throws {
    let org = try OrgUnderTest()
    func body(_ child: String) -> String {
      #"""
      {"records":[{"attributes":{"type":"Account","referenceId":"a"},"Name":"A","Contacts":{"records":[
      {"attributes":{"type":"Contact","referenceId":"c"},\#(child)}]}}]}
      """#
    }
    let made = await org.send("POST", "/composite/tree/Account", body(#""LastName":"x""#))
    #expect(made.status == 201)
    #expect(made.json?["results"]?.elements.map { $0["referenceId"]?.string } == ["a", "c"])
    let contacts = try await org.org.query("SELECT Account.Name FROM Contact")
    #expect(contacts.first?["Account"]?["Name"]?.string == "A")
    let failed = await org.send("POST", "/composite/tree/Account", body(#""FirstName":"x""#))
    #expect(failed.status == 400)
    #expect(failed.json?["hasErrors"]?.bool == true)
    #expect(failed.json?["results"]?[0]?["referenceId"]?.string == "c")
    #expect(try await org.org.count("Account") == 1)
  }

  @Test(arguments: [
    #"{"attributes":{"type":"Account","referenceId":"a"},"Name":"B"}"#,
    #"{"attributes":{"type":"Account"},"Name":"B"}"#,
  ])
  func `records of a tree have names of their own`(second: String) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite/tree/Account",
      #"{"records":[{"attributes":{"type":"Account","referenceId":"a"},"Name":"A"},\#(second)]}"#)
    #expect(reply.status == 400)
    #expect(
      reply.json?["results"]?[0]?["errors"]?[0]?["statusCode"]?.string == "INVALID_INPUT")
    #expect(try await org.org.count("Account") == 0)
  }
}
