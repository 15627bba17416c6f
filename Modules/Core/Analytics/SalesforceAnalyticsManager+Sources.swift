public import SalesforceAnalytics
import SalesforceSDKCommon

// The events of the SDK: of stores and syncs as an event store, of accounts as their reporter.
extension SalesforceAnalyticsManager: EventStore {
  /// Stores an event of the app itself with the current user.
  public func store(_ event: AnalyticsEvent) async {
    guard let account = await accounts()?.current, let manager = manager(for: account) else {
      return
    }
    await add(event, to: manager)
  }

  /// Returns the event store of one user.
  public func scoped(to owner: EventOwner) -> any EventStore {
    UserEventStore(analytics: self, owner: owner)
  }
}

/// The event store of one user.
private struct UserEventStore: EventStore {
  let analytics: SalesforceAnalyticsManager
  let owner: EventOwner

  func store(_ event: AnalyticsEvent) async { await analytics.add(event, of: owner) }
}

extension SalesforceAnalyticsManager: AccountAnalyticsReporter {
  package func didLogIn(_ account: UserAccount, users: Int, loginServers: [String]) async {
    do throws(PreferencesError) {
      let settings = try AnalyticsOptOut(in: folders.communityFolder(of: account))
      try settings.apply(account.profile)
      await apply(settings.isEnabled, to: account)
    } catch {
      CoreLogger.log.warning(
        "It could not be noted whether the org allows analytics of \(account).", error: error)
    }
    await createAndStoreEvent(
      name: "addUser", account: account, className: "UserAccountManager",
      attributes: [
        "numUsers": .integer(Int64(users)), "numLoginServers": .integer(Int64(loginServers.count)),
        "loginServers": .array(loginServers.map { .string($0) }),
      ])
    await reportManagedConfiguration(of: account)
  }

  /// Stores which keys a managed device has, without their values (CO-171).
  private func reportManagedConfiguration(of account: UserAccount) async {
    guard let file = accounts()?.options.managed, let managed = try? file.current,
      managed.isManaged
    else { return }
    await createAndStoreEvent(
      name: "mdmConfiguration", account: account, className: "ManagedConfigurationFile",
      attributes: managed.eventAttributes)
  }

  package func didRefreshToken(of account: UserAccount) async {
    await createAndStoreEvent(
      name: "tokenRefresh", account: account, className: "UserAccountManager")
  }
}
