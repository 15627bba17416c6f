import SalesforceSDKCommon
import SalesforceSDKCore

/// The owner of a store: the app, or one account in one community.
///
/// The 15-character and 18-character forms of an id are equal, and lead to the same store.
public enum StoreOwner: Sendable {
  /// The app. Global stores survive logout and must not hold a user's data.
  case global
  /// An account. Without a community: the account's internal scope.
  case user(organizationId: String, userId: String, communityId: String? = nil)

  /// Whether this is the app.
  public var isGlobal: Bool { self == .global }

  /// Returns the folders from the root to the owner's stores.
  ///
  /// - Throws: ``SmartStoreError`` `invalidStoreName` if an id cannot be a folder's name.
  func folders() throws(SmartStoreError) -> [String] {
    switch self {
    case .global: return ["stores"]
    case .user:
      let scope = self.scope
      for part in scope { try StoreOwner.checkFolderName(part, of: "account id") }
      return scope + ["stores"]
    }
  }

  /// The parts that identify an owner: none for the app, else the ids in their long form.
  var scope: [String] {
    switch self {
    case .global: []
    case .user(let organization, let user, let community):
      [
        StoreOwner.longForm(organization), StoreOwner.longForm(user),
        UserFolders.community(community) ?? StoreOwner.internalScope,
      ]
    }
  }

  private static func longForm(_ id: String) -> String { SalesforceId.longForm(of: id) ?? id }

  /// Whether the owner is this account, in any community.
  func isAccount(organization: String, user: String) -> Bool {
    scope.prefix(2) == [StoreOwner.longForm(organization), StoreOwner.longForm(user)]
  }

  /// The folder of an account outside of any community.
  static let internalScope = "internal"

  /// Refuses a name that is not exactly one component of a path.
  static func checkFolderName(_ name: String, of what: String) throws(SmartStoreError) {
    let isOnePart =
      !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
      && !name.utf8.contains(0)
    guard isOnePart, name.utf8.count <= 255 else {
      throw SmartStoreError(
        .invalidStoreName,
        "The \(what) \"\(name)\" cannot name a folder. It must not be empty, \".\", \"..\", hold "
          + "\"/\" or NUL, or have more than 255 bytes.")
    }
  }
}

extension StoreOwner: Hashable {
  public static func == (left: Self, right: Self) -> Bool { left.scope == right.scope }

  public func hash(into hasher: inout Hasher) { hasher.combine(scope) }
}
