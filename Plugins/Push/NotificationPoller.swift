public import SalesforceSDKCommon
public import SalesforceSDKCore

/// Requests the notifications of an account from time to time, for programs that no push service reaches (HT-72).
///
/// The pause is 60 seconds after news, doubles up to 15 minutes while there is none or requests fail, and varies by a fifth. A
/// notification is delivered once in the life of a poller; one that has arrived in the second of the last request is not missed.
public struct NotificationPoller: Sendable {
  /// How a poller behaves.
  public struct Options: Sendable {
    /// The pause after news. Default: 60 seconds.
    public var interval: Duration = .seconds(60)
    /// The longest pause. Default: 15 minutes.
    public var longestInterval: Duration = .seconds(900)
    /// From when on notifications are delivered. Default: nil, all that the user has not seen on the server.
    public var since: SalesforceDate?
    /// Measures the pauses. Default: the continuous clock.
    public var clock: any Clock<Duration> & Sendable = ContinuousClock()
    /// Draws the random part of a pause, 0..<1. Default: the system's generator.
    public var chance: @Sendable () -> Double = { .random(in: 0..<1) }

    /// Makes options; each default stands at its property.
    public init() {}
  }

  private let client: RestClient
  private let receiver: PushReceiver
  private let options: Options

  /// No request brings more pages: what is older was missed for long.
  private static let maxPages = 20

  /// Delivers the notifications of the client's account to a receiver.
  public init(client: RestClient, receiver: PushReceiver, options: Options = Options()) {
    self.client = client
    self.receiver = receiver
    self.options = options
  }

  /// Polls until the account is logged out or the task is cancelled. Failures of requests are waited out.
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

  /// What has arrived since the last call, the oldest first.
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

/// Which notifications were delivered: a value without a network.
struct NotificationInbox {
  private let since: SalesforceDate?
  /// The date of the newest that was taken.
  private var newest: SalesforceDate?
  /// The dates of those that were taken lately, by their ids.
  private var known: [String: SalesforceDate] = [:]

  /// How much older than the newest one may be that arrives after it.
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

  /// Takes what is new among notifications in any order, the oldest first. Those without an id or a date are left out. One
  /// that has become newer, as when another user has commented, too, is new again.
  mutating func take(_ notifications: [JSONSlice]) -> [JSONObject] {
    var fresh: [(date: SalesforceDate, id: String, object: JSONObject)] = []
    for notification in notifications {
      guard let id = notification["id"]?.string, let date = Self.date(notification),
        let object = notification.value.object, wants(olderThan: date),
        known[id].map({ $0 < date }) ?? true
      else { continue }
      known[id] = date
      // What was there before the first request counts if the user has not seen it.
      guard newest != nil || since != nil || notification["seen"]?.bool != true else { continue }
      fresh.append((date, id, object))
    }
    newest = ([newest].compactMap(\.self) + fresh.map(\.date)).max()
    if let bound { known = known.filter { $0.value >= bound } }
    return fresh.sorted { ($0.date, $0.id) < ($1.date, $1.id) }.map(\.object)
  }
}
