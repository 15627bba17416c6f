public import SalesforceAnalytics
import SalesforceSDKCommon

// When stored events are published (CA-40).
extension SalesforceAnalyticsManager {
  /// Publishes the stored events of a user, in every mode except
  /// ``AnalyticsOptions/PublishMode/disabled``.
  @discardableResult
  public func publish(for account: UserAccount) async -> PublicationReport {
    guard options.publishMode != .disabled, let manager = manager(for: account) else {
      return .nothing
    }
    return await manager.publishAllEvents()
  }

  /// Call this when the program enters the background. Publishes the events of the current user in
  /// the mode ``AnalyticsOptions/PublishMode/background``.
  public func didEnterBackground() async {
    guard options.publishMode == .background, let account = await accounts()?.current else {
      return
    }
    await publish(for: account)
  }

  /// Publishes in the mode ``AnalyticsOptions/PublishMode/periodic(_:)`` until the task is cancelled, the first time
  /// after one interval. In the other modes it returns at once.
  public func run() async {
    guard case .periodic(let interval) = options.publishMode else { return }
    while (try? await options.clock.sleep(for: interval)) != nil { await publishAll() }
  }

  /// Publishes stored events for the last time, within ``AnalyticsOptions/shutdownTimeLimit``, in
  /// the modes that publish automatically. Call it before you close the accounts.
  public func close() async {
    switch options.publishMode {
    case .manual, .disabled: return
    case .background, .periodic: break
    }
    let published: Int? = try? await CoalescedTask { await self.publishAll() }
      .value(within: options.shutdownTimeLimit, by: options.clock)
    if published == nil {
      CoreLogger.log.info("The last publication of analytics events took too long; they are kept.")
    }
  }

  /// - Returns: The number of events that were published.
  @discardableResult
  private func publishAll() async -> Int {
    var published = 0
    for account in await accounts()?.accounts ?? [] where account.loginState == .loggedIn {
      published += await publish(for: account).published
    }
    return published
  }
}
