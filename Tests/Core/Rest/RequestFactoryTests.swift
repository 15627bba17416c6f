import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing
import TestSupport

/// Each factory against its exact method, path, query, header fields and body.
@Suite struct RequestFactoryTests {
  private func expect(
    _ request: RestRequest, _ method: HTTPRequest.Method, _ target: String, body: String? = nil,
    headers: [String: String] = [:], sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    #expect(request.method == method, sourceLocation: sourceLocation)
    #expect(request.target() == target, sourceLocation: sourceLocation)
    #expect(request.body.map { text($0) } == body, sourceLocation: sourceLocation)
    var all = headers
    if body != nil { all["Content-Type"] = "application/json" }
    let fields = Dictionary(
      uniqueKeysWithValues: request.headers.map { ($0.name.rawName, $0.value) })
    #expect(fields == all, sourceLocation: sourceLocation)
  }

  @Test(.covers("CO-131.1", "BX-55", "BX-25"))
  func `resources and descriptions`() {
    expect(.versions(), .get, "/services/data/")
    #expect(!RestRequest.versions().requiresAuthentication)
    expect(.resources(), .get, "/services/data/v66.0")
    expect(.resources(version: "v60.0"), .get, "/services/data/v60.0")
    expect(.describeGlobal(), .get, "/services/data/v66.0/sobjects")
    expect(.metadata(object: "Account"), .get, "/services/data/v66.0/sobjects/Account")
    expect(.describe(object: "Account"), .get, "/services/data/v66.0/sobjects/Account/describe")
    expect(.limits(apiVersion: "v59.0"), .get, "/services/data/v59.0/limits")
    expect(.userInfo(), .get, "/services/oauth2/userinfo")
    #expect(RestRequest.userInfo().host == .login)
  }

  @Test(.covers("CO-131.1", "BX-40"))
  func `queries carry their text encoded and their batch size clamped`() {
    let soql = "SELECT Id FROM Account WHERE Name = 'a&b+c'\nLIMIT 1"
    let encoded =
      "SELECT%20Id%20FROM%20Account%20WHERE%20Name%20%3D%20%27a%26b%2Bc%27%0ALIMIT%201"
    expect(.query(soql), .get, "/services/data/v66.0/query?q=\(encoded)")
    expect(.queryAll(soql), .get, "/services/data/v66.0/queryAll?q=\(encoded)")
    for (asked, sent) in [(500, 500), (1, 200), (-5, 200), (1999, 1999)] {
      expect(
        .query("SELECT Id FROM A", batchSize: asked), .get,
        "/services/data/v66.0/query?q=SELECT%20Id%20FROM%20A",
        headers: ["Sforce-Query-Options": "batchSize=\(sent)"])
    }
    for asked in [2000, 5000] {
      expect(
        .query("SELECT Id FROM A", batchSize: asked), .get,
        "/services/data/v66.0/query?q=SELECT%20Id%20FROM%20A")
    }
    expect(
      .queryMore(nextRecordsURL: "/services/data/v60.0/query/01gD0000002HU6KIAW-2000"), .get,
      "/services/data/v60.0/query/01gD0000002HU6KIAW-2000")
    expect(.search("FIND {x}"), .get, "/services/data/v66.0/search?q=FIND%20%7Bx%7D")
  }

