import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import Synchronization

extension SalesforceAnalyticsManager {
  /// Closes the managers of a user to everything, in every community.
  fileprivate func hold(_ identity: UserAccountIdentity) async {
    for manager in known(of: identity).values { await manager.store.close() }
  }

  /// Allows creating managers of a user again.
  fileprivate func release(_ identity: UserAccountIdentity) {
    let known = known(of: identity).keys
    managers.withLock { managers in for folder in known { managers[folder] = nil } }
  }

  private func known(of identity: UserAccountIdentity) -> [URL: AnalyticsManager] {
    let home = folders.folder(of: identity).path
    return managers.withLock { managers in
      managers.filter { $0.key.deletingLastPathComponent().path == home }
    }
  }

  /// Removes the events of a user, in every community, then the key.
  fileprivate func erase(_ identity: UserAccountIdentity) throws {
    let removal = Result {
      for community in try AccountDisk.folders(in: folders.folder(of: identity)) {
        for name in [AnalyticsOptOut.fileName, AnalyticsOptOut.fileName + ".lock"] {
          try AccountDisk.remove(community.appending(path: name))
        }
        let events = community.appending(path: Self.folderName)
        if DurableFile(events).exists { try FileManager.default.removeItem(at: events) }
        AccountDisk.removeFolderIfEmpty(community)
      }
      AccountDisk.removeFolderIfEmpty(folders.folder(of: identity))
    }
    // Also if a file could not be removed, because it cannot be decrypted without its key.
    try keys.eraseKeys(of: identity)
    try removal.get()
  }
}

/// Removes the events of a user at the logout.
struct AnalyticsKeeper: AccountDataKeeper {
  let analytics: SalesforceAnalyticsManager
  let folders: UserFolders

  var keeperName: String { "Analytics:\(folders.root.lastPathComponent)" }
  var keeperId: String { "Analytics:\(folders.root.path)" }

  func hold(_ account: UserAccount) async -> Int {
    await analytics.hold(account.identity)
    return 0
  }

  func release(_ account: UserAccount) async { analytics.release(account.identity) }

  func erase(_ account: UserAccount) async throws { try analytics.erase(account.identity) }
}
