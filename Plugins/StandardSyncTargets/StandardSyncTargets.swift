import CollectionSyncUp
public import MobileSync
import SoqlSyncDown

/// The targets that come with the package.
public enum StandardSyncTargets: Sendable {
  /// Registers all of them; the collection target is the default for syncs up.
  ///
  /// - Throws: ``SyncError`` `duplicateTarget` if one of their names is taken.
  public static func register(into registry: SyncTargetRegistry) throws {
    try registry.register(SoqlSyncDownTarget.self)
    try registry.register(CollectionSyncUpTarget.self, asDefault: true)
  }
}
