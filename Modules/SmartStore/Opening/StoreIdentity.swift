import Crypto
import Foundation
import SalesforceSDKCommon

/// The identity of a store: its owner and its name. It does not depend on the folder's location.
struct StoreIdentity: Sendable, Hashable {
  let name: String
  let owner: StoreOwner

  init(name: String = SmartStore.defaultStoreName, owner: StoreOwner = .global) {
    self.name = name
    self.owner = owner
  }

  /// The associated data of the store's key file.
  var context: [UInt8] {
    // Some file systems return a name in the other Unicode normalization form.
    StoreRecords.context(of: owner.scope + [name.precomposedStringWithCanonicalMapping])
  }

  /// Returns a digest that distinguishes a key file of another owner or name from one with another
  /// key, without a key.
  func binding(storeID: UUID) -> [UInt8] {
    Array(
      SHA256.hash(data: Array("fieldforce store binding".utf8) + storeID.bytes + context)
        .prefix(StoreKeyFile.bindingSize))
  }

  /// The name of the store's record among those of its user, or of the app.
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
