import MobileSync
import SalesforceHybridSDK
import SalesforceSDKCommon

/// `SFMobileSyncReactBridge`: syncs between soups and the server (HT-43, MS-341).
///
/// A run gets its response when it has ended: its last state, or an error with that state. There are no events.
struct ReactMobileSyncModule: HybridPlugin {
  let serviceNames = ["SFMobileSyncReactBridge", "MobileSyncReactBridge"]

  private let syncs: MobileSyncPlugin

  init(host: HybridHost) { syncs = MobileSyncPlugin(host: host) }

  func respond(to call: HybridCall) async throws -> HybridValue {
    try await ReactFailure.asObject(of: call) {
      try call.checkNumbers("syncId")
      switch call.action {
      case "syncDown", "syncUp", "reSync":
        return try await run(call)
      case "getSyncStatus":
        let state = try await syncs.respond(to: call)
        return state.value == [:] ? HybridValue(.null) : state
      case "deleteSync":
        _ = try await syncs.respond(to: call)
        return HybridValue("OK")
      case "cleanResyncGhosts":
        return try await syncs.respond(to: call)
      default:
        throw call.invalidAction()
      }
    }
  }

  private func run(_ call: HybridCall) async throws -> HybridValue {
    let started = try await syncs.start(call)
    var last = started.run.state
    for await state in started.run.updates { last = state }
    var detail = started.detail(last)
    guard last.status != .done else { return HybridValue(.object(detail)) }
    let message = last.status == .failed ? "Sync failed" : "Sync stopped"
    detail["message"] = .string(message)
    throw HybridError(.failed, message, value: .object(detail))
  }
}
