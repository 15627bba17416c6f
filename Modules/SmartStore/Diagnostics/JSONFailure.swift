public import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon

/// A stored text that is not JSON, or a value that JSON cannot represent.
struct JSONFailure: Sendable {
  enum Kind {
    case parse, serialization

    var eventName: String {
      switch self {
      case .parse: "SmartStoreJSONParseError"
      case .serialization: "SmartStoreJSONSerializationError"
      }
    }

    var notification: Notification.Name {
      switch self {
      case .parse: SmartStore.jsonParseErrorNotification
      case .serialization: SmartStore.jsonSerializationErrorNotification
      }
    }
  }

  let kind: Kind
  let errorMessage: String
  /// The call that found it.
  let method: String
  /// The text itself. It may contain a user's data.
  let text: [UInt8]?

  /// The error code of notifications of this kind.
  private static let errorCode = SmartStoreError.Code.corrupt.number

  func event(at time: Int64) -> AnalyticsEvent {
    AnalyticsEvent(
      name: kind.eventName, className: "SmartStore",
      attributes: [
        "errorCode": .integer(Int64(Self.errorCode)), "errorMessage": .string(errorMessage),
        "fromMethod": .string(method),
      ], startTime: time)
  }

  func post(includingText: Bool) {
    var info: [String: any Sendable] = [
      "errorCode": Self.errorCode, "errorMessage": errorMessage, "fromMethod": method,
    ]
    if includingText, let text { info["rawJson"] = String(decoding: text, as: UTF8.self) }
    NotificationCenter.default.post(name: kind.notification, object: nil, userInfo: info)
  }
}

extension SmartStore {
  /// Posted after reading a stored entry that is not valid JSON. Its user info contains
  /// `errorCode`, `errorMessage` and `fromMethod`, and `rawJson` if
  /// ``SmartStoreOptions/includesRawJSONInNotifications`` is on. Never posted for SQL errors.
  public static let jsonParseErrorNotification = Notification.Name(
    "SFSmartStoreJSONParseErrorNotification")
  /// Posted after an entry was refused because JSON cannot represent it, with the same user info.
  public static let jsonSerializationErrorNotification = Notification.Name(
    "SFSmartStoreJSONSerializationErrorNotification")
}
