import SalesforceSDKCommon
public import SalesforceSDKCore

extension StoreOwner {
  /// Creates the owner for an account in the community that it is logged in to, with the long form
  /// of its ids.
  public init(_ account: UserAccount) {
    self = .user(
      organizationId: SalesforceId.longForm(of: account.organizationId) ?? account.organizationId,
      userId: SalesforceId.longForm(of: account.userId) ?? account.userId,
      communityId: UserFolders.community(account.credentials.communityId))
  }

  /// The account that the stores belong to; nil for the app.
  var identity: UserAccountIdentity? {
    guard case .user(let organization, let user, _) = self else { return nil }
    return UserAccountIdentity(userId: user, organizationId: organization)
  }

  /// The owner of the account's stores outside of any community.
  var account: StoreOwner {
    guard case .user(let organization, let user, _) = self else { return self }
    return .user(organizationId: organization, userId: user)
  }
}
