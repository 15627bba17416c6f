import SalesforceSDKCommon
import Synchronization

/// A receiver of events, which stores, sends or drops them.
///
/// Storing never fails for the caller: an event is worth less than the work that it tells of. An
/// implementation that writes to disk logs what it could not write.
public protocol EventStore: Sendable {
  /// Takes an event. On return it is kept, if this store keeps events at all.
  func store(_ event: AnalyticsEvent) async

  /// The event store for what happens in the data of one user. Default: this one.
  func scoped(to owner: EventOwner) -> any EventStore
}

extension EventStore {
  /// Returns this event store, which then does not tell users apart.
  public func scoped(to owner: EventOwner) -> any EventStore { self }
}

/// The user, in one community or in none, whose data an event is about.
///
/// It decides where an event is stored, and is no part of the event. Ids of 15 and 18 characters that mean the
/// same user are equal.
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
