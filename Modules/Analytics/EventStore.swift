import Synchronization

/// A receiver of events, which stores, sends or drops them.
///
/// Storing never fails for the caller: an event is worth less than the work that it tells of. An
/// implementation that writes to disk logs what it could not write.
public protocol EventStore: Sendable {
  /// Takes an event. On return it is kept, if this store keeps events at all.
  func store(_ event: AnalyticsEvent) async
}

/// An event store that drops every event. The default.
public struct DiscardingEventStore: EventStore {
  /// Makes the store.
  public init() {}

  /// Does nothing.
  public func store(_ event: AnalyticsEvent) async {}
}

/// An event store that keeps the newest events in memory, for tests and for inspecting a running program.
public final class InMemoryEventStore: EventStore {
  /// How many events are kept; older ones are dropped.
  public let maxEvents: Int

  private let kept = Mutex<[AnalyticsEvent]>([])

  /// Makes an empty store. Default: the newest 1,000 events.
  public init(maxEvents: Int = 1_000) {
    precondition(
      maxEvents > 0, "maxEvents is \(maxEvents); a store that keeps nothing is a discarding one")
    self.maxEvents = maxEvents
  }

  /// The events, oldest first.
  public var events: [AnalyticsEvent] { kept.withLock { $0 } }

  /// Keeps the event.
  public func store(_ event: AnalyticsEvent) async {
    kept.withLock { events in
      events.append(event)
      if events.count > maxEvents { events.removeFirst(events.count - maxEvents) }
    }
  }
}
