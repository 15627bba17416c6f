import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct ProfileTests {
  private func org() throws -> (OrgUnderTest, String) {
    var profile = MockOrgProfile(name: "Technician")
    profile.hiddenFields = ["contact": ["Birthdate"]]
    profile.readOnlyFields = ["Contact": ["Email"]]
    profile.hiddenObjects = ["Opportunity"]
    profile.readOnlyObjects = ["Account"]
    let org = try OrgUnderTest {
      $0.otherUsers = [
        MockOrgUser(
          username: "tech@fieldforce.example", firstName: "Ted", lastName: "Tech", profile: profile)
      ]
    }
    let user = org.org.users[1]
    return (org, org.org.sessions.open(userID: user.id, clientID: "app", now: OrgUnderTest.start))
  }

  @Test func `a field that a profile hides does not exist for its users`() async throws {
    let (org, token) = try org()
    let headers = ["authorization": "Bearer \(token)"]
    let id = try await org.made(
      "Contact", ["LastName": "x", "Birthdate": "2000-01-01", "Email": "a@b.example"])
    let record = await org.send("GET", "/sobjects/Contact/\(id)", headers: headers)
    #expect(record.json?["Birthdate"] == nil)
    #expect(record.json?["Email"]?.string == "a@b.example")
    let query = await org.query("SELECT Birthdate FROM Contact", headers: headers)
    #expect(query.errorCode == "INVALID_FIELD")
    let describe = await org.send("GET", "/sobjects/Contact/describe", headers: headers)
    #expect(
      describe.json?["fields"]?.elements.contains { $0["name"]?.string == "Birthdate" } == false)
    let hidden = await org.send(
      "PATCH", "/sobjects/Contact/\(id)", #"{"Birthdate":null}"#, headers: headers)
    #expect(hidden.errorCode == "INVALID_FIELD")
    let readOnly = await org.send(
      "PATCH", "/sobjects/Contact/\(id)", #"{"Email":"c@d.example"}"#, headers: headers)
    #expect(readOnly.errorCode == "INVALID_FIELD_FOR_INSERT_UPDATE")
    let allowed = await org.send(
      "PATCH", "/sobjects/Contact/\(id)", #"{"LastName":"y"}"#, headers: headers)
    #expect(allowed.status == 204)
    let whole = await org.send("GET", "/sobjects/Contact/\(id)")
    #expect(whole.json?["Birthdate"]?.string == "2000-01-01")
    #expect(whole.json?["LastModifiedById"]?.string == org.org.users[1].id)
  }

  @Test func `objects can be hidden or read-only, and new records belong to who makes them`()
    async throws
  {
    let (org, token) = try org()
    let headers = ["authorization": "Bearer \(token)"]
    #expect(await org.send("GET", "/sobjects/Opportunity/describe", headers: headers).status == 404)
    let made = await org.send("POST", "/sobjects/Account", #"{"Name":"x"}"#, headers: headers)
    #expect(made.errorCode == "INVALID_TYPE_FOR_OPERATION")
    let contact = await org.send(
      "POST", "/sobjects/Contact", #"{"LastName":"x"}"#, headers: headers)
    let rows = try await org.org.query("SELECT Owner.Name, CreatedBy.Profile.Name FROM Contact")
    #expect(contact.status == 201)
    #expect(rows[0]["Owner"]?["Name"]?.string == "Ted Tech")
    #expect(rows[0]["CreatedBy"]?["Profile"]?["Name"]?.string == "Technician")
    let login = await org.raw(
      "POST", "/services/oauth2/token",
      "grant_type=password&client_id=app&username=TECH%40fieldforce.example&password=fieldforce1")
    #expect(login.json?["id"]?.string?.hasSuffix(org.org.users[1].id) == true)
  }
}
