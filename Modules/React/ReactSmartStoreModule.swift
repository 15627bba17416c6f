import SalesforceHybridSDK

/// `SFSmartStoreReactBridge`: the stores of the app and of the current user (HT-42).
final class ReactSmartStoreModule: HybridPlugin {
  let serviceNames = ["SFSmartStoreReactBridge", "SmartStoreReactBridge"]
  /// Calls are carried out in the order of their arrival, as those of pages.
  let keepsOrder = true

  private let store: SmartStorePlugin

  init(host: HybridHost) { store = SmartStorePlugin(host: host) }

  /// Functions of release 7.1 whose native method has another name.
  private static let synonyms = [
    "registerSoupWithSpec": "registerSoup", "alterSoupWithSpec": "alterSoup",
    "upsertSoupEntriesWithExternalId": "upsertSoupEntries",
  ]

  func respond(to call: HybridCall) async throws -> HybridValue {
    try call.checkNumbers("entryIds", "cursorId", "index")
    let method = Self.synonyms[call.action] ?? call.action
    guard let first = method.first, first.isLowercase else { throw call.invalidAction() }
    do {
      return try await store.respond(
        to: call.renamed("pg" + first.uppercased() + method.dropFirst()))
    } catch let error as HybridError where error.code == .invalidAction {
      throw call.invalidAction()
    } catch let error as HybridError where error.code == .notAuthenticated {
      throw HybridError(
        .notAuthenticated, "\(call.action) failed: no store found. Log in first.", cause: error)
    }
  }

  func sessionDidEnd(_ session: HybridSession.ID) async { await store.sessionDidEnd(session) }
}
