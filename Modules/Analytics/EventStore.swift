import SalesforceSDKCommon
import Synchronization

/// A receiver of events, which stores, sends or drops them.
///
/// Storing never fails for the caller: an event must not fail the work that it reports. An
/// implementation that writes to disk logs its failures.
public protocol EventStore: Sendable {
  /// Stores an event before it returns, if this event store keeps events at all.
  func store(_ event: AnalyticsEvent) async

  /// Returns the event store for events about one user's data. Default: this one.
  func scoped(to owner: EventOwner) -> any EventStore
}

extension EventStore {
  /// Returns this event store, which then does not tell users apart.
  public func scoped(to owner: EventOwner) -> any EventStore { self }
}

/// The user, in one community or in none, whose data an event is about.
///
/// It decides where an event is stored, and is no part of the event. Ids of 15 and 18 characters of
/// the same user are equal.
public struct EventOwner: Sendable, Hashable {
  /// The org's id, in its long form.
  public let organizationId: String
  /// The user's id, in its long form.
  public let userId: String
  /// The community's id, in its long form; nil without one.
  public let communityId: String?

  /// Names a user.
  public init(organizationId: String, userId: String, communityId: String? = nil) {
    self.organizationId = SalesforceId.longForm(of: organizationId) ?? organizationId
    self.userId = SalesforceId.longForm(of: userId) ?? userId
    self.communityId = communityId.map { SalesforceId.longForm(of: $0) ?? $0 }
  }
}

/// An event store that drops every event. The default.
public struct DiscardingEventStore: EventStore {
  /// Creates the store.
  public init() {}

  /// Does nothing.
  public func store(_ event: AnalyticsEvent) async {}
}

/// An event store that keeps the newest events in memory, for tests and for inspecting a running program.
public final class InMemoryEventStore: EventStore {
  /// The number of events to keep; older ones are dropped.
  public let maxEvents: Int

  private let kept = Mutex<[AnalyticsEvent]>([])

  /// Creates an empty store. Default: the newest 1,000 events.
  public init(maxEvents: Int = 1_000) {
    precondition(
      maxEvents > 0, "maxEvents is \(maxEvents); a store that keeps nothing is a discarding one")
    self.maxEvents = maxEvents
  }

  /// The events, oldest first.
  public var events: [AnalyticsEvent] { kept.withLock { $0 } }

  /// Stores the event.
  public func store(_ event: AnalyticsEvent) async {
    kept.withLock { events in
      events.append(event)
      if events.count > maxEvents { events.removeFirst(events.count - maxEvents) }
    }
  }
}
