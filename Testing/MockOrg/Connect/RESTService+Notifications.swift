import Foundation
import SalesforceSDKCommon

/// `/connect/notifications`.
extension RESTService {
  private static let pageLimit = 50
  private static let usualPage = 10
  /// The first version with types and actions.
  private static let actionsSince = 64

  func notifications(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    let userID = transaction.userID
    switch (path.count, path.first) {
    case (0, _) where request.method == "PATCH": return try markNotifications(request)
    case (0, _):
      try request.allow("GET,HEAD,PATCH")
      return try notificationList(request)
    case (1, "status"):
      try request.allow("GET,HEAD")
      return notificationStatus()
    case (1, "types") where transaction.apiVersion >= Self.actionsSince:
      try request.allow("GET,HEAD")
      return notificationTypes()
    case (1, let id?):
      guard org.notifications.all(of: userID).contains(where: { $0.id == id }) else {
        throw ServerError.notFound()
      }
      if request.method == "PATCH" {
        let body = try request.object()
        _ = org.notifications.update(of: userID, where: { $0.id == id }) { mark(&$0, body) }
      } else {
        try request.allow("GET,HEAD,PATCH")
      }
      guard let found = org.notifications.all(of: userID).first(where: { $0.id == id }) else {
        throw ServerError.notFound()
      }
      return .json { write(found, to: &$0) }
    case (3, let id?) where path[1] == "actions" && transaction.apiVersion >= Self.actionsSince:
      try request.allow("POST")
      guard let found = org.notifications.all(of: userID).first(where: { $0.id == id }),
        found.actions.contains(where: { $0.key == path[2] })
      else { throw ServerError.notFound() }
      _ = org.notifications.update(of: userID, where: { $0.id == id }) { $0.isRead = true }
      return .json { writer in
        writer.beginObject()
        writer.key("message")
        writer.string("The action \(path[2]) was performed.")
        writer.endObject()
      }
    default: throw ServerError.notFound()
    }
  }

  private func notificationList(_ request: OrgRequest) throws -> OrgResponse {
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
    var size = Self.usualPage
    if let text = request[query: "size"] {
      guard let number = Int(text), (1...Self.pageLimit).contains(number) else {
        throw ServerError(
          "ILLEGAL_QUERY_PARAMETER_VALUE", "size has to be 1 to \(Self.pageLimit), not \(text).")
      }
      size = number
    }
    let list = org.notifications.all(of: transaction.userID).filter { notification in
      let date = notification.date.timeIntervalSince1970
      return (before.map { date < $0 } ?? true) && (after.map { date > $0 } ?? true)
    }
    return .json { writer in
      writer.beginObject()
      writer.key("notifications")
      writer.beginArray()
      for notification in list.prefix(size) { write(notification, to: &writer) }
      writer.endArray()
      writer.endObject()
    }
  }

  private func markNotifications(_ request: OrgRequest) throws -> OrgResponse {
    let body = try request.object()
    let ids = body["notificationIds"].map { Set($0.elements.compactMap(\.string)) }
    if let ids, ids.count > Self.pageLimit {
      throw ServerError(
        "INVALID_INPUT", "At most \(Self.pageLimit) notifications can be marked at once.")
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
    return .json { writer in
      writer.beginObject()
      writer.key("notifications")
      writer.beginArray()
      for notification in changed { write(notification, to: &writer) }
      writer.endArray()
      writer.endObject()
    }
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

  private func notificationStatus() -> OrgResponse {
    let list = org.notifications.all(of: transaction.userID)
    return .json { writer in
      writer.beginObject()
      writer.key("lastActivity")
      writer.string(orNull: list.first.map { DateText.dateTime($0.date) })
      writer.key("oldestUnread")
      writer.string(
        orNull: list.last { !$0.isRead }.map { DateText.dateTime($0.date) })
      writer.key("oldestUnseen")
      writer.string(
        orNull: list.last { !$0.isSeen }.map { DateText.dateTime($0.date) })
      writer.key("unreadCount")
      writer.integer(list.count { !$0.isRead })
      writer.key("unseenCount")
      writer.integer(list.count { !$0.isSeen })
      writer.endObject()
    }
  }

  private func notificationTypes() -> OrgResponse {
    var types: [String: [MockOrgNotification.Action]] = [:]
    for notification in org.notifications.all(of: transaction.userID) {
      types[notification.type, default: []] += notification.actions
    }
    return .json { writer in
      writer.beginObject()
      writer.key("notificationTypes")
      writer.beginArray()
      for name in types.keys.sorted() {
        writer.beginObject()
        for (key, value) in [("apiName", name), ("label", name), ("type", name)] {
          writer.key(key)
          writer.string(value)
        }
        writer.key("actionGroups")
        writer.beginArray()
        writer.beginObject()
        writer.key("name")
        writer.string("\(name)Actions")
        writer.key("actions")
        writer.beginArray()
        var seen: Set<String> = []
        for action in types[name] ?? [] where seen.insert(action.key).inserted {
          write(action, to: &writer)
        }
        writer.endArray()
        writer.endObject()
        writer.endArray()
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  private func write(_ action: MockOrgNotification.Action, to writer: inout JSONWriter) {
    writer.beginObject()
    for (key, value) in [
      ("actionKey", action.key), ("label", action.label), ("name", action.key),
      ("type", "NotificationApiAction"),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.endObject()
  }

  private func write(_ notification: MockOrgNotification, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("additionalData")
    writer.string("")
    writer.key("color")
    writer.string("706E6B")
    writer.key("communityId")
    writer.null()
    writer.key("communityName")
    writer.null()
    writer.key("count")
    writer.integer(1)
    writer.key("id")
    writer.string(notification.id)
    writer.key("image")
    writer.null()
    writer.key("lastModified")
    writer.string(DateText.dateTime(notification.date))
    writer.key("messageBody")
    writer.string(notification.body)
    writer.key("messageTitle")
    writer.string(notification.title)
    writer.key("mostRecentActivityDate")
    writer.string(DateText.dateTime(notification.date))
    writer.key("organizationId")
    writer.string(org.organizationID)
    writer.key("read")
    writer.bool(notification.isRead)
    writer.key("recipientId")
    writer.string(transaction.userID)
    writer.key("seen")
    writer.bool(notification.isSeen)
    writer.key("target")
    writer.string(notification.target)
    writer.key("targetPageRef")
    writer.null()
    writer.key("type")
    writer.string(notification.type)
    writer.key("url")
    writer.string("\(transaction.versionPath)/connect/notifications/\(notification.id)")
    writer.endObject()
  }
}
