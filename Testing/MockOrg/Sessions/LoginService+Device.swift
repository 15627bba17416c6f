import Foundation
import SalesforceSDKCommon

/// The device flow: a device without a keyboard shows a code, the user enters it in a browser.
extension LoginService {
  /// How often a device may ask, in seconds.
  private static let interval = 5
  /// How long a code is good for.
  private static let lifetime: TimeInterval = 600

  func deviceCode(_ form: Form, _ clientID: String?) -> OrgResponse {
    guard let clientID else { return missingParameter("client_id") }
    let code = Sessions.randomText(80)
    let userCode = Sessions.randomText(8).uppercased()
    sessions.insert(
      DeviceGrant(
        userCode: userCode, clientID: clientID, scope: form["scope"] ?? Self.usualScope,
        expires: now.addingTimeInterval(Self.lifetime)), deviceCode: code)
    return Self.noStore(
      .json([
        "device_code": .string(code), "user_code": .string(userCode),
        "verification_uri": "\(baseURL)/setup/connect", "interval": .integer(Self.interval),
      ]))
  }

  func deviceGrant(_ form: Form, _ clientID: String?) -> OrgResponse {
    guard let clientID else { return missingParameter("client_id") }
    guard let code = form["code"] ?? form["device_code"] else { return missingParameter("code") }
    guard let grant = sessions.deviceGrant(code), grant.clientID == clientID, grant.expires > now
    else { return oauthError("invalid_grant", "invalid device code") }
    switch grant.decision {
    case .pending: return oauthError("authorization_pending", "authorization is pending")
    case .denied:
      sessions.removeDeviceGrant(code)
      return oauthError("access_denied", "end-user denied authorization")
    case .granted(let userID):
      sessions.removeDeviceGrant(code)
      var request = TokenRequest(clientID: clientID, scope: grant.scope)
      request.showsRefreshToken = true
      if Self.grantsRefresh(grant.scope) {
        request.refreshToken = sessions.makeRefreshToken(
          userID: userID, clientID: clientID, scope: grant.scope)
      }
      return tokens(of: userID, request)
    }
  }

  /// The page where a user enters a device's code.
  func connectDevice(_ request: OrgRequest) -> OrgResponse {
    let form = Form(request)
    guard request.method == "POST" else { return devicePage(form, problem: nil) }
    guard let user = user(named: form["username"] ?? "", password: form["password"] ?? "") else {
      return devicePage(form, problem: "Please check your username and password.")
    }
    let decision: DeviceGrant.Decision =
      form["decision"] == "deny" ? .denied : .granted(userID: user.id)
    let userCode = (form["user_code"] ?? "").trimmingBlanks().uppercased()
    guard sessions.decide(userCode: userCode, decision, now: now) else {
      return devicePage(form, problem: "The code is wrong or has expired.")
    }
    return page("Connected", "<p>The device is connected. You can close this page.</p>")
  }

  private func devicePage(_ form: Form, problem: String?) -> OrgResponse {
    page("Connect a device", LoginPage.device(form, problem: problem))
  }
}
