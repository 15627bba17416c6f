public import Foundation
public import SalesforceSDKCommon

/// The identity service's information about a user (CO-72).
///
/// The whole response is in ``raw``. The properties read from it; a missing member, `null` and a
/// member of another type have the same result.
public struct UserProfile: Sendable, Equatable {
  /// The user name.
  public var username: String
  /// The name to show.
  public var displayName: String?
  /// The mail address.
  public var email: String?
  /// The whole response; an empty object if there was none.
  public var raw: JSONObject

  /// Creates a profile.
  public init(
    username: String, displayName: String? = nil, email: String? = nil, raw: JSONObject = [:]
  ) {
    self.username = username
    self.displayName = displayName
    self.email = email
    self.raw = raw
  }

  /// Parses a response of the identity service or of the userinfo endpoint, which use different
  /// names for some members.
  init(response json: JSONSlice) {
    var raw = JSONObject()
    for (key, value) in json.members { raw[key] = value.value }
    self.init(
      username: json["username"]?.string ?? json["preferred_username"]?.string ?? "",
      displayName: json["display_name"]?.string ?? json["name"]?.string,
      email: json["email"]?.string, raw: raw)
  }

  private func text(_ key: String) -> String? { raw[key]?.string }
  private func flag(_ key: String) -> Bool { raw[key]?.bool ?? false }
  private func url(_ value: JSONValue?) -> URL? { value?.string.flatMap { URL(string: $0) } }

  /// Whether the identity was requested with the user's own token. Default: false.
  public var isAssertedUser: Bool { flag("asserted_user") }
  /// Whether the mail address was confirmed.
  public var isEmailVerified: Bool { flag("email_verified") }
  /// Whether the mobile phone was confirmed.
  public var isMobilePhoneVerified: Bool { flag("mobile_phone_verified") }
  /// Whether the user is active. Default: false.
  public var isActive: Bool { flag("active") }
  /// Whether the connected app is installed in the org. Default: false.
  public var isAppInstalled: Bool { flag("is_app_installed") }
  /// Whether the user logs in without a password.
  public var isLightningLoginUser: Bool { flag("is_lightning_login_user") }
  /// The name in the community.
  public var nickname: String? { text("nick_name") ?? text("nickname") }
  /// The first name.
  public var firstName: String? { text("first_name") ?? text("given_name") }
  /// The last name.
  public var lastName: String? { text("last_name") ?? text("family_name") }
  /// The time zone, such as `Europe/Berlin`.
  public var timezone: String? { text("timezone") ?? text("zoneinfo") }
  /// The address: street.
  public var street: String? { text("addr_street") }
  /// The address: city.
  public var city: String? { text("addr_city") }
  /// The address: state.
  public var state: String? { text("addr_state") }
  /// The address: country.
  public var country: String? { text("addr_country") }
  /// The address: postal code.
  public var postalCode: String? { text("addr_zip") }
  /// The mobile phone.
  public var mobilePhone: String? { text("mobile_phone") }
  /// The type of user, such as `STANDARD`.
  public var userType: String? { text("user_type") }
  /// The language, such as `en_US`.
  public var language: String? { text("language") }
  /// The locale, such as `en_US`.
  public var locale: String? { text("locale") }
  /// The offset from UTC in milliseconds, positive to the east; -1 if the server did not send it.
  public var utcOffset: Int64 { raw["utcOffset"]?.int64 ?? -1 }
  /// The time of the last change of the user; `nil` if it is not a date.
  public var lastModified: SalesforceDate? {
    text("last_modified_date").flatMap { SalesforceDate.parse($0) }
  }
  /// The user's last status text.
  public var statusBody: String? { raw["status"]?["body"]?.string }
  /// The time of the user's last status text.
  public var statusCreated: SalesforceDate? {
    raw["status"]?["created_date"]?.string.flatMap { SalesforceDate.parse($0) }
  }
  /// The URL of the picture; a request for it needs the user's token.
  public var pictureURL: URL? { url(raw["photos"]?["picture"]) }
  /// The small picture.
  public var thumbnailURL: URL? { url(raw["photos"]?["thumbnail"]) }

  /// Returns the address of a resource, such as `rest` or `sobjects`, with the API version
  /// inserted.
  ///
  /// - Parameter version: Such as `66.0`; a `v` before it is dropped.
  public func resourceURL(_ name: String, version: String) -> URL? {
    let version = version.hasPrefix("v") ? String(version.dropFirst()) : version
    return raw["urls"]?[name]?.string.flatMap {
      URL(string: $0.replacing("{version}", with: version))
    }
  }

  /// Whether the org has a policy for this app on devices.
  public var hasMobilePolicy: Bool { raw["mobile_policy"].map { !$0.isNull } ?? false }
  /// The number of minutes until the app locks itself; 0 for never.
  public var screenLockMinutes: Int64 {
    raw["mobile_policy"]?["screen_lock"].flatMap(Self.number) ?? 0
  }
  /// The number of digits of a pin; 0 for no pin.
  public var pinLength: Int64 { raw["mobile_policy"]?["pin_length"].flatMap(Self.number) ?? 0 }
  /// The services that send notifications.
  public var pushServiceTypes: [String] {
    raw["push_service_type"]?.array?.compactMap(\.string) ?? text("push_service_type").map { [$0] }
      ?? []
  }

  /// Parses a number, which some servers write as a text.
  private static func number(_ value: JSONValue) -> Int64? {
    value.int64 ?? value.string.flatMap { Int64($0) }
  }

  /// The attributes that an administrator set for the connected app, for the org or this user (CO-18).
  public var customAttributes: JSONObject? {
    get { raw["custom_attributes"]?.object }
    set { raw["custom_attributes"] = newValue.map { .object($0) } }
  }

  /// The user's permissions in the connected app (CO-18).
  public var customPermissions: JSONObject? {
    get { raw["custom_permissions"]?.object }
    set { raw["custom_permissions"] = newValue.map { .object($0) } }
  }

  /// Whether the org allows the user's login only on managed devices.
  var mustBeManaged: Bool {
    let value = customPermissions?["must_be_managed_app"]
    return value?.bool == true || value?.string?.lowercased() == "true"
  }
}

/// The description is empty, because the profile is personal data.
extension UserProfile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "profile" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
