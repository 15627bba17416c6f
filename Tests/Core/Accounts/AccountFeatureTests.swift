import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Which features of accounts and logins does the user agent show?
@Suite struct AccountFeatureTests {
  private let markers = FeatureMarkers()
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }

  private var options: UserAccountManager.Options {
    var options = UserAccountManager.Options()
    options.markers = markers
    return options
  }

  private func stub() -> LoginServerStub {
    LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
      "/services/oauth2/authorize": { _ in RestResponse(json: #"{"code":"aPrx=="}"#) },
    ])
  }

  @Test(.covers("CO-183.3", "BX-32.2"))
  func `several users are shown as long as there are some, after a restart too`() async throws {
    let org = TestOrg()
    let other = org.account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    let manager = try await org.manager([org.account(), other], options: options)
    #expect(markers.text == "MU")
    try await manager.logOut(other.identity)
    #expect(markers.text == "")
    let alone = try await org.manager([org.account()], options: options)
    #expect(markers.text == "")
    _ = try await alone.logIn(
      .tokens(accessToken: "access-1", refreshToken: "refresh-1", instance: .production))
    #expect(markers.text == "UA")
    await manager.close()
    await alone.close()
  }

  @Test(.covers("CO-183.3", "BX-32.2"))
  func `a login in the browser shows that, and a user who has logged in`() async throws {
    let manager = try await stub().manager(stub().transport(), options: options)
    #expect(markers.text == "")
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(markers.text == "BW.UA")
  }

  @Test(.covers("CO-183.3", "BX-32.2"))
  func `a login that fails shows no user`() async throws {
    let manager = try await stub().manager(stub().transport(), options: options)
    await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .browser(
          app: TestOrg.app,
          presenter: ScriptedLoginPresenter {
            "\($0.app.redirectURI)?error=access_denied&state=\($0.state)"
          }))
    }
    #expect(markers.text == "BW")
  }

  @Test(.covers("CO-183.3", "BX-32.2"))
  func `a login with name and password shows that it has no page`() async throws {
    let manager = try await stub().manager(stub().transport(), options: options)
    _ = try await manager.logIn(
      .password(
        username: "jane@example.com", password: "geheim12",
        to: try LoginServer("https://acme.my.salesforce.com"), app: TestOrg.app))
    #expect(markers.text == "NL.UA")
  }

  @Test(.covers("CO-183.3", "BX-32.2", "CO-46.3", "CO-49.4"))
  func `a scanned login and one that begins with discovery are shown`() async throws {
    let manager = try await stub().manager(stub().transport(), options: options)
    let start = PercentEncoding.encode(
      "/services/oauth2/authorize?response_type=code&client_id=client-1")
    let bridge: JSONObject = [
      "frontdoor_bridge_url": .string(
        "https://acme.my.salesforce.com/secur/frontdoor.jsp?otp=1&startURL=\(start)"),
      "pkce_code_verifier": "proof",
    ]
    _ = try await manager.logIn(
      .scanned(
        BridgeLogin(
          scanned: "https://acme.example/login/qr?bridgeJson="
            + PercentEncoding.encode(JSONValue.object(bridge).text)), app: TestOrg.app,
        presenter: ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x" }))
    #expect(markers.text == "BW.QR.UA")

    let found = FeatureMarkers()
    var options = UserAccountManager.Options()
    options.markers = found
    let discovering = try await stub().manager(stub().transport(), options: options)
    let presenter = PastedLoginPresenter { _ in
    } read: {
      nil
    }
    await #expect(throws: (any Error).self) {
      try await discovering.logIn(.browser(to: .welcome, app: TestOrg.app, presenter: presenter))
    }
    #expect(found.text == "WD")
  }

  @Test(.covers("CO-183.3", "BX-32.2"), arguments: [true, false])
  func `the lock that an org demands is shown where the app has one, until the logout`(
    isBiometric: Bool
  ) async throws {
    let org = TestOrg()
    var locked = org.account()
    locked.lockPolicy = LockPolicy(timeoutMinutes: 10, isBiometric: isBiometric)
    let without = try await org.manager([locked], options: options)
    #expect(markers.text == "")
    var enforcing = options
    enforcing.enforcesScreenLockItself = true
    let manager = try await org.manager([locked], options: enforcing)
    #expect(markers.text == (isBiometric ? "BA" : "SL"))
    try await manager.logOut(locked.identity)
    #expect(markers.text == "")
    await without.close()
  }

  @Test(.covers("CO-183.3", "BX-32.2"))
  func `a manager shows its features in the user agent of the process by default`() {
    #expect(UserAccountManager.Options().markers === FeatureMarkers.shared)
    #expect(Set(AccountFeature.allCases.map(\.rawValue)).count == 10)
  }
}
