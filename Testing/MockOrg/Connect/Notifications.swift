public import struct Foundation.Date
import Synchronization

/// A notification that a user finds in the app.
public struct MockOrgNotification: Sendable, Hashable {
  /// Its id in responses; set by the org.
  public internal(set) var id = ""
  public var title: String
  public var body: String
  /// The API name of its type.
  public var type: String
  /// The record that it is about.
  public var target: String
  public internal(set) var isRead = false
  public internal(set) var isSeen = false
  /// By the org's clock.
  public internal(set) var date = Date(timeIntervalSince1970: 0)
  /// What the user may choose to do with it: a key and a label each.
  public var actions: [Action]

  /// A choice that a notification offers.
  public struct Action: Sendable, Hashable {
    public var key: String
    public var label: String

    public init(key: String, label: String) {
      self.key = key
      self.label = label
    }
  }

  public init(
    title: String, body: String, type: String = "CustomNotification", target: String = "",
    actions: [Action] = []
  ) {
    self.title = title
    self.body = body
    self.type = type
    self.target = target
    self.actions = actions
  }
}

/// The notifications of an org, by user, the latest first.
final class Notifications: Sendable {
  private struct State {
    var byUser: [String: [MockOrgNotification]] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  func add(_ notification: MockOrgNotification, for userID: String, now: Date) -> String {
    state.withLock { state in
      state.last += 1
      var notification = notification
      notification.id = "\(Self.organization)\(state.last)"
      notification.date = now
      state.byUser[userID, default: []].insert(notification, at: 0)
      return notification.id
    }
  }

  private static let organization = "0Fr"

  func all(of userID: String) -> [MockOrgNotification] {
    state.withLock { $0.byUser[userID] ?? [] }
  }

  /// Changes the user's notifications that `matches` chooses, and gives their number.
  func update(
    of userID: String, where matches: (MockOrgNotification) -> Bool,
    _ change: (inout MockOrgNotification) -> Void
  ) -> Int {
    state.withLock { state in
      var count = 0
      var list = state.byUser[userID] ?? []
      for index in list.indices where matches(list[index]) {
        change(&list[index])
        count += 1
      }
      state.byUser[userID] = list
      return count
    }
  }

  func removeAll() { state.withLock { $0.byUser = [:] } }
}

extension MockOrg {
  /// Puts a notification before a user and returns its id.
  ///
  /// - Parameter userID: The org's own user if nil.
  @discardableResult
  public func notify(_ notification: MockOrgNotification, userID: String? = nil) -> String {
    notifications.add(notification, for: userID ?? self.userID, now: options.clock.now)
  }
}
