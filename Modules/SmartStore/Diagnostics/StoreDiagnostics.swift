import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import Synchronization

/// The diagnostics of a store: log records, events, query plans.
///
/// Work inside a transaction only queues its reports here. They are delivered after the
/// transaction, in the task of the caller, so that an event store or an observer may use the store
/// again.
final class StoreDiagnostics: Sendable {
  let options: SmartStoreOptions

  private let capturesPlans = Atomic(false)
  private let lastPlan = Mutex<ExplainedQuery?>(nil)
  private let pending = Mutex<[Report]>([])
  private let hasPending = Atomic(false)

  /// A queued report.
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

  /// Records a query that is about to run: its text for the log, and its plan if requested.
  func willRun(
    _ sql: String, _ bindings: @autoclosure () -> [BoundValue], on access: StoreAccess
  ) throws(SmartStoreError) {
    // This level is below that of debug builds: the text of a smart query may contain user input.
    options.logger.verbose(sql)
    guard capturesExplainQueryPlan else { return }
    let plan = try ExplainedQuery(sql, bindings(), on: access)
    lastPlan.withLock { $0 = plan }
  }

  // MARK: Reports

  /// Queues the events of a committed transaction.
  func report(_ events: [AnalyticsEvent]) {
    leave(events.map(Report.event))
  }

  /// Queues the report of a JSON text that could not be read or written.
  func report(_ failure: JSONFailure) {
    leave([.failure(failure)])
  }

  private func leave(_ reports: [Report]) {
    guard !reports.isEmpty else { return }
    pending.withLock { $0 += reports }
    hasPending.store(true, ordering: .releasing)
  }

  /// Delivers the reports that were queued since the last call.
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
