import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing
import TestSupport

/// CO-132: composite, batch and tree, there and back.
@Suite struct CompositeTests {
  @Test(.covers("CO-132"))
  func `steps keep their order, their header fields and their references`() throws {
    var conditional = RestRequest.update(
      object: "Account", id: "@{ref1.id}", fields: ["A": "@{ref1.x}"])
    conditional.headers[.ifUnmodifiedSince] = "Sun, 06 Nov 1994 08:49:37 GMT"
    let request = try RestRequest.composite(
      [
        CompositeSubrequest(
          referenceId: "ref1", .create(object: "Account", fields: ["Name": "A"])),
        CompositeSubrequest(referenceId: "ref2", conditional),
        CompositeSubrequest(referenceId: "ref3", .query("SELECT Id FROM A WHERE B='@{ref1.id}'")),
        CompositeSubrequest(referenceId: "ref4", .delete(object: "A", id: "@{other.id}")),
      ], allOrNone: true, apiVersion: "v60.0")
    #expect(request.method == .post)
    #expect(request.target() == "/services/data/v60.0/composite")
    #expect(
      text(request.body) == #"{"allOrNone":true,"compositeRequest":["#
        + #"{"referenceId":"ref1","method":"POST","url":"/services/data/v60.0/sobjects/Account","#
        + #""body":{"Name":"A"}},"#
        + #"{"referenceId":"ref2","method":"PATCH","#
        + #""url":"/services/data/v60.0/sobjects/Account/@{ref1.id}","#
        + #""body":{"A":"@{ref1.x}"},"#
        + #""httpHeaders":{"If-Unmodified-Since":"Sun, 06 Nov 1994 08:49:37 GMT"}},"#
        + #"{"referenceId":"ref3","method":"GET","#
        + #""url":"/services/data/v60.0/query?q=SELECT%20Id%20FROM%20A%20WHERE%20B%3D%27"#
        + #"@{ref1.id}%27"},"#
        + #"{"referenceId":"ref4","method":"DELETE","#
        + #""url":"/services/data/v60.0/sobjects/A/%40%7Bother.id%7D"}]}"#)
  }

