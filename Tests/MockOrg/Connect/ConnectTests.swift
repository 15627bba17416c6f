import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg
import TestSupport

@Suite struct ConnectTests {
  @Test(.covers("CO-139"))
  func `a device registers for pushes, again, and takes itself off`() async throws {
    let org = try OrgUnderTest()
    let body =
      #"{"ConnectionToken":"0a1b","ServiceType":"Apple","ApplicationBundle":"com.example.app","CipherName":"RSA_OAEP_SHA256"}"#
    let made = await org.send("POST", "/sobjects/MobilePushServiceDevice", body)
    #expect(made.status == 201)
    let again = await org.send("POST", "/sobjects/MobilePushServiceDevice", body)
    #expect(again.status == 201)
    let path = "/sobjects/MobilePushServiceDevice/\(made.id)"
    #expect(await org.send("DELETE", path).status == 204)
    let wrong = await org.send(
      "POST", "/sobjects/MobilePushServiceDevice", #"{"ConnectionToken":"x","ServiceType":"Pager"}"#
    )
    #expect(wrong.errorCode == "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")
  }

  // MARK: Briefcase

  @Test(.covers("CO-134"))
  func `priming records come page by page, by object and record type`() async throws {
    let org = try OrgUnderTest()
    try await org.org.generate("Account", count: 2100)
    try await org.made("Contact", ["LastName": "x"])
    org.org.briefcase = [
      MockOrgBriefcaseRule(object: "Account", limit: 5000),
      MockOrgBriefcaseRule(object: "Contact", condition: "LastName = 'x'"),
      MockOrgBriefcaseRule(object: "Contact", condition: "Nope = 1"),
    ]
    let first = await org.send("GET", "/connect/briefcase/priming-records")
    let records = first.json?["primingRecords"]?["Account"]?["012000000000000AAA"]
    #expect(records?.count == 2000)
    #expect(records?[0]?["systemModstamp"]?.string == "2026-05-15T12:00:00.000Z")
    #expect(first.json?["ruleErrors"]?.count == 1)
    #expect(first.json?["stats"]?["recordCountTotal"]?.int64 == 2101)
    #expect(first.json?["stats"]?["ruleCountServed"]?.int64 == 2)
    let token = try #require(first.json?["relayToken"]?.string)
    let second = await org.send("GET", "/connect/briefcase/priming-records?relayToken=\(token)")
    #expect(second.json?["primingRecords"]?["Contact"]?["012000000000000AAA"]?.count == 1)
    #expect(second.json?["relayToken"]?.isNull == true)
    let none = await org.send(
      "GET", "/connect/briefcase/priming-records?changedAfterTimestamp=2026-05-15T12:00:00.000Z")
    #expect(none.json?["stats"]?["recordCountTotal"]?.int64 == 0)
    let bad = await org.send("GET", "/connect/briefcase/priming-records?relayToken=zzz")
    #expect(bad.errorCode == "INVALID_RELAY_TOKEN")
  }

  // MARK: Analytics

