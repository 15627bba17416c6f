import SalesforceHybridSDK
import SalesforceSDKCommon

/// `SFOauthReactBridge`: the login of the current user (HT-40).
struct ReactOAuthModule: HybridPlugin {
  let serviceNames = ["SFOauthReactBridge", "SalesforceOauthReactBridge"]

  private let oauth: OAuthPlugin

  init(host: HybridHost) { oauth = OAuthPlugin(host: host) }

  func respond(to call: HybridCall) async throws -> HybridValue {
    switch call.action {
    case "getAuthCredentials", "authenticate":
      return try await oauth.respond(to: call)
    case "logoutCurrentUser":
      _ = try await oauth.respond(to: call)
      return HybridValue("OK")
    default:
      throw call.invalidAction()
    }
  }
}
