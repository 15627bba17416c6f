import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// Which methods the resources of the REST API have, and from which version on.
@Suite struct RESTRouteTests {
  @Test func `the oldest and the newest version have the same resources`() async throws {
    let org = try OrgUnderTest()
    for version in [31, 66] {
      for name in ["sobjects", "limits", "recent", "composite", "jobs/ingest"] {
        let reply = await org.raw(
          "GET", "/services/data/v\(version).0/\(name)", nil,
          headers: ["authorization": "Bearer \(org.token)"])
        #expect(reply.status == 200, "\(version) \(name)")
      }
    }
  }

  @Test func `a refused method names all that the resource has`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "a"])
    for (method, path, allowed) in [
      ("PATCH", "/sobjects/Account/\(id)/Contacts", "GET,HEAD"),
      ("POST", "/sobjects/Account/\(id)/Owner", "DELETE,GET,HEAD,PATCH"),
      ("PUT", "/composite", "GET,HEAD,POST"), ("PUT", "/limits", "GET,HEAD"),
      ("PUT", "/composite/sobjects", "DELETE,PATCH,POST"),
      ("POST", "/sobjects/Contact/Email/a@example.com", "DELETE,GET,HEAD,PATCH"),
      ("PUT", "/sobjects/Account", "GET,HEAD,POST"),
      ("PUT", "/connect/files/069000000000001AAA", "DELETE,GET,HEAD,POST"),
    ] {
      let reply = await org.send(method, path)
      #expect(reply.status == 405 && reply.header("Allow") == allowed, "\(path) \(reply.text)")
    }
  }

  @Test func `a path that leads to nothing is not found, whatever the method`() async throws {
    let org = try OrgUnderTest()
    for path in [
      "/nothing", "/limits/nothing", "/sobjects/Nope", "/composite/tree/Nope", "/jobs",
      "/sobjects/Account/describe/nothing", "/ui-api/layout/Nope",
    ] {
      for method in ["GET", "PUT"] {
        #expect(await org.send(method, path).errorCode == "NOT_FOUND", "\(method) \(path)")
      }
    }
  }

  @Test func `several records are retrieved by HEAD, GET and POST`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "a"])
    let path = "/composite/sobjects/Account?ids=\(id)&fields=Name"
    #expect(await org.send("HEAD", path).status == 200)
    #expect(await org.send("GET", path).json?[0]?["Name"]?.string == "a")
    let body = #"{"ids":["\#(id)"],"fields":["Name"]}"#
    let posted = await org.send("POST", "/composite/sobjects/Account", body)
    #expect(posted.json?[0]?["Name"]?.string == "a")
  }

  @Test func `the word id in a path may be written in any case`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "a"])
    for word in ["id", "Id", "ID"] {
      #expect(
        await org.send("GET", "/sobjects/Account/\(word)/\(id)").json?["Id"]?.string == id)
      #expect(await org.send("POST", "/sobjects/Account/\(word)", #"{"Name":"b"}"#).status == 201)
    }
  }

  @Test func `a community and the older name of the Connect API lead to the same resources`()
    async throws
  {
    let org = try OrgUnderTest()
    for path in ["/connect", "/chatter", "/connect/communities/0DB000000000001"] {
      #expect(await org.send("GET", "\(path)/notifications/status").status == 200, "\(path)")
    }
  }

  @Test func `a resource is not there before its first version`() async throws {
    let org = try OrgUnderTest()
    for (version, status) in [(63, 404), (64, 200)] {
      let reply = await org.raw(
        "GET", "/services/data/v\(version).0/connect/notifications/types", nil,
        headers: ["authorization": "Bearer \(org.token)"])
      #expect(reply.status == status, "\(version)")
    }
  }
}
