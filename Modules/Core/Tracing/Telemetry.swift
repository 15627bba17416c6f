import Metrics
import Synchronization
import Tracing

/// The spans and metrics of the SDK's work, for the tracer and the metrics backend that the program bootstraps
/// (CO-194).
///
/// The permitted content of spans and metrics: names of the SDK's own operations, HTTP methods,
/// statuses, hosts, paths without query and without values, ids of syncs, counts. Never a query, a
/// body, a name of a soup or a store, or the message of an error, which may quote a record.
package enum Telemetry {
  /// A kind of work. Its raw value names the span; the metrics are named after it.
  package enum Work: String, Sendable {
    case request = "fieldforce.request"
    case refresh = "fieldforce.refresh"
    case login = "fieldforce.login"
    case sync = "fieldforce.sync"
    case transaction = "fieldforce.store.transaction"
    case read = "fieldforce.store.read"
  }

  /// Runs `body` in a span, counts it and measures its time. Without a tracer and a metrics
  /// backend, it only runs `body`.
  ///
  /// The counter `NAME.count` and the timer `NAME.duration` have the dimension `outcome`, which is `success`,
  /// `cancelled` or `failure` unless `body` sets another, and the other dimensions that `body` sets.
  package static func measure<Result>(
    _ work: Work, _ body: (Recording?) async throws -> Result
  ) async rethrows -> Result {
    guard let recording = Recording(work) else { return try await body(nil) }
    do {
      let result: Result
      if let span = recording.span {
        result = try await ServiceContext.$current.withValue(span.context) {
          try await body(recording)
        }
      } else {
        result = try await body(recording)
      }
      recording.end(nil)
      return result
    } catch {
      recording.end(error)
      throw error
    }
  }

  /// Adds to a counter, if there is a metrics backend.
  package static func count(_ label: String, _ dimensions: [(String, String)] = []) {
    guard let factory = metrics else { return }
    Counter(label: label, dimensions: dimensions, factory: factory).increment()
  }

  /// The tracer of the program or of the task; nil without one.
  fileprivate static var tracer: (any Tracer)? {
    // One look at the instrument in place of a span that does nothing.
    InstrumentationSystem.instrument is NoOpInstrument ? nil : InstrumentationSystem.tracer
  }

  /// The metrics backend of the program or of the task; nil without one.
  fileprivate static var metrics: (any MetricsFactory)? {
    let factory = MetricsSystem.factory
    return factory is NOOPMetricsHandler ? nil : factory
  }
}

extension Telemetry {
  /// One piece of work that is in flight.
  package final class Recording: Sendable {
    private struct State {
      var outcome: String?
      var dimensions: [(String, String)] = []
    }

    fileprivate let span: (any Span)?
    private let factory: (any MetricsFactory)?
    private let work: Work
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// - Returns: nil if there is neither a tracer nor a metrics backend.
    fileprivate init?(_ work: Work) {
      let tracer = Telemetry.tracer
      let factory = Telemetry.metrics
      guard tracer != nil || factory != nil else { return nil }
      self.work = work
      self.factory = factory
      span = tracer.map {
        $0.startSpan(work.rawValue, ofKind: work == .request ? .client : .internal) as any Span
      }
    }

    /// Sets an attribute of the span.
    package func set(_ key: String, _ value: String) { span?.attributes[key] = value }

    /// Sets an attribute of the span.
    package func set(_ key: String, _ value: Int) { span?.attributes[key] = value }

    /// Sets an attribute of the span that is a dimension of the metrics, too. It must have few values.
    package func setDimension(_ key: String, _ value: String) {
      set(key, value)
      state.withLock { $0.dimensions.append((key, value)) }
    }

    /// Sets the outcome of work that throws no error.
    package func setOutcome(_ outcome: String) { state.withLock { $0.outcome = outcome } }

    /// Adds an event to the span.
    package func note(_ event: String) { span?.addEvent(SpanEvent(name: event)) }

    /// Records a number of items, such as the records of a sync.
    package func record(_ label: String, _ count: Int) {
      set(label, count)
      guard let factory else { return }
      let dimensions = state.withLock { $0.dimensions }
      Counter(label: "\(work.rawValue).\(label)", dimensions: dimensions, factory: factory)
        .increment(by: count)
    }

    fileprivate func end(_ error: (any Error)?) {
      let state = state.withLock { $0 }
      let outcome =
        switch error {
        case nil: state.outcome ?? "success"
        case is CancellationError: "cancelled"
        default: "failure"
        }
      if let span {
        span.attributes["outcome"] = outcome
        if let error, !(error is CancellationError) {
          // Only its type, because the message may contain user input.
          span.attributes["error.type"] = "\(type(of: error))"
          span.setStatus(SpanStatus(code: .error))
        } else if outcome == "failure" {
          span.setStatus(SpanStatus(code: .error))
        }
        span.end()
      }
      guard let factory else { return }
      let dimensions = state.dimensions + [("outcome", outcome)]
      Timer(label: "\(work.rawValue).duration", dimensions: dimensions, factory: factory)
        .recordNanoseconds(start.duration(to: .now).nanoseconds)
      Counter(label: "\(work.rawValue).count", dimensions: dimensions, factory: factory).increment()
    }
  }
}

extension Duration {
  /// The length in nanoseconds, as far as they can be counted.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong ? .max : product &+ attoseconds / 1_000_000_000
  }
}
