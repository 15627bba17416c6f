import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceMockOrg

/// Does the org serve pages as Visualforce does?
struct PageTests {
  @Test func `a page needs a session cookie, and leads to the login without one`() async throws {
    let org = try OrgUnderTest()
    for cookie in ["", "sid=none", "other=1; sid="] {
      let reply = await org.raw("GET", "/apex/BasicVFTest?a=1", headers: ["cookie": cookie])
      #expect(reply.status == 302)
      #expect(
        reply.header("Location")?.hasSuffix("/?ec=302&startURL=%2Fapex%2FBasicVFTest") == true)
    }
    let token = org.org.sessions.open(
      userID: org.org.userID, clientID: org.org.options.clientId, now: org.org.options.clock.now)
    let cookies = ["cookie": "oid=1; sid=\(token); x=y"]
    let page = await org.raw("GET", "/apex/BasicVFTest", headers: cookies)
    #expect(page.status == 200)
    #expect(page.text.contains("Hello Ada"))
    #expect(!page.text.contains("{!"))
    #expect(page.text.contains("https://localhost/cordova.js"))
    #expect(await org.raw("GET", "/apex/None", headers: cookies).status == 404)
    #expect(await org.raw("GET", "/apex/..%2F..%2FPackage", headers: cookies).status == 404)
    #expect(await org.raw("POST", "/apex/BasicVFTest", headers: cookies).status == 405)
    org.org.expireAccessTokens()
    #expect(await org.raw("GET", "/apex/BasicVFTest", headers: cookies).status == 302)
  }

  @Test func `a hybrid login gets sessions for pages, another one does not`() async throws {
    let org = try OrgUnderTest()
    let refresh = org.org.sessions.makeRefreshToken(userID: org.org.userID, clientID: nil)
    func token(_ grant: String) async throws -> JSONSlice {
      let form =
        "grant_type=\(grant)&client_id=\(org.org.options.clientId)&refresh_token=\(refresh)"
      return try JSONSlice(parsing: await org.raw("POST", "/services/oauth2/token", form).text)
    }
    let hybrid = try await token("hybrid_refresh")
    #expect(hybrid["visualforce_sid"]?.string == hybrid["access_token"]?.string)
    #expect(hybrid["lightning_domain"]?.string?.isEmpty == false)
    #expect(hybrid["csrf_token"] != nil)
    #expect(try await token("refresh_token")["visualforce_sid"] == nil)
  }
}
