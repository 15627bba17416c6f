import FieldforceInspector
import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A folder of encrypted stores that one process writes and an inspector shows.
final class StoresFixture: Sendable {
  let folder: TemporaryFolder
  let secrets = InMemorySecretStore()
  /// The stores of the inspected app.
  let stores: SmartStoreManager

  init() throws {
    folder = try TemporaryFolder()
    stores = SmartStoreManager(
      root: folder.file("stores"), encryption: .encrypted(SecretStoreKeyProvider(secrets)))
  }

  var app: InspectedApp {
    var app = InspectedApp(name: "Tests", stores: stores)
    app.isDeveloperSupportEnabled = true
    app.syncTargets = SyncTargetRegistry()
    return app
  }

  /// The manager of another process on the same folder.
  func otherProcess() -> SmartStoreManager {
    SmartStoreManager(
      root: folder.file("stores"), encryption: .encrypted(SecretStoreKeyProvider(secrets)))
  }

  /// Fills a store of the app and closes it.
  func fill(
    _ name: String? = nil, soup: String = "notes", indexes: [SoupIndex] = notes,
    entries: [String]
  ) async throws {
    let manager = otherProcess()
    let store = try await manager.sharedGlobal(withName: name)
    if try await !store.soupExists(forName: soup) {
      try await store.registerSoup(withName: soup, withIndices: indexes)
    }
    let slices = try entries.map { try JSONSlice(parsing: $0) }
    try await store.upsert(slices: slices, soup: soup)
    try await manager.close()
  }

  /// Index specs for entries of tests.
  static let notes = [
    SoupIndex(path: "title", type: .string), SoupIndex(path: "rank", type: .integer),
    SoupIndex(path: "weight", type: .floating), SoupIndex(path: "kind", type: .json1),
    SoupIndex(path: "__local__", type: .string),
  ]

  /// Runs `body` with an inspector, and stops it.
  func inspect(
    _ app: InspectedApp? = nil, access: Inspector.Access = .readOnly,
    limits: InspectorLimits = InspectorLimits(), _ body: (InspectorClient) async throws -> Void
  ) async throws {
    let inspector = try await Inspector.start(
      showing: app ?? self.app, access: access, limits: limits)
    do {
      try await body(InspectorClient(inspector))
    } catch {
      await inspector.stop()
      throw error
    }
    await inspector.stop()
    try await stores.close()
  }
}

/// A client of an inspector, as the page is one.
struct InspectorClient: Sendable {
  let inspector: Inspector
  /// The address of the page, with a slash at its end.
  let page: String
  let token: String

  struct Response: Sendable {
    let status: Int
    let headers: [String: String]
    let text: String

    var json: JSONSlice {
      get throws { try JSONSlice(parsing: text) }
    }
    var error: String? { (try? json)?["error"]?["name"]?.string }
  }

  init(_ inspector: Inspector) {
    self.inspector = inspector
    let parts = inspector.url.absoluteString.components(separatedBy: "#token=")
    (page, token) = (parts[0], parts[1])
  }

  /// Sends a request to an address behind the page's, by default with the token.
  func raw(
    _ address: String, _ method: String = "GET", body: String? = nil,
    headers: [String: String] = [:], isAuthorized: Bool = true
  ) async throws -> Response {
    let url = try #require(URL(string: address.hasPrefix("http") ? address : page + address))
    var request = URLRequest(url: url)
    request.httpMethod = method
    if isAuthorized { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    if let body {
      request.httpBody = Data(body.utf8)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let response = try await WebPage.load(request)
    var fields: [String: String] = [:]
    for (name, value) in response.response.allHeaderFields {
      fields["\(name)".lowercased()] = "\(value)"
    }
    return Response(status: response.status, headers: fields, text: response.text)
  }

  /// The document of a resource.
  func get(_ path: String, _ query: [String: String] = [:]) async throws -> JSONSlice {
    let response = try await call(path, query)
    try #require(response.status == 200, "\(path): \(response.status) \(response.text)")
    return try response.json
  }

  /// The response of a resource, whatever its status.
  func call(_ path: String, _ query: [String: String] = [:]) async throws -> Response {
    let pairs = query.map { "\($0)=\(PercentEncoding.encode($1))" }.sorted().joined(separator: "&")
    return try await raw("api/\(path)" + (pairs.isEmpty ? "" : "?\(pairs)"))
  }

  func post(_ path: String, _ body: JSONValue = [:]) async throws -> Response {
    try await raw("api/\(path)", "POST", body: body.text)
  }

  /// The address of the first store, or of that with the name.
  func store(_ name: String? = nil) async throws -> String {
    let stores = try #require(try await get("stores")["stores"])
    let found = stores.elements.first { name == nil || $0["name"]?.string == name }
    return "stores/\(try #require(found?["id"]?.string))"
  }

  /// The address of the entries of a soup.
  func entries(_ soup: String = "notes", store: String? = nil) async throws -> String {
    "\(try await self.store(store))/soups/\(Base64URL.encode(soup.utf8))/entries"
  }

  /// The ids of a page.
  static func ids(_ page: JSONSlice) -> [Int64] {
    page["entries"]?.elements.compactMap { $0["id"]?.int64 } ?? []
  }
}
