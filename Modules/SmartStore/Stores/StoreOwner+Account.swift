public import SalesforceSDKCore

extension StoreOwner {
  /// The account, in the community that it is logged in to (SS-3).
  public init(_ account: UserAccount) {
    self = .user(
      organizationId: account.organizationId, userId: account.userId,
      communityId: account.credentials.communityId)
  }
}
