import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import Synchronization

/// The diagnostics of a store: log records, events, query plans.
///
/// Work inside a transaction only leaves word here. It is delivered after the transaction, from the
/// task that asked for the work, so that an event store or an observer may use the store again.
final class StoreDiagnostics: Sendable {
  let options: SmartStoreOptions

  private let capturesPlans = Atomic(false)
  private let lastPlan = Mutex<ExplainedQuery?>(nil)
  private let pending = Mutex<[Report]>([])
  private let hasPending = Atomic(false)

  /// Something to deliver.
  private enum Report {
    case event(AnalyticsEvent)
    case failure(JSONFailure)
  }

  init(_ options: SmartStoreOptions) {
    self.options = options
  }

  // MARK: Query plans

  var capturesExplainQueryPlan: Bool {
    get { capturesPlans.load(ordering: .relaxed) }
    set { capturesPlans.store(newValue, ordering: .relaxed) }
  }

  var lastExplainQueryPlan: ExplainedQuery? { lastPlan.withLock { $0 } }

  /// Takes note of a query that is about to run: its text for the log, its plan if asked for.
  func willRun(
    _ sql: String, _ bindings: @autoclosure () -> [BoundValue], on access: StoreAccess
  ) throws(SmartStoreError) {
    // Below the level that debug builds write; a smart query's text may hold what a user typed.
    options.logger.verbose(sql)
    guard capturesExplainQueryPlan else { return }
    let plan = try ExplainedQuery(sql, bindings(), on: access)
    lastPlan.withLock { $0 = plan }
  }

  // MARK: Reports

  /// Leaves word of events that a committed transaction gave rise to.
  func report(_ events: [AnalyticsEvent]) {
    leave(events.map(Report.event))
  }

  /// Leaves word of a JSON text that could not be read or written.
  func report(_ failure: JSONFailure) {
    leave([.failure(failure)])
  }

  private func leave(_ reports: [Report]) {
    guard !reports.isEmpty else { return }
    pending.withLock { $0 += reports }
    hasPending.store(true, ordering: .releasing)
  }

  /// Hands on what was left since the last time.
  func deliver() async {
    guard hasPending.load(ordering: .relaxed),
      hasPending.exchange(false, ordering: .acquiring)
    else { return }
    let reports = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    for report in reports {
      switch report {
      case .event(let event): await options.events.store(event)
      case .failure(let failure):
        await options.events.store(failure.event(at: options.now()))
        failure.post(includingText: options.includesRawJSONInNotifications)
      }
    }
  }
}
