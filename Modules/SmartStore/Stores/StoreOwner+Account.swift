import SalesforceSDKCommon
public import SalesforceSDKCore

extension StoreOwner {
  /// The account, in the community that it is logged in to (SS-3), by the long form of its ids.
  public init(_ account: UserAccount) {
    self = .user(
      organizationId: SalesforceId.longForm(of: account.organizationId) ?? account.organizationId,
      userId: SalesforceId.longForm(of: account.userId) ?? account.userId,
      communityId: UserFolders.community(account.credentials.communityId))
  }
}
