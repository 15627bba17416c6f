public import SalesforceSDKCommon

/// A device that receives push notifications: a phone's, or any other that a companion has registered.
public struct PushDevice: Sendable, Hashable {
  /// The device token of the service.
  public var token: String
  /// Whose token it is.
  public var service: PushService
  /// The application's id with that service.
  public var bundle: String

  /// Names a device.
  public init(token: String, service: PushService = .apple, bundle: String) {
    self.token = token.trimmed
    self.service = service
    self.bundle = bundle
  }

  /// Names a device of Apple's by the bytes of its token.
  public init(appleToken: some Sequence<UInt8>, bundle: String) {
    self.init(token: Hex.encode(appleToken), service: .apple, bundle: bundle)
  }
}

/// What the server knows of a device for one account.
public struct PushRegistration: Sendable, Equatable {
  /// The device.
  public let device: PushDevice
  /// The id of the record on the server; nil if the org has no push notifications.
  public let deviceId: String?
  /// When it was registered last.
  public let date: SalesforceDate

  /// Whether the org has push notifications.
  public var isEnabled: Bool { deviceId != nil }

  /// Makes a registration.
  init(device: PushDevice, deviceId: String?, date: SalesforceDate) {
    self.device = device
    self.deviceId = deviceId
    self.date = date
  }

  init?(_ json: JSONSlice) {
    guard let token = json["token"]?.string, let bundle = json["bundle"]?.string,
      let service = json["service"]?.string.flatMap({ PushService($0) }),
      let date = json["date"]?.int64
    else { return nil }
    let id = json["deviceId"]?.string ?? ""
    self.init(
      device: PushDevice(token: token, service: service, bundle: bundle),
      deviceId: id == Self.notEnabled || id.isEmpty ? nil : id,
      date: SalesforceDate(milliseconds: date))
  }

  /// What stands in the place of an id where the org has no push notifications.
  static let notEnabled = "not_enabled"

  var json: JSONObject {
    [
      "token": .string(device.token), "bundle": .string(device.bundle),
      "service": .string(device.service.rawValue), "date": .integer(date.milliseconds),
      "deviceId": .string(deviceId ?? Self.notEnabled),
    ]
  }
}

/// When a device is registered again by itself (CO-139).
public struct PushRenewal: Sendable, Hashable {
  private enum Kind: Hashable { case never, always, after(Duration) }
  private let kind: Kind

  /// Never.
  public static let disabled = PushRenewal(kind: .never)
  /// Whenever the app comes to the foreground, or a program starts.
  public static let onForeground = PushRenewal(kind: .always)
  /// When the last registration is so old.
  public static func every(_ interval: Duration) -> PushRenewal {
    PushRenewal(kind: .after(interval))
  }
  /// When the last registration is 6 days old.
  public static let periodic = every(.seconds(6 * 86_400))

  /// Whether a registration is to be renewed. Where the org has no push notifications, only a person's call asks again.
  func isDue(_ registration: PushRegistration, now: SalesforceDate) -> Bool {
    guard registration.isEnabled else { return false }
    switch kind {
    case .never: return false
    case .always: return true
    case .after(let interval):
      let age = now.milliseconds - registration.date.milliseconds
      // A clock that was set back says nothing about the age.
      return age < 0 || Duration.milliseconds(age) >= interval
    }
  }
}