  @Test(.covers("CO-132"))
  func `a reference id that stands twice is refused here`() {
    let step = CompositeSubrequest(referenceId: "a", .limits())
    #expect {
      _ = try RestRequest.composite([step, step])
    } throws: {
      ($0 as? RestError)?.code == .invalidRequest
    }
  }

  @Test(.covers("CO-132"))
  func `a batch names its requests relative to the endpoint`() throws {
    let request = try RestRequest.compositeBatch(
      [.limits(), .update(object: "A", id: "1", fields: ["B": 2])], haltOnError: true)
    #expect(request.target() == "/services/data/v66.0/composite/batch")
    #expect(
      text(request.body) == #"{"haltOnError":true,"batchRequests":["#
        + #"{"method":"GET","url":"v66.0/limits"},"#
        + #"{"method":"PATCH","url":"v66.0/sobjects/A/1","richInput":{"B":2}}]}"#)
  }

  @Test(.covers("CO-132"))
  func `a tree keeps children of any depth, grouped by relationship`() throws {
    let deep = TreeRecord(object: "Case", referenceId: "c1", fields: ["Subject": "S"])
    let request = try RestRequest.sObjectTree(
      object: "Account",
      [
        TreeRecord(
          object: "Account", referenceId: "a1", fields: ["Name": "A"],
          children: [
            .init(
              "Contacts",
              [
                TreeRecord(
                  object: "Contact", referenceId: "k1", fields: [:],
                  children: [.init("Cases", [deep])])
              ]),
            .init("Contacts", [TreeRecord(object: "Contact", referenceId: "k2", fields: [:])]),
          ]),
        TreeRecord(object: "Account", referenceId: "a2", fields: [:]),
      ])
    #expect(request.target() == "/services/data/v66.0/composite/tree/Account")
    #expect(
      text(request.body) == #"{"records":["#
        + #"{"attributes":{"type":"Account","referenceId":"a1"},"Name":"A","#
        + #""Contacts":{"records":[{"attributes":{"type":"Contact","referenceId":"k1"},"#
        + #""Cases":{"records":[{"attributes":{"type":"Case","referenceId":"c1"},"#
        + #""Subject":"S"}]}},"#
        + #"{"attributes":{"type":"Contact","referenceId":"k2"}}]}},"#
        + #"{"attributes":{"type":"Account","referenceId":"a2"}}]}"#)
    #expect(throws: RestError.self) {
      try RestRequest.sObjectTree(object: "Account", [deep])
    }
    #expect(throws: RestError.self) {
      try RestRequest.sObjectTree(object: "Case", [deep, deep])
    }
  }

  private func answer(_ json: String) -> RestResponse {
    RestResponse(status: 200, body: Array(json.utf8))
  }

  @Test(.covers("CO-132", "BX-52.1", "BX-52.2"))
  func `a composite response has each step's outcome`() throws {
    let response = try CompositeResponse(
      answer(
        #"{"compositeResponse":[{"body":{"id":"1"},"httpHeaders":{"Location":"/x"},"#
          + #""httpStatusCode":201,"referenceId":"a"},{"body":[{"errorCode":"E","message":"m"}],"#
          + #""httpStatusCode":400,"referenceId":"b"},{"body":null,"httpStatusCode":204,"#
          + #""referenceId":"c"}]}"#))
    #expect(response.parts.map(\.status) == [201, 400, 204])
    #expect(response["a"]?.body?["id"]?.string == "1")
    #expect(response["a"]?.headers?["Location"]?.string == "/x")
    #expect(response["b"]?.headers == nil)
    #expect(response["b"]?.isSuccess == false)
    #expect(response["b"]?.errors == [.init(errorCode: "E", message: "m")])
    #expect(response["c"]?.body == nil)
    #expect(response["d"] == nil)
  }

  @Test(.covers("CO-132", "BX-52.1"))
  func `a batch's response has each request's outcome`() throws {
    let response = try BatchResponse(
      answer(
        #"{"hasErrors":true,"results":[{"statusCode":204,"result":null},"#
          + #"{"statusCode":404,"result":[{"errorCode":"NOT_FOUND"}]}]}"#))
    #expect(response.hasErrors)
    #expect(response.parts.map(\.status) == [204, 404])
    #expect(response.parts[0].body == nil)
  }

  @Test(.covers("CO-133.1", "BX-37.1"))
  func `a collection's response has each record's outcome`() throws {
    let results = try CollectionResult.all(
      in: answer(
        #"[{"id":"1","success":true,"errors":[]},{"success":false,"errors":"#
          + #"[{"statusCode":"INVALID_FIELD","message":"m","fields":["A"]}]},"#
          + #"{"id":"2","success":true,"created":true,"errors":[]}]"#))
    #expect(results.map(\.success) == [true, false, true])
    #expect(results.map(\.id) == ["1", nil, "2"])
    #expect(
      results[1].errors == [.init(errorCode: "INVALID_FIELD", message: "m", fields: ["A"])])
    #expect(results[2].created == true)
  }

  @Test(.covers("CO-133.2", "BX-37.2"))
  func `a retrieved collection has nothing for a record that is not there`() throws {
    let records = try RetrievedCollection(
      answer(#"[{"Id":"1","Name":"a"},null,{"Id":"3","Name":null}]"#)
    ).records
    #expect(records.map { $0?["Id"]?.string } == ["1", nil, "3"])
    #expect(records[1] == nil && records[2]?["Name"]?.isNull == true)
    #expect(try RetrievedCollection(answer("[]")).records.isEmpty)
  }

  @Test(
    .covers("CO-132"),
    arguments: ["{}", "[]", "null", "[1]", #"{"compositeResponse":[{}]}"#, "{", ""])
  func `a response of another shape is a typed error`(json: String) {
    func fails(_ read: () throws -> some Any) -> Bool {
      do {
        _ = try read()
        return false
      } catch let error as RestError {
        return error.code == .malformedResponse || error.code == .emptyResponse
      } catch {
        return false
      }
    }
    #expect(fails { try CompositeResponse(answer(json)) })
    #expect(fails { try BatchResponse(answer(json)) })
    if json != "[]" {
      #expect(fails { try CollectionResult.all(in: answer(json)) })
      #expect(fails { try RetrievedCollection(answer(json)) })
    }
  }
}
