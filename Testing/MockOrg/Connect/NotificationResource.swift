import Foundation
import SalesforceSDKCommon

/// `/connect/notifications`: what the user finds in the app's tray.
struct NotificationResource: Resource {
  private static let greatestSize = 50
  private static let usualSize = 10
  let call: RESTCall

  private var all: [MockOrgNotification] { org.notifications.all(of: transaction.userID) }

  func list() throws -> OrgResponse {
    func instant(_ name: String) throws(ServerError) -> Double? {
      guard let text = request[query: name], !text.isEmpty else { return nil }
      guard let seconds = DateText.secondsSince1970(text.replacing(" ", with: "+")) else {
        throw ServerError(
          "ILLEGAL_QUERY_PARAMETER_VALUE", "\(name) is no date and time: \(text)")
      }
      return Double(seconds)
    }
    let before = try instant("before")
    let after = try instant("after")
    if before != nil, after != nil {
      throw ServerError(
        "ILLEGAL_QUERY_PARAMETER_VALUE", "Give either before or after, not both.")
    }
    var size = Self.usualSize
    if let text = request[query: "size"] {
      guard let number = Int(text), (1...Self.greatestSize).contains(number) else {
        throw ServerError(
          "ILLEGAL_QUERY_PARAMETER_VALUE", "size has to be 1 to \(Self.greatestSize), not \(text).")
      }
      size = number
    }
    let list = org.notifications.all(of: transaction.userID).filter { notification in
      let date = notification.date.timeIntervalSince1970
      return (before.map { date < $0 } ?? true) && (after.map { date > $0 } ?? true)
    }
    return .json(["notifications": .array(list.prefix(size), json)])
  }

  /// Marks several as read or seen: those with the ids, or those up to an instant.
  func markSeveral() throws -> OrgResponse {
    let body = try request.object()
    let ids = body["notificationIds"].map { Set($0.elements.compactMap(\.string)) }
    if let ids, ids.count > Self.greatestSize {
      throw ServerError(
        "INVALID_INPUT", "At most \(Self.greatestSize) notifications can be marked at once.")
    }
    var before: Double?
    if let text = body["before"]?.string {
      guard let seconds = DateText.secondsSince1970(text) else {
        throw ServerError("INVALID_INPUT", "before is no date and time: \(text)")
      }
      before = Double(seconds)
    }
    guard ids != nil || before != nil else {
      throw ServerError("INVALID_INPUT", "Give notificationIds or before.")
    }
    func isMeant(_ notification: MockOrgNotification) -> Bool {
      ids?.contains(notification.id) ?? true
        && (before.map { notification.date.timeIntervalSince1970 <= $0 } ?? true)
    }
    _ = org.notifications.update(of: transaction.userID, where: isMeant) { mark(&$0, body) }
    let changed = org.notifications.all(of: transaction.userID).filter(isMeant)
    return .json(["notifications": .array(changed, json)])
  }

  func one() throws -> OrgResponse { .json(json(try named())) }

  func mark() throws -> OrgResponse {
    let id = try named().id
    let body = try request.object()
    _ = org.notifications.update(of: transaction.userID, where: { $0.id == id }) { mark(&$0, body) }
    return try one()
  }

  /// The notification that the path names.
  private func named() throws(ServerError) -> MockOrgNotification {
    let id = call["id"]
    guard let notification = all.first(where: { $0.id == id }) else { throw .notFound() }
    return notification
  }

  private func mark(_ notification: inout MockOrgNotification, _ body: JSONSlice) {
    func flag(_ name: String) -> Bool? {
      body[name]?.bool ?? body[name]?.string.map { $0.lowercased() == "true" }
    }
    if let read = flag("read") { notification.isRead = read }
    if let seen = flag("seen") { notification.isSeen = seen }
    // What was read was seen.
    if notification.isRead { notification.isSeen = true }
  }

  func performAction() throws -> OrgResponse {
    let (notification, action) = (try named(), call["action"])
    guard notification.actions.contains(where: { $0.key == action }) else {
      throw ServerError.notFound()
    }
    _ = org.notifications.update(
      of: transaction.userID, where: { $0.id == notification.id }
    ) { $0.isRead = true }
    return .json(["message": "The action \(action) was performed."])
  }

  func status() -> OrgResponse {
    let list = all
    func date(_ notification: MockOrgNotification?) -> ResponseJSON {
      .string(orNull: notification.map { DateText.dateTime($0.date) })
    }
    return .json([
      "lastActivity": date(list.first), "oldestUnread": date(list.last { !$0.isRead }),
      "oldestUnseen": date(list.last { !$0.isSeen }),
      "unreadCount": .integer(list.count { !$0.isRead }),
      "unseenCount": .integer(list.count { !$0.isSeen }),
    ])
  }

  func types() -> OrgResponse {
    var types: [String: [MockOrgNotification.Action]] = [:]
    for notification in all {
      types[notification.type, default: []] += notification.actions
    }
    return .json([
      "notificationTypes": .array(types.keys.sorted()) { name in
        var seen: Set<String> = []
        let actions = (types[name] ?? []).filter { seen.insert($0.key).inserted }
        return [
          "apiName": .string(name), "label": .string(name), "type": .string(name),
          "actionGroups": [
            [
              "name": "\(name)Actions",
              "actions": .array(actions) { action in
                [
                  "actionKey": .string(action.key), "label": .string(action.label),
                  "name": .string(action.key), "type": "NotificationApiAction",
                ]
              },
            ]
          ],
        ]
      }
    ])
  }

  private func json(_ notification: MockOrgNotification) -> ResponseJSON {
    let date = DateText.dateTime(notification.date)
    return [
      "additionalData": "", "color": "706E6B", "communityId": nil, "communityName": nil,
      "count": 1, "id": .string(notification.id), "image": nil, "lastModified": .string(date),
      "messageBody": .string(notification.body), "messageTitle": .string(notification.title),
      "mostRecentActivityDate": .string(date), "organizationId": .string(org.organizationID),
      "read": .bool(notification.isRead), "recipientId": .string(transaction.userID),
      "seen": .bool(notification.isSeen), "target": .string(notification.target),
      "targetPageRef": nil, "type": .string(notification.type),
      "url": .string(url("connect/notifications/\(notification.id)")),
    ]
  }
}
