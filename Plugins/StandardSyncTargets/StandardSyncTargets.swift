import BasicSyncUp
import BatchSyncUp
import BriefcaseSyncDown
import BulkSyncDown
import BulkSyncUp
import CollectionSyncUp
import LayoutSyncDown
import MetadataSyncDown
public import MobileSync
import MruSyncDown
import ParentChildrenSync
import RefreshSyncDown
import SoqlSyncDown
import SoslSyncDown

/// The registration of all targets of the package.
public enum StandardSyncTargets: Sendable {
  /// Registers all standard targets. The collection target is the default for syncs up.
  ///
  /// - Throws: `SyncError` `duplicateTarget` if one of their names is already registered.
  public static func register(into registry: SyncTargetRegistry) throws {
    try registry.register(SoqlSyncDownTarget.self)
    try registry.register(SoslSyncDownTarget.self)
    try registry.register(MruSyncDownTarget.self)
    try registry.register(RefreshSyncDownTarget.self)
    try registry.register(MetadataSyncDownTarget.self)
    try registry.register(LayoutSyncDownTarget.self)
    try registry.register(BriefcaseSyncDownTarget.self)
    try registry.register(ParentChildrenSyncDownTarget.self)
    try registry.register(CollectionSyncUpTarget.self, asDefault: true)
    try registry.register(BatchSyncUpTarget.self)
    try registry.register(BasicSyncUpTarget.self)
    try registry.register(ParentChildrenSyncUpTarget.self)
    try registry.register(BulkSyncDownTarget.self)
    try registry.register(BulkSyncUpTarget.self)
  }
}
