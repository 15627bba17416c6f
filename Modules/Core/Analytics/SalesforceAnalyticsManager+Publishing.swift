public import SalesforceAnalytics
import SalesforceSDKCommon

// When stored events are published (CA-40).
extension SalesforceAnalyticsManager {
  /// Publishes the events of a user that are stored, in every mode but ``AnalyticsOptions/PublishMode/disabled``.
  @discardableResult
  public func publish(for account: UserAccount) async -> PublicationReport {
    guard options.publishMode != .disabled, let manager = manager(for: account) else {
      return .nothing
    }
    return await manager.publishAllEvents()
  }

  /// The program goes to the background: in the mode ``AnalyticsOptions/PublishMode/background``, publishes the
  /// events of the current user.
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

  /// Publishes what is stored for the last time, within ``AnalyticsOptions/shutdownTimeLimit``, in the modes that
  /// publish by themselves. Call it before the accounts are closed.
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
