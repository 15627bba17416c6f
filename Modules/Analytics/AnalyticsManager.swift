import Foundation
public import SalesforceSDKCommon
import Synchronization

/// The events of one user, or of an app without a user: builds, stores and publishes them.
public final class AnalyticsManager: Sendable {
  /// The events that wait to be published.
  public let store: EventStoreManager
  /// The attributes of app and device in each event.
  public let deviceAppAttributes: DeviceAppAttributes?

  /// The maximum number of events in one call of a publisher.
  public static let batchSize = 100

  private struct Remote {
    let transform: any EventTransform
    let publisher: any EventPublisher
  }

  private let remotes = Mutex<[Remote]>([])
  private let isPublishing = Mutex(false)
  private let sequence = Atomic<Int64>(0)
  private let now: @Sendable () -> Int64
  private let network: @Sendable () -> NetworkStatus

  /// Creates a manager without a publisher; its sequence begins at 0.
  ///
  /// - Parameters:
  ///   - now: The clock, in milliseconds since 1970. Default: the system's.
  ///   - network: The connection that events name. Default: that of this machine.
  public init(
    store: EventStoreManager, deviceAppAttributes: DeviceAppAttributes?,
    now: (@Sendable () -> Int64)? = nil, network: (@Sendable () -> NetworkStatus)? = nil
  ) {
    self.store = store
    self.deviceAppAttributes = deviceAppAttributes
    self.now = now ?? { SalesforceDate(Date()).milliseconds }
    self.network = network ?? { Reachability().status }
  }

  // MARK: Building

  /// The number of the last event that was built; 0 before the first.
  public var globalSequenceId: Int64 { sequence.load(ordering: .relaxed) }

  /// Builds an event: adds an id, the next number, the times that are 0, the connection and the device.
  ///
  /// ```swift
  /// let event = try analytics.event {
  ///   $0.name = "openRoute"
  ///   $0.schemaType = .interaction
  ///   $0.eventType = .user
  ///   $0.page = ["context": "RouteView"]
  /// }
  /// await analytics.store.store(event)
  /// ```
  ///
  /// - Throws: ``EventBuilderError`` with the last reason; the number is then not used.
  public func event(
    _ describe: (inout InstrumentationEventBuilder) -> Void
  ) throws(EventBuilderError) -> InstrumentationEvent {
    var builder = InstrumentationEventBuilder()
    describe(&builder)
    let parts = try builder.checked(deviceAppAttributes)
    let stamp = EventStamp(
      eventId: UUID().uuidString, sequenceId: sequence.add(1, ordering: .relaxed).newValue,
      now: now(), connectionType: Self.text(of: network()), deviceAppAttributes: parts.device)
    return InstrumentationEvent(
      builder, stamp, name: parts.name, schemaType: parts.schemaType)
  }

  /// As ``event(_:)``, with nil and a warning in the log in place of an error.
  public func eventIfValid(
    _ describe: (inout InstrumentationEventBuilder) -> Void
  ) -> InstrumentationEvent? {
    do throws(EventBuilderError) {
      return try event(describe)
    } catch {
      AnalyticsLogger.log.warning(error.message)
      return nil
    }
  }

  private static func text(of status: NetworkStatus) -> String {
    switch status {
    case .viaWiFi: "WiFi"
    case .viaCellular: "Mobile"
    case .notReachable: "None"
    default: "Unknown"
    }
  }

  /// Deletes all stored events. The sequence continues.
  public func reset() async { await store.deleteAll() }

  // MARK: Publishing

  /// Adds a service that gets all events from now on. Without a transform or a publisher nothing happens, except for
  /// a warning in the log.
  public func addRemotePublisher(
    _ publisher: (any EventPublisher)?, transform: (any EventTransform)?
  ) {
    guard let transform, let publisher else {
      AnalyticsLogger.log.warning("A publisher is not added: it or its transform is missing.")
      return
    }
    remotes.withLock { $0.append(Remote(transform: transform, publisher: publisher)) }
  }

  /// Publishes all stored events, and deletes them if every publisher succeeded; otherwise all of
  /// them are kept and sent again to every publisher the next time.
  ///
  /// Nothing happens without a publisher, while storing is off, or while another publication of this manager runs.
  @discardableResult
  public func publishAllEvents() async -> PublicationReport {
    await publish { await self.store.fetchAll() }
  }

  /// Publishes some events, as ``publishAllEvents()`` does. They need not be stored.
  @discardableResult
  public func publish(_ events: [InstrumentationEvent]) async -> PublicationReport {
    await publish { events }
  }

  private func publish(
    _ events: () async -> [InstrumentationEvent]
  ) async -> PublicationReport {
    let remotes = remotes.withLock { $0 }
    guard !remotes.isEmpty, await store.isLoggingEnabled, begin() else { return .nothing }
    defer { isPublishing.withLock { $0 = false } }
    let events = await events()
    guard !events.isEmpty else { return .nothing }
    var failures = 0
    for remote in remotes where await !send(events, to: remote) { failures += 1 }
    guard failures == 0 else {
      AnalyticsLogger.log.info("\(events.count) events are kept: a service did not accept them.")
      return PublicationReport(published: 0, kept: events.count, failedPublishers: failures)
    }
    await store.delete(events.map(\.eventId))
    return PublicationReport(published: events.count, kept: 0, failedPublishers: 0)
  }

  /// Whether no other publication runs; then this one does.
  private func begin() -> Bool {
    isPublishing.withLock { isPublishing in
      guard !isPublishing else { return false }
      isPublishing = true
      return true
    }
  }

  /// Sends events in batches until one fails.
  private func send(_ events: [InstrumentationEvent], to remote: Remote) async -> Bool {
    var rest = events.compactMap { remote.transform.transform($0) }[...]
    while !rest.isEmpty {
      guard await remote.publisher.publish(Array(rest.prefix(Self.batchSize))) else { return false }
      rest = rest.dropFirst(Self.batchSize)
    }
    return true
  }
}

/// The result of a publication.
public struct PublicationReport: Sendable, Hashable {
  /// The number of events that every service accepted; they are deleted.
  public let published: Int
  /// The number of events that are kept because a service did not accept all of them.
  public let kept: Int
  /// The number of publishers that failed.
  public let failedPublishers: Int

  /// There was nothing to publish.
  public static let nothing = PublicationReport(published: 0, kept: 0, failedPublishers: 0)

  init(published: Int, kept: Int, failedPublishers: Int) {
    self.published = published
    self.kept = kept
    self.failedPublishers = failedPublishers
  }
}
