import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import TestSupport
import Testing

@testable import SalesforceHybridSDK

/// Which cookies open the pages of an org?
struct SessionCookieTests {
  private static let server = LoginServer.production

  private static func credentials(
    instance: String = "https://acme.my.salesforce.com", adjust: (inout OAuthCredentials) -> Void
  ) -> OAuthCredentials {
    var credentials = OAuthCredentials(
      clientId: "app", redirectURI: "http://localhost/x", loginServer: server,
      accessToken: "access", instanceURL: URL(string: instance))
    adjust(&credentials)
    return credentials
  }

  private static func headers(_ credentials: OAuthCredentials) -> [String] {
    SessionCookie.all(of: credentials, organizationId: "00D1").map { "\($0.host) \($0.header)" }
  }

  @Test(.covers("HT-15", "BX-13"))
  func `a hybrid grant sets the cookies of each domain, secure and for cross-site use`() {
    let end = "; Path=/; Secure; SameSite=None"
    let all = Self.headers(
      Self.credentials { credentials in
        credentials.scopes = ["full"]
        credentials.webSession = [
          "lightning_domain": "acme.lightning.force.com", "lightning_sid": "l",
          "visualforce_domain": "https://acme--c.visualforce.com", "visualforce_sid": "v",
          "content_domain": "acme.file.force.com", "content_sid": "c", "csrf_token": "csrf",
          "cookie-clientSrc": "1.2.3.4", "cookie-sid_Client": "sc", "sidCookieName": "sid2",
        ]
      })
    #expect(
      all
        == [
          "acme.my.salesforce.com sid2=access", "acme.my.salesforce.com clientSrc=1.2.3.4",
          "acme.my.salesforce.com sid_Client=sc", "acme.my.salesforce.com oid=00D1",
          "acme.my.salesforce.com eikoocnekotMob=csrf", "acme.lightning.force.com sid=l",
          "acme.lightning.force.com eikoocnekotMob=csrf", "acme.file.force.com sid=c",
          "acme--c.visualforce.com sid=v", "acme--c.visualforce.com clientSrc=1.2.3.4",
          "acme--c.visualforce.com sid_Client=sc", "acme--c.visualforce.com oid=00D1",
        ].map { $0 + end })
  }

  @Test(.covers("HT-15", "CO-54.2"))
  func
    `without a hybrid grant there are the session and the org, and a token for APIs is no session`()
  {
    #expect(
      Self.headers(Self.credentials { _ in }) == [
        "acme.my.salesforce.com sid=access; Path=/; Secure; SameSite=None",
        "acme.my.salesforce.com oid=00D1; Path=/; Secure; SameSite=None",
      ])
    let tokenOnly = Self.headers(Self.credentials { $0.tokenFormat = "jwt" })
    #expect(!tokenOnly.contains { $0.contains("sid=") })
    let parent = Self.headers(
      Self.credentials {
        $0.tokenFormat = "jwt"
        $0.webSession["parent_sid"] = "parent"
      })
    #expect(parent.first?.contains("sid=parent;") == true)
  }

  @Test(.covers("HT-15"))
  func `a community's cookies are for all of its hosts`() {
    let all = Self.headers(
      Self.credentials { $0.communityURL = URL(string: "https://acme.my.site.com/partners") })
    #expect(
      all.first
        == "acme.my.site.com sid=access; Domain=acme.my.site.com; Path=/; Secure; SameSite=None"
    )
  }

  @Test(.covers("HT-15"))
  func `an org on this machine gets cookies over http, no other value ends a cookie`() {
    let all = Self.headers(
      Self.credentials(instance: "http://127.0.0.1:8080") { credentials in
        credentials.webSession = [
          "cookie-clientSrc": "a; Domain=evil.example", "cookie-sid_Client": "a\r\nX: y",
          "lightning_domain": "", "lightning_sid": "l", "sidCookieName": "",
        ]
      })
    #expect(
      all == [
        "127.0.0.1 sid=access; Path=/; SameSite=Lax", "127.0.0.1 oid=00D1; Path=/; SameSite=Lax",
      ])
  }
}
