public import SalesforceSDKCommon

/// Attributes of the app and the device, which each event contains (CA-36).
///
/// None of them may name a user, an org or an instance.
public struct DeviceAppAttributes: Sendable, Hashable {
  /// The app's version, such as `1.2(345)`.
  public var appVersion: String?
  /// The app's name in analytics.
  public var appName: String?
  /// The version of the operating system.
  public var osVersion: String?
  /// The operating system.
  public var osName: String?
  /// The app's type: `Native`, `Hybrid` or `ReactNative`.
  public var nativeAppType: String?
  /// The version of this package.
  public var mobileSdkVersion: String?
  /// The device's model, or the processor's architecture.
  public var deviceModel: String?
  /// The random name of the installation.
  public var deviceId: String?
  /// The consumer key of the connected app.
  public var clientId: String?

  /// Creates the attributes; nil attributes are not sent.
  public init(
    appVersion: String? = nil, appName: String? = nil, osVersion: String? = nil,
    osName: String? = nil, nativeAppType: String? = nil, mobileSdkVersion: String? = nil,
    deviceModel: String? = nil, deviceId: String? = nil, clientId: String? = nil
  ) {
    self.appVersion = appVersion
    self.appName = appName
    self.osVersion = osVersion
    self.osName = osName
    self.nativeAppType = nativeAppType
    self.mobileSdkVersion = mobileSdkVersion
    self.deviceModel = deviceModel
    self.deviceId = deviceId
    self.clientId = clientId
  }

  /// Parses the JSON form. Unknown members, and members that are not texts, are omitted.
  public init(json: JSONObject) {
    self.init()
    for (key, path) in Self.members { self[keyPath: path] = json[key]?.string }
  }

  /// The JSON form, without the members that are nil.
  public var json: JSONObject {
    var json = JSONObject()
    for (key, path) in Self.members {
      if let text = self[keyPath: path] { json[key] = .string(text) }
    }
    return json
  }

  private static var members: [(key: String, path: WritableKeyPath<Self, String?>)] {
    [
      ("appVersion", \.appVersion), ("appName", \.appName), ("osVersion", \.osVersion),
      ("osName", \.osName), ("nativeAppType", \.nativeAppType),
      ("mobileSdkVersion", \.mobileSdkVersion), ("deviceModel", \.deviceModel),
      ("deviceId", \.deviceId), ("clientId", \.clientId),
    ]
  }
}
