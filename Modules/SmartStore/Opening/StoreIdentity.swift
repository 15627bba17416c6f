import Crypto
import Foundation
import SalesforceSDKCommon

/// Which store a folder holds: whose it is, and its name. It stays the same wherever the folder lies.
struct StoreIdentity: Sendable, Hashable {
  let name: String
  let owner: StoreOwner

  init(name: String = SmartStore.defaultStoreName, owner: StoreOwner = .global) {
    self.name = name
    self.owner = owner
  }

  /// What is authenticated with the store's key file.
  var context: [UInt8] {
    // Some file systems give a name back in the other of its two forms.
    StoreRecords.context(of: owner.scope + [name.precomposedStringWithCanonicalMapping])
  }

  /// Tells a key file of another owner or name from one with another key, without a key.
  func binding(storeID: UUID) -> [UInt8] {
    Array(
      SHA256.hash(data: Array("fieldforce store binding".utf8) + storeID.bytes + context)
        .prefix(StoreKeyFile.bindingSize))
  }

  /// The store among those of its user, or of the app.
  var recordName: String {
    (owner.scope.dropFirst(2) + [name.precomposedStringWithCanonicalMapping]).joined(separator: "/")
  }
}

extension StoreIdentity: CustomStringConvertible {
  var description: String {
    let whose =
      owner.isGlobal ? "the app" : "account \(owner.scope.prefix(2).joined(separator: "/"))"
    return "store '\(name)' of \(whose)"
  }
}
