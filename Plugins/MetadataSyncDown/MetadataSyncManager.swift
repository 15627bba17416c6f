public import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// Fetches descriptions of objects and keeps them in the soup `sfdcMetadata`.
///
/// ```swift
/// let account = try await MetadataSyncManager(manager).fetchMetadata(forObject: "Account")
/// ```
public struct MetadataSyncManager: Sendable {
  /// The soup of the cache.
  public static let soupName = "sfdcMetadata"

  private let cache: SyncedCache

  /// Uses the store and the user of a sync manager.
  public init(_ manager: SyncManager) {
    cache = SyncedCache(soupName: Self.soupName, manager: manager)
    FeatureMarkers.shared.register("MD")
  }

  /// The description of an object.
  ///
  /// - Parameter mode: Default: the cache, and the server if it has nothing.
  /// - Returns: nil if only the cache was read and has nothing.
  /// - Throws: `SyncError` of the fetch if there is no cached description either, `store`.
  public func fetchMetadata(
    forObject objectType: String, mode: FetchMode = .cacheFirst
  ) async throws -> Metadata? {
    try await cache.entry(
      objectType, mode: mode, target: try MetadataSyncDownTarget(objectType: objectType)
    ).map(Metadata.init(rawData:))
  }

  /// Forgets all descriptions of this store.
  public func reset() async throws { try await cache.clear() }
}