  @Test(.covers("CA-42"))
  func `published log lines are kept with their user, all of a request or none`() async throws {
    let org = try OrgUnderTest()
    let path = "/connect/proxy/app-analytics-logging"
    let line =
      #"{"code":"ailtn","data":{"schemaType":"LightningError","payload":"{\"eventSource\":\"n\"}"}}"#
    #expect(await org.send("POST", path, #"{"logLines":[\#(line),\#(line)]}"#).status == 204)
    #expect(await org.send("POST", path, #"{"logLines":[]}"#).status == 204)
    for (body, code) in [
      (#"{"lines":[]}"#, "MISSING_ARGUMENT"), (#"{"logLines":{}}"#, "MISSING_ARGUMENT"),
      (
        #"{"logLines":[\#(line),{"code":"ailtn","data":{"schemaType":"E","payload":"x"}}]}"#,
        "INVALID_INPUT"
      ),
      (#"{"logLines":[{"code":"ailtn","data":{"schemaType":"E","payload":{}}}]}"#, "INVALID_INPUT"),
      (#"{"logLines":[{"data":{"schemaType":"E","payload":"{}"}}]}"#, "INVALID_INPUT"),
      (#"[]"#, "JSON_PARSER_ERROR"), ("{", "JSON_PARSER_ERROR"),
    ] {
      let refused = await org.send("POST", path, body)
      #expect(refused.status == 400 && refused.errorCode == code, "\(body)")
    }
    #expect(await org.send("GET", path).status == 405)
    let lines = org.org.analyticsLines
    #expect(lines.map(\.number) == [1, 2] && lines.allSatisfy { $0.userID == org.org.userID })
    #expect(lines.first?.payload == ["eventSource": "n"])
    #expect(lines.first?.code == "ailtn" && lines.first?.schemaType == "LightningError")
    org.org.clearAnalyticsLines()
    #expect(org.org.analyticsLines.isEmpty)
  }

  // MARK: Notifications

  @Test(.covers("CO-134"))
  func `notifications are listed, counted and marked`() async throws {
    let org = try OrgUnderTest()
    let first = org.org.notify(MockOrgNotification(title: "one", body: "1"))
    org.clock.advance(by: .seconds(60))
    let second = org.org.notify(
      MockOrgNotification(
        title: "two", body: "2", actions: [.init(key: "approve", label: "Approve")]))
    let list = await org.send("GET", "/connect/notifications")
    #expect(
      list.json?["notifications"]?.elements.compactMap { $0["id"]?.string } == [second, first])
    let before = await org.send("GET", "/connect/notifications?before=2026-05-15T12:00:30Z&size=5")
    #expect(before.json?["notifications"]?[0]?["messageTitle"]?.string == "one")
    let status = await org.send("GET", "/connect/notifications/status")
    #expect(status.json?["unreadCount"]?.int64 == 2)
    let read = await org.send("PATCH", "/connect/notifications/\(first)", #"{"read":true}"#)
    #expect(read.json?["read"]?.bool == true && read.json?["seen"]?.bool == true)
    let seen = await org.send(
      "PATCH", "/connect/notifications", #"{"notificationIds":["\#(second)"],"seen":"true"}"#)
    #expect(seen.json?["notifications"]?[0]?["seen"]?.bool == true)
    #expect(
      await org.send("GET", "/connect/notifications/status").json?["unseenCount"]?.int64 == 0)
    let types = await org.send("GET", "/connect/notifications/types")
    #expect(
      types.json?["notificationTypes"]?[0]?["actionGroups"]?[0]?["actions"]?[0]?["actionKey"]?
        .string
        == "approve")
    let done = await org.send("POST", "/connect/notifications/\(second)/actions/approve")
    #expect(done.status == 200)
    #expect(await org.send("POST", "/connect/notifications/\(second)/actions/x").status == 404)
    #expect(await org.send("GET", "/connect/notifications?size=99").status == 400)
    let old = await org.raw(
      "GET", "/services/data/v63.0/connect/notifications/types", nil,
      headers: ["authorization": "Bearer \(org.token)"])
    #expect(old.status == 404)
  }

  // MARK: Files

  private func upload(
    _ org: OrgUnderTest, _ path: String, title: String, content: String
  ) async -> OrgUnderTest.Reply {
    let body = [
      "--X", "Content-Disposition: form-data; name=\"json\"",
      "Content-Type: application/json; charset=UTF-8", "", #"{"title":"\#(title)","desc":"d"}"#,
      "--X", "Content-Disposition: form-data; name=\"fileData\"; filename=\"a \\\"b\\\".txt\"",
      "Content-Type: text/plain", "", content, "--X--", "",
    ].joined(separator: "\r\n")
    return await org.send(
      "POST", path, body, headers: ["content-type": "multipart/form-data; boundary=X"])
  }

  @Test(.covers("CO-136"))
  func `a file is uploaded, listed, read and given a new version`() async throws {
    let org = try OrgUnderTest()
    let file = await upload(org, "/connect/files/users/me", title: "Note", content: "line\r\nline")
    #expect(file.status == 201, "\(file.text)")
    #expect(file.id.hasPrefix("069"))
    #expect(file.json?["contentSize"]?.int64 == 10)
    #expect(file.json?["mimeType"]?.string == "text/plain")
    let content = await org.send("GET", "/connect/files/\(file.id)/content")
    #expect(content.text == "line\r\nline")
    let second = await upload(org, "/connect/files/\(file.id)", title: "Note", content: "new")
    #expect(second.json?["versionNumber"]?.string == "2")
    let old = await org.send("GET", "/connect/files/\(file.id)/content?versionNumber=1")
    #expect(old.text == "line\r\nline")
    let list = await org.send("GET", "/connect/files/users/me?page=0")
    #expect(list.json?["files"]?.count == 1)
    #expect(list.json?["files"]?[0]?["versionNumber"]?.string == "2")
    let batch = await org.send("GET", "/connect/files/batch/\(file.id),069000000000000AAA")
    #expect(batch.json?["hasErrors"]?.bool == true)
    let picture = await org.send("GET", "/connect/files/\(file.id)/rendition?type=THUMB120BY90")
    #expect(picture.status == 200)
    #expect(await org.send("GET", "/connect/files/\(file.id)/rendition?type=PDF").status == 404)
    #expect(
      await org.send("GET", "/connect/files/users/me/filter/groups").json?["files"]?.count == 0)
    #expect(await org.send("DELETE", "/connect/files/\(file.id)").status == 204)
    #expect(await org.send("GET", "/connect/files/\(file.id)").status == 404)
  }

  @Test(.covers("CO-136"))
  func `a file is shared with a record and the share taken back`() async throws {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "x"])
    let file = await upload(org, "/connect/files/users/me", title: "Note", content: "x")
    let share = await org.send(
      "POST", "/sobjects/ContentDocumentLink",
      #"{"ContentDocumentId":"\#(file.id)","LinkedEntityId":"\#(account)","ShareType":"V"}"#)
    #expect(share.status == 201)
    let shares = await org.send("GET", "/connect/files/\(file.id)/file-shares")
    #expect(shares.json?["shares"]?.count == 2)
    #expect(shares.json?["shares"]?[1]?["entity"]?["id"]?.string == account)
    #expect(await org.send("DELETE", "/sobjects/ContentDocumentLink/\(share.id)").status == 204)
    let links = try await org.org.query(
      "SELECT Id FROM ContentDocumentLink WHERE ContentDocumentId = '\(file.id)'")
    #expect(links.count == 1)
  }

  @Test func `a blob is a resource of its own`() async throws {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "x"])
    let body = Data("bytes".utf8).base64EncodedString()
    let made = await org.send(
      "POST", "/sobjects/Attachment",
      #"{"ParentId":"\#(account)","Name":"a.txt","Body":"\#(body)"}"#)
    #expect(made.status == 201, "\(made.text)")
    let record = await org.send("GET", "/sobjects/Attachment/\(made.id)")
    let url = "/services/data/v66.0/sobjects/Attachment/\(made.id)/Body"
    #expect(record.json?["Body"]?.string == url)
    let bytes = await org.raw("GET", url, nil, headers: ["authorization": "Bearer \(org.token)"])
    #expect(bytes.text == "bytes")
    let multipart = [
      "--Y", "Content-Disposition: form-data; name=\"entity_content\";",
      "Content-Type: application/json", "",
      #"{"Title":"T","PathOnClient":"t.bin"}"#, "--Y",
      "Content-Disposition: form-data; name=\"VersionData\"; filename=\"t.bin\"",
      "Content-Type: application/octet-stream", "", "raw", "--Y--", "",
    ].joined(separator: "\r\n")
    let version = await org.send(
      "POST", "/sobjects/ContentVersion", multipart,
      headers: ["content-type": "multipart/form-data; boundary=\"Y\""])
    #expect(version.status == 201, "\(version.text)")
    let data = await org.send("GET", "/sobjects/ContentVersion/\(version.id)/VersionData")
    #expect(data.text == "raw")
    let documents = try await org.org.query(
      "SELECT ContentDocument.LatestPublishedVersionId, IsLatest, ContentSize FROM ContentVersion")
    #expect(
      documents[0]["ContentDocument"]?["LatestPublishedVersionId"]?.string == version.id)
    #expect(documents[0]["ContentSize"]?.int64 == 3)
  }

  @Test func `a relationship is a path too`() async throws {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "A"])
    let contact = try await org.made("Contact", ["LastName": "C", "AccountId": .string(account)])
    let parent = await org.send("GET", "/sobjects/Contact/\(contact)/Account?fields=Name")
    #expect(parent.json?["Name"]?.string == "A")
    let children = await org.send("GET", "/sobjects/Account/\(account)/Contacts?fields=LastName")
    #expect(children.json?["records"]?[0]?["LastName"]?.string == "C")
    #expect(await org.send("GET", "/sobjects/Account/\(account)/Nothing").status == 404)
  }

  @Test func `graphs succeed and fail each by itself`() async throws {
    let org = try OrgUnderTest()
    func graph(_ id: String, _ contact: String) -> String {
      #"""
      {"graphId":"\#(id)","compositeRequest":[
      {"method":"POST","url":"/services/data/v66.0/sobjects/Account","referenceId":"a","body":{"Name":"\#(id)"}},
      {"method":"POST","url":"/services/data/v66.0/sobjects/Contact","referenceId":"c",
      "body":{\#(contact),"AccountId":"@{a.id}"}}]}
      """#
    }
    let body =
      "{\"graphs\":[\(graph("good", #""LastName":"x""#)),\(graph("bad", #""FirstName":"x""#))]}"
    let reply = await org.send("POST", "/composite/graph", body)
    #expect(reply.status == 200, "\(reply.text)")
    let graphs = try #require(reply.json?["graphs"])
    #expect(graphs[0]?["isSuccessful"]?.bool == true)
    #expect(graphs[1]?["isSuccessful"]?.bool == false)
    let failed = graphs[1]?["graphResponse"]?["compositeResponse"]
    #expect(failed?[0]?["body"]?[0]?["errorCode"]?.string == "PROCESSING_HALTED")
    #expect(failed?[1]?["body"]?[0]?["errorCode"]?.string == "REQUIRED_FIELD_MISSING")
    let names = try await org.org.query("SELECT Account.Name FROM Contact")
    #expect(names.count == 1)
    #expect(try await org.org.count("Account") == 1)
    #expect(await org.send("POST", "/composite/graph", #"{"graphs":[]}"#).status == 400)
  }
}
