public import SalesforceSDKCommon
public import SalesforceSDKCore

/// A poller of an account's notifications, for programs that no push service reaches (HT-72).
///
/// The pause is 60 seconds after a new notification, doubles up to 15 minutes while there are none
/// or requests fail, and varies by a fifth. A poller delivers each notification once, including
/// those that arrive within the second of the last request.
public struct NotificationPoller: Sendable {
  /// The options of a poller.
  public struct Options: Sendable {
    /// The pause after a new notification. Default: 60 seconds.
    public var interval: Duration = .seconds(60)
    /// The longest pause. Default: 15 minutes.
    public var longestInterval: Duration = .seconds(900)
    /// The time from which notifications are delivered. Default: nil, all that the user has not
    /// seen on the server.
    public var since: SalesforceDate?
    /// Measures the pauses. Default: the continuous clock.
    public var clock: any Clock<Duration> & Sendable = ContinuousClock()
    /// Draws the random part of a pause, 0..<1. Default: the system's generator.
    public var chance: @Sendable () -> Double = { .random(in: 0..<1) }

    /// Creates options. Each property documents its default.
    public init() {}
  }

  private let client: RestClient
  private let receiver: PushReceiver
  private let options: Options

  /// The maximum number of pages per poll; older notifications are skipped.
  private static let maxPages = 20

  /// Creates a poller that delivers the notifications of the client's account to a receiver.
  public init(client: RestClient, receiver: PushReceiver, options: Options = Options()) {
    self.client = client
    self.receiver = receiver
    self.options = options
  }

  /// Polls until the account is logged out or the task is cancelled. After a failed request, it
  /// waits and continues.
  ///
  /// - Parameter onFailure: Called with the error of each request that fails. Default: nothing happens.
  /// - Throws: `CancellationError`.
  public func run(onFailure: @Sendable (any Error) -> Void = { _ in }) async throws {
    var schedule = PollSchedule(shortest: options.interval, longest: options.longestInterval)
    var inbox = NotificationInbox(since: options.since)
    while true {
      var hasNews = false
      do {
        for notification in try await news(&inbox) {
          hasNews = true
          try await receiver.receive(notification, source: .polled)
        }
      } catch let error as CancellationError {
        throw error
      } catch let error as RestError where error.code == .notAuthenticated {
        return
      } catch {
        onFailure(error)
      }
      try await options.clock.sleep(for: schedule.next(hasNews: hasNews, chance: options.chance()))
    }
  }

  /// The notifications since the last call, the oldest first.
  private func news(_ inbox: inout NotificationInbox) async throws -> [JSONObject] {
    var pages: [JSONSlice] = []
    var seen: Set<String> = []
    var before: SalesforceDate?
    for _ in 0..<Self.maxPages {
      let json = try await client.send(
        .notifications(size: RestRequest.maxNotifications, before: before)
      ).json()
      let page = json["notifications"].map { Array($0.elements) } ?? []
      // Those of the second of the bound come twice. If nothing else comes, all of that second is known.
      let fresh = page.filter { $0["id"]?.string.map { seen.insert($0).inserted } ?? false }
      pages += fresh
      guard !fresh.isEmpty, page.count == RestRequest.maxNotifications,
        let oldest = page.compactMap({ NotificationInbox.date($0) }).min(),
        inbox.wants(olderThan: oldest)
      else { break }
      before = SalesforceDate(milliseconds: oldest.milliseconds + 1_000)
    }
    return inbox.take(pages)
  }
}

/// The delivered notifications: a value without a network.
struct NotificationInbox {
  private let since: SalesforceDate?
  /// The date of the newest that was taken.
  private var newest: SalesforceDate?
  /// The dates of those that were taken lately, by their ids.
  private var known: [String: SalesforceDate] = [:]

  /// The maximum age, relative to the newest one, of a notification that arrives after it.
  private static let overlap: Int64 = 60_000

  init(since: SalesforceDate?) { self.since = since }

  static func date(_ notification: JSONSlice) -> SalesforceDate? {
    (notification["mostRecentActivityDate"] ?? notification["lastModified"])?.string
      .flatMap { SalesforceDate.parse($0) }
  }

  /// From when on notifications are wanted; nil for all.
  private var bound: SalesforceDate? {
    newest.map { SalesforceDate(milliseconds: $0.milliseconds - Self.overlap) } ?? since
  }

  /// Whether a page with older notifications may hold one that is wanted.
  func wants(olderThan date: SalesforceDate) -> Bool { bound.map { date >= $0 } ?? true }

  /// Adds notifications in any order and returns the new ones, the oldest first. Notifications
  /// without an id or a date are ignored. A notification with a newer date, such as after another
  /// user's comment, is new again.
  mutating func take(_ notifications: [JSONSlice]) -> [JSONObject] {
    var fresh: [(date: SalesforceDate, id: String, object: JSONObject)] = []
    for notification in notifications {
      guard let id = notification["id"]?.string, let date = Self.date(notification),
        let object = notification.value.object, wants(olderThan: date),
        known[id].map({ $0 < date }) ?? true
      else { continue }
      known[id] = date
      // Notifications from before the first request count if the user has not seen them.
      guard newest != nil || since != nil || notification["seen"]?.bool != true else { continue }
      fresh.append((date, id, object))
    }
    newest = ([newest].compactMap(\.self) + fresh.map(\.date)).max()
    if let bound { known = known.filter { $0.value >= bound } }
    return fresh.sorted { ($0.date, $0.id) < ($1.date, $1.id) }.map(\.object)
  }
}