  @Test(.covers("CO-131.1", "BX-41"))
  func `records, with what is odd in a path encoded`() throws {
    let place = "/services/data/v66.0/sobjects/Account"
    expect(.retrieve(object: "Account", id: "001A"), .get, "\(place)/001A")
    expect(
      .retrieve(object: "Account", id: "001A", fields: ["Id", "Owner.Name"]), .get,
      "\(place)/001A?fields=Id%2COwner.Name")
    expect(
      .create(object: "Account", fields: ["Name": "Acme", "Size": 12]), .post, place,
      body: #"{"Name":"Acme","Size":12}"#)
    expect(
      .update(object: "Account", id: "001A", fields: ["Name": nil]), .patch, "\(place)/001A",
      body: #"{"Name":null}"#)
    expect(
      try .upsert(object: "Account", externalIdField: "Key__c", externalId: "a/b c", fields: [:]),
      .patch, "\(place)/Key__c/a%2Fb%20c", body: "{}")
    expect(
      try .upsert(object: "Account", externalIdField: "Key__c", externalId: nil, fields: ["A": 1]),
      .post, "\(place)/Key__c/", body: #"{"A":1}"#)
    expect(.delete(object: "Account", id: "001A"), .delete, "\(place)/001A")
  }

  @Test(.covers("CO-131.2"))
  func `object names and ids are encoded wherever they stand in a path`() throws {
    let object = "A/b c", id = "1/../2 ?#"
    let place = "/services/data/v66.0/sobjects/A%2Fb%20c", encodedId = "1%2F..%2F2%20%3F%23"
    expect(.metadata(object: object), .get, place)
    expect(.describe(object: object), .get, "\(place)/describe")
    expect(.retrieve(object: object, id: id), .get, "\(place)/\(encodedId)")
    expect(.create(object: object, fields: [:]), .post, place, body: "{}")
    expect(
      .update(object: object, id: id, fields: [:]), .patch, "\(place)/\(encodedId)", body: "{}")
    expect(.delete(object: object, id: id), .delete, "\(place)/\(encodedId)")
    expect(
      try .upsert(object: object, externalIdField: "K/c", externalId: id, fields: [:]), .patch,
      "\(place)/K%2Fc/\(encodedId)", body: "{}")
  }

  @Test(.covers("CO-131.1", "BX-41"))
  func `an update may be made conditional, in English and GMT`() {
    expect(
      .update(
        object: "A", id: "1", fields: ["B": 1],
        ifUnmodifiedSince: SalesforceDate(milliseconds: 784_111_777_123)),
      .patch, "/services/data/v66.0/sobjects/A/1", body: #"{"B":1}"#,
      headers: ["If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"])
  }

  @Test(.covers("CO-131.1"))
  func `an upsert whose fields hold the external id is refused here`() {
    #expect {
      _ = try RestRequest.upsert(
        object: "A", externalIdField: "Key__c", externalId: "1", fields: ["Key__c": "1"])
    } throws: {
      ($0 as? RestError)?.code == .invalidRequest
    }
  }

  @Test func `numbers and order of fields are sent as they were written`() throws {
    let json = try JSONSlice(parsing: #"{"z": 1.10, "a":12345678901234567890, "é":"\u00e9"}"#)
    #expect(text(try RestFields(json).json.utf8.map(\.self)) == json.description)
    let request = RestRequest.create(object: "A", fields: try RestFields(json))
    #expect(text(request.body) == json.description)
  }

  @Test func `fields that are no object are refused`() {
    for wrong in ["[1]", "1", "null", "{", ""] {
      #expect(throws: RestError.self) { try RestFields(jsonText: Array(wrong.utf8)) }
    }
    #expect(throws: RestError.self) { try RestFields(JSONValue.array([])) }
    #expect(throws: RestError.self) { try RestFields(["x": .double(.nan)] as JSONObject) }
  }

  @Test(.covers("CO-133.1", "BX-37.1"))
  func `collections, in their five forms`() throws {
    let place = "/services/data/v66.0/composite/sobjects"
    expect(
      try .collectionCreate([
        RestRecord(object: "Account", fields: ["Name": "A"]),
        RestRecord(object: "Contact", fields: [:]),
      ]), .post, place,
      body: #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Name":"A"},"#
        + #"{"attributes":{"type":"Contact"}}]}"#)
    expect(
      try .collectionUpdate(
        [RestRecord(object: "Account", fields: ["id": "001A", "Name": "B"])], allOrNone: true),
      .patch, place,
      body: #"{"allOrNone":true,"records":[{"attributes":{"type":"Account"},"id":"001A","#
        + #""Name":"B"}]}"#)
    expect(
      try .collectionUpsert(
        object: "Account", externalIdField: "Key__c", [["Key__c": "1"]]), .patch,
      "\(place)/Account/Key__c",
      body: #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Key__c":"1"}]}"#)
    expect(
      try .collectionDelete(ids: ["001A", "001B"]), .delete,
      "\(place)?allOrNone=false&ids=001A%2C001B")
    expect(
      try .collectionRetrieve(object: "Account", ids: ["001A"], fields: ["Id", "Name"]), .post,
      "\(place)/Account", body: #"{"ids":["001A"],"fields":["Id","Name"]}"#)
  }

  @Test(.covers("CO-133.1"))
  func `attributes that a record already has are replaced`() throws {
    let fields = try RestFields(
      jsonText: Array(#"{"attributes":{"type":"X","url":"/u"},"id":"1","N":1.0}"#.utf8))
    let request = try RestRequest.collectionUpdate([RestRecord(object: "A", fields: fields)])
    #expect(
      text(request.body)
        == #"{"allOrNone":false,"records":[{"attributes":{"type":"A"},"id":"1","N":1.0}]}"#)
  }

  @Test(.covers("CO-133.1", "BX-37.1", "BX-52.3"))
  func `more records than the server takes are refused here`() throws {
    let record = RestRecord(object: "A", fields: ["id": "1"])
    let many = Array(repeating: record, count: 201)
    let ids = Array(repeating: "1", count: 2001)
    func steps(_ count: Int) -> [CompositeSubrequest] {
      (0..<count).map { CompositeSubrequest(referenceId: "ref\($0)", .limits()) }
    }
    _ = try RestRequest.composite(steps(25))
    _ = try RestRequest.compositeBatch(Array(repeating: .limits(), count: 25))
    _ = try RestRequest.collectionCreate(Array(many.dropLast()))
    _ = try RestRequest.collectionRetrieve(object: "A", ids: ids.dropLast(), fields: [])
    let calls: [() throws -> RestRequest] = [
      { try .collectionCreate(many) }, { try .collectionUpdate(many) },
      {
        try .collectionUpsert(object: "A", externalIdField: "K", many.map(\.fields))
      },
      { try .collectionDelete(ids: Array(ids.prefix(201))) },
      { try .collectionRetrieve(object: "A", ids: ids, fields: []) },
      { try .compositeBatch(Array(repeating: .limits(), count: 26)) },
      { try .composite(steps(26)) },
    ]
    for call in calls {
      #expect {
        _ = try call()
      } throws: {
        ($0 as? RestError)?.code == .tooManyRecords
      }
    }
    #expect(throws: RestError.self) {
      try RestRequest.collectionUpdate([RestRecord(object: "A", fields: [:])])
    }
  }
}
