public import SalesforceSDKCommon

/// A device that receives push notifications: a phone's, or any other that a companion has registered.
public struct PushDevice: Sendable, Hashable {
  /// The device token of the service.
  public var token: String
  /// The push service of the token.
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

/// The registration of a device for one account on the server.
public struct PushRegistration: Sendable, Equatable {
  /// The device.
  public let device: PushDevice
  /// The id of the record on the server; nil if the org has no push notifications.
  public let deviceId: String?
  /// The time of the last registration.
  public let date: SalesforceDate

  /// Whether the org has push notifications.
  public var isEnabled: Bool { deviceId != nil }

  /// Creates a registration.
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

  /// The placeholder for an id if the org has no push notifications.
  static let notEnabled = "not_enabled"

  var json: JSONObject {
    [
      "token": .string(device.token), "bundle": .string(device.bundle),
      "service": .string(device.service.rawValue), "date": .integer(date.milliseconds),
      "deviceId": .string(deviceId ?? Self.notEnabled),
    ]
  }
}

/// The policy for renewing a registration (CO-139).
public struct PushRenewal: Sendable, Hashable {
  private enum Kind: Hashable { case never, always, after(Duration) }
  private let kind: Kind

  /// Never.
  public static let disabled = PushRenewal(kind: .never)
  /// Renews when the app enters the foreground, or the program starts.
  public static let onForeground = PushRenewal(kind: .always)
  /// Renews when the last registration is older than the interval.
  public static func every(_ interval: Duration) -> PushRenewal {
    PushRenewal(kind: .after(interval))
  }
  /// Renews when the last registration is 6 days old.
  public static let periodic = every(.seconds(6 * 86_400))

  /// Whether a registration is due for renewal. If the org has no push notifications, only an
  /// explicit registration sends a request.
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
