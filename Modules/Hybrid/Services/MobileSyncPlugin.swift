package import MobileSync
package import SalesforceSDKCommon

/// `com.salesforce.mobilesync`, also called `com.salesforce.smartsync`: syncs between soups and the server
/// (MS-335 to MS-340).
///
/// The response to a sync call is the state at the start of the run. Each later state is an event
/// `sync`, delivered to the page that started the run, or to all pages if that page is closed. The
/// last state is done, failed or stopped.
public struct MobileSyncPlugin: HybridPlugin {
  /// The service and its name in release 7.1.
  public let serviceNames = ["com.salesforce.mobilesync", "com.salesforce.smartsync"]

  let host: HybridHost

  /// Creates the service.
  public init(host: HybridHost) { self.host = host }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    let message = call.message
    switch call.action {
    case "syncDown", "syncUp", "reSync":
      return try await run(call)
    case "getSyncStatus":
      let sync = try SyncReference(message)
      let manager = try await manager(message)
      let state: SyncState? =
        switch sync {
        case .id(let id): try await manager.syncStatus(forId: id)
        case .name(let name): try await manager.syncStatus(forName: name)
        }
      return HybridValue(.object(state?.json ?? [:]))
    case "cleanResyncGhosts":
      let sync = try SyncReference(message)
      let manager = try await manager(message)
      let count =
        switch sync {
        case .id(let id): try await manager.cleanResyncGhosts(forId: id)
        case .name(let name): try await manager.cleanResyncGhosts(forName: name)
        }
      return HybridValue(.integer(Int64(count)))
    case "deleteSync":
      let sync = try SyncReference(message)
      let manager = try await manager(message)
      switch sync {
      case .id(let id): try await manager.deleteSync(forId: id)
      case .name(let name): try await manager.deleteSync(forName: name)
      }
      return .none
    case "getConflicts":
      return try await conflicts(message)
    case "resolveConflict":
      return try await resolveConflict(message)
    default:
      throw call.invalidAction()
    }
  }

  private func manager(_ message: HybridMessage) async throws -> SyncManager {
    try await host.syncManager(try StoreSelection(message), for: message.call)
  }

  /// Starts a run, and sends its states after the response.
  private func run(_ call: HybridCall) async throws -> HybridValue {
    let started = try await start(call)
    call.afterResponse { session in
      for await state in started.run.updates {
        await session.send(event: "sync", detail: .object(started.detail(state)))
      }
    }
    return HybridValue(.object(started.run.state.json))
  }

  /// A run that a call started.
  package struct Started: Sendable {
    package let run: SyncRun
    fileprivate let store: StoreSelection

    /// A state with the store that it belongs to (MS-338).
    package func detail(_ state: SyncState) -> JSONObject {
      var json = state.json
      json["isGlobalStore"] = .bool(store.isGlobal)
      json["storeName"] = .string(store.name)
      return json
    }
  }

  /// Starts the run of `syncDown`, `syncUp` or `reSync`.
  package func start(_ call: HybridCall) async throws -> Started {
    let message = call.message
    let store = try StoreSelection(message)
    do {
      let run =
        if call.action == "reSync" {
          try await reSync(try SyncReference(message), message)
        } else {
          try await start(call.action, message)
        }
      return Started(run: run, store: store)
    } catch let error as SyncError where error.code == .nameInUse {
      // Test suites of the Mobile SDK compare this text.
      let name = try message.text("syncName") ?? ""
      throw HybridError(
        .failed, error.message, value: .string("already a sync with name:\(name)"), cause: error)
    }
  }

  private func reSync(
    _ sync: SyncReference, _ message: HybridMessage
  ) async throws -> SyncRun {
    let manager = try await manager(message)
    switch sync {
    case .id(let id): return try await manager.reSync(id: id)
    case .name(let name): return try await manager.reSync(named: name)
    }
  }

  private func start(_ action: String, _ message: HybridMessage) async throws -> SyncRun {
    let soup = try message.requiredText("soupName")
    let options = try SyncOptions(json: message["options"]?.value)
    let name = try message.text("syncName")
    let target = try message.object("target")?.value.object
    if action == "syncUp" {
      return try await manager(message).syncUp(
        targetJSON: target ?? [:], options: options, soupName: soup, syncName: name)
    }
    guard let target else { throw message.invalid("target", "an object") }
    return try await manager(message).syncDown(
      targetJSON: target, options: options, soupName: soup, syncName: name)
  }
}

/// The sync of a message: a text is a name, also one of digits; a number is an id (HT-32).
enum SyncReference {
  case id(Int64)
  case name(String)

  init(_ message: HybridMessage) throws(HybridError) {
    if let name = try message.text("syncName") {
      self = .name(name)
    } else if let id = message["syncId"] {
      if let name = id.string {
        self = .name(name)
      } else if let number = try message.integer("syncId") {
        self = .id(number)
      } else {
        throw message.invalid("syncId", "a whole number")
      }
    } else {
      throw HybridError(
        .invalidArguments, "neither syncId nor syncName were specified: give one of them.")
    }
  }
}
