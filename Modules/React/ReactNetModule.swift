import SalesforceHybridSDK
import SalesforceSDKCommon

/// `SFNetReactBridge`: REST requests of the current user (HT-41).
///
/// An error is an object with `message`, `error` and, if the server responded, `response`.
struct ReactNetModule: HybridPlugin {
  let serviceNames = ["SFNetReactBridge", "SalesforceNetReactBridge"]

  private let network: NetworkPlugin

  init(host: HybridHost) { network = NetworkPlugin(host: host) }

  func respond(to call: HybridCall) async throws -> HybridValue {
    try await ReactFailure.asObject(of: call) {
      guard call.action == "sendRequest" else { throw call.invalidAction() }
      return try await network.respond(to: call.renamed("pgSendRequest"))
    }
  }
}
