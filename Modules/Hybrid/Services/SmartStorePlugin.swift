import SalesforceSDKCommon
import SmartStore

/// `com.salesforce.smartstore`: the stores of the app and of the current user (SS-227 to SS-235).
///
/// Entries are passed as the JSON text in the store.
public final class SmartStorePlugin: HybridPlugin {
  /// The service.
  public let serviceNames = ["com.salesforce.smartstore"]
  /// True: calls run in the order of their arrival (HT-29).
  public let keepsOrder = true

  let host: HybridHost
  let cursors = StoreCursors()

  /// Creates the service.
  public init(host: HybridHost) { self.host = host }

  public func sessionDidEnd(_ session: HybridSession.ID) async { cursors.closeAll(of: session) }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    let message = call.message
    switch call.action {
    case "pgGetDatabaseSize": return try await databaseSize(message)
    case "pgRegisterSoup": return try await registerSoup(message)
    case "pgRemoveSoup": return try await removeSoup(message)
    case "pgGetSoupIndexSpecs": return try await soupIndexSpecs(message)
    case "pgGetSoupSpec": return try await soupSpec(message)
    case "pgAlterSoup": return try await alterSoup(message)
    case "pgReIndexSoup": return try await reIndexSoup(message)
    case "pgClearSoup": return try await clearSoup(message)
    case "pgSoupExists": return try await soupExists(message)
    case "pgRetrieveSoupEntries": return try await retrieve(message)
    case "pgUpsertSoupEntries": return try await upsert(message, call.maxValueBytes)
    case "pgRemoveFromSoup": return try await remove(message)
    case "pgQuerySoup": return try await querySoup(message, call.session)
    case "pgRunSmartQuery": return try await runSmartQuery(message, call.session)
    case "pgMoveCursorToPageIndex": return try await moveCursor(message, call.session)
    case "pgCloseCursor": return try await closeCursor(message, call.session)
    case "pgGetAllStores": return try await allStores(message)
    case "pgGetAllGlobalStores": return try allGlobalStores()
    case "pgRemoveStore": return try await removeStore(message)
    case "pgRemoveAllStores": return try await removeAllStores(message)
    case "pgRemoveAllGlobalStores": return try await removeAllGlobalStores()
    case "pgShowInspector": return try await showInspector(message)
    default: throw call.invalidAction()
    }
  }

  /// The value of actions that only report success.
  static let done = HybridValue("OK")

  func store(_ message: HybridMessage) async throws -> SmartStore {
    try await host.store(try StoreSelection(message), for: message.call)
  }
}
