import HTTPTypes
public import SalesforceSDKCommon

/// The notifications that a change concerns: some of them, or all up to a time.
public struct NotificationSelection: Sendable, Hashable {
  enum Kind: Hashable { case ids([String]), before(SalesforceDate) }
  let kind: Kind

  /// Those with these ids, 50 at most.
  public static func ids(_ ids: [String]) -> NotificationSelection {
    NotificationSelection(kind: .ids(ids))
  }
  /// All that are older.
  public static func before(_ date: SalesforceDate) -> NotificationSelection {
    NotificationSelection(kind: .before(date))
  }
}

// The factories of CO-134 for notifications to the user.
extension RestRequest {
  /// The maximum number of notifications on a page.
  public static let maxNotifications = 20
  /// The maximum number of ids in one request that changes notifications.
  public static let maxNotificationIds = 50

  /// The newest notifications.
  ///
  /// - Parameter size: The number of notifications, 1...20. Default: the server's.
  /// - Throws: ``RestError`` `invalidRequest` for another size.
  public static func notifications(
    size: Int? = nil, before: SalesforceDate? = nil, after: SalesforceDate? = nil,
    apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    if let size, !(1...maxNotifications).contains(size) {
      throw RestError(
        .invalidRequest, "A page has 1 to \(maxNotifications) notifications, not \(size).")
    }
    return RestRequest(
      path: connectNotifications(apiVersion),
      query: [
        size.map { RestQueryItem("size", $0) }, before.map { RestQueryItem("before", $0.text) },
        after.map { RestQueryItem("after", $0.text) },
      ].compactMap(\.self))
  }

  /// One notification.
  public static func notification(id: String, apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: "\(connectNotifications(apiVersion))/\(PercentEncoding.encode(id))")
  }

  /// The numbers of unread and unseen notifications.
  public static func notificationsStatus(apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: "\(connectNotifications(apiVersion))/status")
  }

  /// Marks one notification.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if nothing is to change.
  public static func updateNotification(
    id: String, read: Bool? = nil, seen: Bool? = nil, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    let path = "\(connectNotifications(apiVersion))/\(PercentEncoding.encode(id))"
    return RestRequest(method: .patch, path: path).with(json: try marks(nil, read, seen))
  }

  /// Marks several notifications.
  ///
  /// - Throws: ``RestError`` `tooManyRecords`; `invalidRequest` if nothing is to change or no id is
  ///   given.
  public static func updateNotifications(
    _ selection: NotificationSelection, read: Bool? = nil, seen: Bool? = nil,
    apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    RestRequest(method: .patch, path: connectNotifications(apiVersion))
      .with(json: try marks(selection, read, seen))
  }

  /// The kinds of notifications and what the user can do about each. Needs version 64 of the API.
  public static func notificationTypes(apiVersion: String? = nil) -> RestRequest {
    var request = RestRequest(path: "\(connectNotifications(apiVersion))/types")
    request.minimumVersion = actionsVersion
    return request
  }

  /// Executes an action of a notification. Needs version 64 of the API.
  public static func invokeNotificationAction(
    id: String, actionKey: String, apiVersion: String? = nil
  ) -> RestRequest {
    let place = "\(PercentEncoding.encode(id))/actions/\(PercentEncoding.encode(actionKey))"
    var request = RestRequest(
      method: .post, path: "\(connectNotifications(apiVersion))/\(place)")
    request.minimumVersion = actionsVersion
    return request
  }

  private static let actionsVersion = APIVersion(major: 64)

  private static func connectNotifications(_ apiVersion: String?) -> String {
    "\(root(apiVersion))/connect/notifications"
  }

  private static func marks(
    _ selection: NotificationSelection?, _ read: Bool?, _ seen: Bool?
  ) throws(RestError) -> [UInt8] {
    guard read != nil || seen != nil else {
      throw RestError(.invalidRequest, "Say whether notifications are to be read or seen.")
    }
    var body = JSONWriter()
    body.beginObject()
    switch selection?.kind {
    case .ids(let ids):
      guard !ids.isEmpty else {
        throw RestError(.invalidRequest, "The list of notification ids is empty.")
      }
      guard ids.count <= maxNotificationIds else {
        throw RestError(
          .tooManyRecords,
          "A change takes \(maxNotificationIds) notifications, not \(ids.count). Split it.")
      }
      body.key("notificationIds")
      body.beginArray()
      for id in ids { body.string(id) }
      body.endArray()
    case .before(let date): body.text("before", date.text)
    case nil: break
    }
    for (key, value) in [("read", read), ("seen", seen)] {
      guard let value else { continue }
      body.key(key)
      body.bool(value)
    }
    body.endObject()
    return body.bytes
  }
}
