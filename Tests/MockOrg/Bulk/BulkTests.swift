import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct BulkTests {
  /// Makes a job, uploads a file and closes it.
  private func ingest(
    _ org: OrgUnderTest, _ job: String, _ csv: String
  ) async -> OrgUnderTest.Reply {
    let made = await org.send("POST", "/jobs/ingest", job)
    #expect(made.json?["state"]?.string == "Open", "\(made.text)")
    let upload = await org.send(
      "PUT", "/jobs/ingest/\(made.id)/batches", csv, headers: ["content-type": "text/csv"])
    #expect(upload.status == 201)
    let closed = await org.send("PATCH", "/jobs/ingest/\(made.id)", #"{"state":"UploadComplete"}"#)
    #expect(closed.json?["state"]?.string == "UploadComplete", "\(closed.text)")
    return await org.send("GET", "/jobs/ingest/\(made.id)")
  }

  @Test func `an ingest job tells what became of each row`() async throws {
    let org = try OrgUnderTest()
    let job = await ingest(
      org, #"{"object":"Contact","operation":"insert","contentType":"CSV","lineEnding":"LF"}"#,
      "LastName,Email,Birthdate\nOne,one@example.com,2001-02-03\nTwo,no,\n,x@example.com,\n"
        + "\"Thr\"\"ee, or so\",,#N/A\n")
    #expect(job.json?["state"]?.string == "JobComplete")
    #expect(job.json?["numberRecordsProcessed"]?.int64 == 4)
    #expect(job.json?["apiVersion"]?.description == "66.0")
    #expect(job.json?["numberRecordsFailed"]?.int64 == 2)
    #expect(try await org.org.count("Contact") == 2)
    let good = await org.send("GET", "/jobs/ingest/\(job.id)/successfulResults")
    let rows = try #require(CSV.rows(Array(good.text.utf8)))
    #expect(rows[0] == ["sf__Id", "sf__Created", "LastName", "Email", "Birthdate"])
    #expect(rows[1][0].hasPrefix("003") && rows[1][1] == "true")
    #expect(rows[2][2] == "Thr\"ee, or so")
    let bad = await org.send("GET", "/jobs/ingest/\(job.id)/failedResults")
    #expect(bad.text.contains("INVALID_EMAIL_ADDRESS:"))
    #expect(
      bad.text.contains(
        "REQUIRED_FIELD_MISSING:Required fields are missing: [LastName]:LastName --"))
    let left = await org.send("GET", "/jobs/ingest/\(job.id)/unprocessedrecords")
    #expect(left.text == "\"LastName\",\"Email\",\"Birthdate\"\n")
    #expect(await org.send("DELETE", "/jobs/ingest/\(job.id)").status == 204)
    #expect(await org.send("GET", "/jobs/ingest/\(job.id)").status == 404)
  }

  @Test func `update, upsert, delete and hard delete work on rows`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x", "Phone": "1"])
    let updated = await ingest(
      org, #"{"object":"Account","operation":"update"}"#, "Id,Phone\n\(id),#N/A\n001,2\n")
    #expect(updated.json?["numberRecordsFailed"]?.int64 == 1)
    let phone = await org.send("GET", "/sobjects/Account/\(id)?fields=Phone")
    #expect(phone.json?["Phone"]?.isNull == true)
    let upserted = await ingest(
      org, #"{"object":"Account","operation":"upsert","externalIdFieldName":"Id"}"#,
      "Id,Name\n\(id),y\n,z\n")
    #expect(upserted.json?["numberRecordsFailed"]?.int64 == 0)
    #expect(try await org.org.count("Account") == 2)
    _ = await ingest(org, #"{"object":"Account","operation":"hardDelete"}"#, "Id\n\(id)\n")
    let rows = try await org.org.query("SELECT Name FROM Account", includingDeleted: true)
    #expect(rows.compactMap { $0["Name"]?.string } == ["z"])
  }

  @Test func `a job that is wrong is refused or fails as a whole`() async throws {
    let org = try OrgUnderTest()
    for (body, code) in [
      (#"{"object":"Account","operation":"melt"}"#, "INVALIDJOB"),
      (#"{"object":"Nothing","operation":"insert"}"#, "INVALIDENTITY"),
      (#"{"object":"Account","operation":"upsert","externalIdFieldName":"Phone"}"#, "INVALIDJOB"),
      (#"{"object":"Account","operation":"insert","columnDelimiter":"DOT"}"#, "INVALIDJOB"),
    ] {
      let reply = await org.send("POST", "/jobs/ingest", body)
      #expect(reply.status == 400)
      #expect(reply.errorCode == code)
    }
    let failed = await ingest(
      org, #"{"object":"Account","operation":"insert"}"#, "Name,Nope\nx,y\n")
    #expect(failed.json?["state"]?.string == "Failed")
    #expect(failed.json?["errorMessage"]?.string?.contains("Nope") == true)
    let again = await org.send("PATCH", "/jobs/ingest/\(failed.id)", #"{"state":"Aborted"}"#)
    #expect(again.errorCode == "INVALIDJOBSTATE")
    let aborted = await org.send(
      "POST", "/jobs/ingest", #"{"object":"Account","operation":"insert"}"#)
    let state = await org.send("PATCH", "/jobs/ingest/\(aborted.id)", #"{"state":"Aborted"}"#)
    #expect(state.json?["state"]?.string == "Aborted")
    let list = await org.send("GET", "/jobs/ingest")
    #expect(list.json?["records"]?.count == 2)
  }

  @Test func `a file may come with its job and with other separators`() async throws {
    let org = try OrgUnderTest()
    let body = [
      "--B", "Content-Type: application/json", "Content-Disposition: form-data; name=\"job\"", "",
      #"{"object":"Account","operation":"insert","columnDelimiter":"PIPE","lineEnding":"CRLF"}"#,
      "--B", "Content-Type: text/csv",
      "Content-Disposition: form-data; name=\"content\"; filename=\"a.csv\"", "", "Name|Phone",
      "x|1", "--B--", "",
    ].joined(separator: "\r\n")
    let job = await org.send(
      "POST", "/jobs/ingest", body, headers: ["content-type": "multipart/form-data; boundary=B"])
    #expect(job.json?["state"]?.string == "UploadComplete", "\(job.text)")
    let results = await org.send("GET", "/jobs/ingest/\(job.id)/successfulResults")
    #expect(results.text.contains("\"x\"|\"1\"\r\n"))
  }

  @Test func `a query job gives its rows page by page`() async throws {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "A"])
    for name in ["Ann", "Ben", "Cid"] {
      try await org.made("Contact", ["LastName": .string(name), "AccountId": .string(account)])
    }
    let job = await org.send(
      "POST", "/jobs/query",
      #"{"operation":"query","query":"SELECT LastName, Account.Name, Email FROM Contact ORDER BY LastName"}"#
    )
    #expect(job.json?["state"]?.string == "UploadComplete", "\(job.text)")
    let done = await org.send("GET", "/jobs/query/\(job.id)")
    #expect(done.json?["numberRecordsProcessed"]?.int64 == 3)
    let first = await org.send("GET", "/jobs/query/\(job.id)/results?maxRecords=2")
    #expect(first.header("Sforce-NumberOfRecords") == "2")
    #expect(
      first.text
        == "\"LastName\",\"Account.Name\",\"Email\"\n\"Ann\",\"A\",\"\"\n\"Ben\",\"A\",\"\"\n")
    let locator = try #require(first.header("Sforce-Locator"))
    let second = await org.send(
      "GET", "/jobs/query/\(job.id)/results?maxRecords=2&locator=\(locator)")
    #expect(second.text.hasSuffix("\"Cid\",\"A\",\"\"\n"))
    #expect(second.header("Sforce-Locator") == "null")
    let pages = await org.send("GET", "/jobs/query/\(job.id)/resultPages")
    #expect(pages.json?["done"]?.bool == true && pages.json?["nextRecordsUrl"]?.isNull == true)
    let address = try #require(pages.json?["resultPages"]?[0]?["resultUrl"]?.string)
    #expect(address.hasPrefix("/services/data/v66.0/jobs/query/\(job.id)/results?"))
    let nested = await org.send(
      "POST", "/jobs/query",
      #"{"operation":"query","query":"SELECT Id, (SELECT Id FROM Contacts) FROM Account"}"#)
    #expect(nested.status == 400)
    let wrong = await org.send(
      "POST", "/jobs/query", #"{"operation":"query","query":"SELECT Nope FROM Account"}"#)
    #expect(wrong.errorCode == "INVALID_FIELD")
  }

  // MARK: The first Bulk API

  private func classic(
    _ org: OrgUnderTest, _ method: String, _ path: String, _ body: String? = nil,
    type: String = "application/json"
  ) async -> OrgUnderTest.Reply {
    await org.raw(
      method, "/services/async/59.0/\(path)", body,
      headers: ["x-sfdc-session": org.token, "content-type": type])
  }

  @Test func `batches in JSON are worked through when they arrive`() async throws {
    let org = try OrgUnderTest()
    let job = await classic(
      org, "POST", "job",
      #"{"operation":"insert","object":"Contact","concurrencyMode":0,"contentType":"JSON"}"#)
    #expect(job.status == 201)
    #expect(job.json?["concurrencyMode"]?.string == "Parallel")
    let batch = await classic(
      org, "POST", "job/\(job.id)/batch", #"[{"LastName":"x"},{"FirstName":"y"}]"#)
    #expect(batch.json?["state"]?.string == "Queued")
    let closed = await classic(org, "POST", "job/\(job.id)", #"{"state":"Closed"}"#)
    #expect(closed.json?["state"]?.string == "Closed")
    #expect(closed.json?["numberRecordsFailed"]?.int64 == 1)
    let state = await classic(org, "GET", "job/\(job.id)/batch/\(batch.id)")
    #expect(state.json?["state"]?.string == "Completed")
    let result = await classic(org, "GET", "job/\(job.id)/batch/\(batch.id)/result")
    #expect(result.json?[0]?["success"]?.bool == true)
    #expect(result.json?[1]?["errors"]?[0]?["statusCode"]?.string == "REQUIRED_FIELD_MISSING")
    let late = await classic(org, "POST", "job/\(job.id)/batch", "[]")
    #expect(late.json?["exceptionCode"]?.string == "InvalidJobState")
    let request = await classic(org, "GET", "job/\(job.id)/batch/\(batch.id)/request")
    #expect(request.text.hasPrefix("[{"))
    // Batches speak as their job does, and clients compare the type as a whole.
    let list = await classic(org, "GET", "job/\(job.id)/batch", type: "application/xml")
    #expect(list.json?["batchInfo"]?[0]?["id"]?.string == batch.id)
    #expect(list.contentType == "application/json")
    let info = await classic(org, "GET", "job/\(job.id)", type: "application/xml")
    #expect(XMLElement(parsing: Array(info.text.utf8))?["apiVersion"]?.text == "59.0")
  }

  @Test func `a query of a batch without records has no result, but a text in CSV`() async throws {
    let org = try OrgUnderTest()
    for (type, media) in [
      ("JSON", "application/json"), ("XML", "application/xml"), ("CSV", "text/csv"),
    ] {
      let job = await classic(
        org, "POST", "job",
        #"{"operation":"query","object":"Account","contentType":"\#(type)"}"#)
      let batch = await classic(
        org, "POST", "job/\(job.id)/batch", "SELECT Id FROM Account", type: media)
      let id = type == "JSON" ? batch.id : XMLElement(parsing: Array(batch.text.utf8))?["id"]?.text
      let path = "job/\(job.id)/batch/\(try #require(id))/result"
      let list = await classic(org, "GET", path)
      switch type {
      case "JSON": #expect(list.text == "[]")
      case "XML":
        let root = try #require(XMLElement(parsing: Array(list.text.utf8)))
        #expect(root.name == "result-list" && root.children.isEmpty)
      default:
        let result = try #require(XMLElement(parsing: Array(list.text.utf8))?["result"]?.text)
        #expect(
          await classic(org, "GET", "\(path)/\(result)").text == "Records not found for this query")
      }
    }
  }

  @Test func `the result of a failed row has the platform's form, a failed batch has none`()
    async throws
  {
    let org = try OrgUnderTest()
    for (type, media, body, expected) in [
      (
        "JSON", "application/json", #"[{"FirstName":"y"}]"#,
        #"[{"success":false,"created":false,"id":null,"errors":[{"message":"#
          + #""Required fields are missing: [LastName]","fields":["LastName"],"#
          + #""statusCode":"REQUIRED_FIELD_MISSING","extendedErrorDetails":null}]}]"#
      ),
      (
        "CSV", "text/csv", "FirstName,LastName\ny,\n",
        "\"Id\",\"Success\",\"Created\",\"Error\"\n\"\",\"false\",\"false\","
          + "\"REQUIRED_FIELD_MISSING:Required fields are missing: [LastName]:LastName --\"\n"
      ),
      (
        "XML", "application/xml",
        "<sObjects><sObject><FirstName>y</FirstName></sObject></sObjects>",
        "<result><errors><fields>LastName</fields><message>Required fields are missing: [LastName]"
          + "</message><statusCode>REQUIRED_FIELD_MISSING</statusCode></errors>"
          + "<success>false</success><created>false</created></result>"
      ),
    ] {
      let job = await classic(
        org, "POST", "job",
        #"{"operation":"insert","object":"Contact","contentType":"\#(type)"}"#)
      func result(of body: String) async throws -> OrgUnderTest.Reply {
        let batch = await classic(org, "POST", "job/\(job.id)/batch", body, type: media)
        let id =
          type == "JSON" ? batch.id : XMLElement(parsing: Array(batch.text.utf8))?["id"]?.text
        return await classic(org, "GET", "job/\(job.id)/batch/\(try #require(id))/result")
      }
      let row = try await result(of: body)
      #expect(row.text.contains(expected), "\(row.text)")
      let failed = try await result(of: "\u{1}")
      #expect(failed.status == 400)
      #expect(
        failed.text.contains("InvalidBatch") && failed.text.contains("Records not processed"),
        "\(failed.text)")
    }
  }

  @Test func `jobs and batches may be XML and CSV`() async throws {
    let org = try OrgUnderTest()
    let xml = "application/xml; charset=UTF-8"
    let job = await classic(
      org, "POST", "job",
      """
      <?xml version="1.0" encoding="UTF-8"?><jobInfo xmlns="http://www.force.com/2009/06/asyncapi/dataload">
      <operation>insert</operation><object>Account</object><contentType>XML</contentType></jobInfo>
      """, type: xml)
    let info = try #require(XMLElement(parsing: Array(job.text.utf8)))
    #expect(info.name == "jobInfo" && info["state"]?.text == "Open")
    let id = try #require(info["id"]?.text)
    let batch = await classic(
      org, "POST", "job/\(id)/batch",
      "<sObjects><sObject><type>Account</type><Name>A &amp; B</Name></sObject></sObjects>",
      type: xml)
    let batchID = try #require(XMLElement(parsing: Array(batch.text.utf8))?["id"]?.text)
    let result = await classic(org, "GET", "job/\(id)/batch/\(batchID)/result", type: xml)
    #expect(result.text.contains("<success>true</success>"))
    #expect(try await org.org.query("SELECT Name FROM Account")[0]["Name"]?.string == "A & B")

    let query = await classic(
      org, "POST", "job", #"{"operation":"query","object":"Account","contentType":"CSV"}"#)
    let rows = await classic(
      org, "POST", "job/\(query.id)/batch", "SELECT Name FROM Account", type: "text/csv")
    let rowsID = try #require(XMLElement(parsing: Array(rows.text.utf8))?["id"]?.text)
    // A job of CSV speaks XML of its batches, although the requests call themselves JSON.
    let state = await classic(org, "GET", "job/\(query.id)/batch/\(rowsID)")
    #expect(XMLElement(parsing: Array(state.text.utf8))?["state"]?.text == "Completed")
    let list = await classic(org, "GET", "job/\(query.id)/batch/\(rowsID)/result")
    let resultID = try #require(XMLElement(parsing: Array(list.text.utf8))?["result"]?.text)
    let csv = await classic(org, "GET", "job/\(query.id)/batch/\(rowsID)/result/\(resultID)")
    #expect(csv.text == "\"Name\"\n\"A & B\"\n")
    let stranger = await org.raw("GET", "/services/async/59.0/job/\(id)")
    #expect(stranger.status == 401)
  }

  @Test(arguments: [
    ("SELECT BillingAddress FROM Account", "FEATURENOTENABLED"),
    ("SELECT Account.BillingAddress FROM Contact", "FEATURENOTENABLED"),
    ("SELECT TYPEOF What WHEN Account THEN Name END FROM Task", "FEATURENOTENABLED"),
    ("SELECT (SELECT Id FROM Contacts) FROM Account", "INVALIDBATCH"),
    ("SELECT COUNT(Id) FROM Account", "FEATURENOTENABLED"),
  ])
  func `a query whose rows are no plain values is refused`(soql: String, code: String) async throws
  {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/jobs/query", #"{"operation":"query","query":"\#(soql)"}"#)
    #expect(reply.status == 400)
    #expect(reply.errorCode == code)
  }
}
