import MobileSync
import SalesforceSDKCommon
import SmartStore

/// The resources of the interface, by method and path (Docs/Inspector-interface.md).
final class InspectorResources: Sendable {
  typealias Handler =
    @Sendable (InspectorResources, InspectorCall, _ ids: [String]) async throws ->
    InspectorReply

  let app: InspectedApp
  let access: Inspector.Access
  let limits: InspectorLimits
  let stores: InspectedStores
  let hub: InspectorHub
  let counts = EntryCounts()
  let watch = StoreWatch()
  let startTime = SmartStoreOptions.systemClock()

  init(_ app: InspectedApp, _ access: Inspector.Access, _ limits: InspectorLimits) {
    self.app = app
    self.access = access
    self.limits = limits
    stores = InspectedStores(app, isReadOnly: access.isReadOnly)
    hub = InspectorHub(limits: limits)
    if let recorder = app.recorder { hub.follow(recorder) }
  }

  func close() async {
    if let recorder = app.recorder { hub.leave(recorder) }
    await watch.stop()
    await stores.close()
  }

  // MARK: Routes

  private struct Route: Sendable {
    let method: String
    let parts: [String]
    let handler: Handler
  }

  private static let routes: [Route] =
    (storeRoutes + entryRoutes + syncRoutes + accountRoutes + keyValueRoutes + recordRoutes
    + fileRoutes
    + developerRoutes).map { method, path, handler in
      Route(method: method, parts: path.split(separator: "/").map(String.init), handler: handler)
    }

  /// Whether a request may take so long that its client should be able to end it.
  static func takesLong(_ segments: [String]) -> Bool {
    guard let last = segments.last, segments.first == "stores" else { return false }
    return last == "query" || last == "entries" || last == "verify" || last == "unsynced"
  }

  func reply(to call: InspectorCall) async -> InspectorReply {
    do {
      let matching = Self.routes.filter { Self.fits($0.parts, call.segments) }
      // A literal path stands before one with ids.
      let least = matching.map { $0.parts.count { $0 == "*" } }.min()
      let candidates = matching.filter { $0.parts.count { $0 == "*" } == least }
      guard !candidates.isEmpty else {
        throw InspectorFailure("notFound", "There is no such resource.")
      }
      guard let route = candidates.first(where: { $0.method == call.method }) else {
        let allowed = candidates.map(\.method).joined(separator: ", ")
        throw InspectorFailure(
          "invalidRequest", "The resource takes \(allowed) alone.", status: 405,
          headers: [("Allow", allowed)])
      }
      let ids = zip(route.parts, call.segments).filter { $0.0 == "*" }.map(\.1)
      do {
        return try await route.handler(self, call, ids)
      } catch  where call.method == "GET" && InspectorFailure(error).name == "closed" {
        // An action has given the store back since it was found open.
        return try await route.handler(self, call, ids)
      }
    } catch {
      return InspectorReply(InspectorFailure(error))
    }
  }

  private static func fits(_ parts: [String], _ segments: [String]) -> Bool {
    parts.count == segments.count
      && zip(parts, segments).allSatisfy { part, segment in
        part == "*" ? isId(segment) : part == segment
      }
  }

  private static func isId(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  // MARK: Access

  /// The reason why changes are refused; nil if the inspector was started for them.
  var readOnlyFailure: InspectorFailure? {
    access.isReadOnly ? InspectedStores.readOnlyFailure : nil
  }

  func checkWritable() throws(InspectorFailure) {
    if let readOnlyFailure { throw readOnlyFailure }
  }

  /// Runs work that ends when its time is over.
  ///
  /// - Throws: ``InspectorFailure`` `interrupted`; the error of the work.
  func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      // The sleep ends with a result, or it was cancelled with the caller.
      guard let first = try await group.next(), let value = first else {
        let milliseconds = Int(limit / .milliseconds(1))
        throw InspectorFailure(
          "interrupted", "The work took longer than \(milliseconds) ms and was stopped.")
      }
      return value
    }
  }
}

typealias InspectorRoute = (
  method: String, path: String, handler: InspectorResources.Handler
)
