public import SalesforceSDKCommon

/// A managed configuration: the restrictions that an organisation sets for a device (CO-170).
///
/// A value of the wrong type is ignored and listed in ``problems``; unknown keys are ignored.
///
/// | key | value |
/// | --- | --- |
/// | `RequireCertAuth` | whether logins need the browser, which has the certificate |
/// | `ManagedAppCertAlias` | name of a certificate on Android; stored, without effect here |
/// | `AppServiceHosts`, `AppServiceHostLabels` | login servers and their names: an array, or a text with commas |
/// | `OnlyShowAuthorizedHosts` | whether only these servers are allowed |
/// | `ManagedAppOAuthID`, `ManagedAppCallbackURL` | consumer key and callback in place of the app's own |
/// | `ClearClipboardOnBackground` | whether to clear the clipboard; also `ClearClipboardInBackground` |
/// | `IDPAppURLScheme`, `IDPAppPackageName` | the identity provider's app |
public struct ManagedConfiguration: Sendable, Equatable {
  /// A key whose value cannot be used.
  public struct Problem: Sendable, Equatable, CustomStringConvertible {
    /// The key.
    public let key: String
    /// The problem with its value; never the value itself.
    public let message: String

    /// The key and the problem.
    public var description: String { "\(key): \(message)" }
  }

  /// Whether logins are allowed only in the system's browser, which has the user's certificate.
  /// Default: false.
  public private(set) var requiresCertificate = false
  /// The name of a certificate on Android.
  public private(set) var certificateAlias: String?
  /// The login servers, the first being the default.
  public private(set) var hosts: [LoginHost] = []
  /// Whether users may log in only at ``hosts``. Default: false.
  public private(set) var allowsOnlyItsHosts = false
  /// The consumer key in place of the app's own.
  public private(set) var clientId: String?
  /// The callback in place of the app's own.
  public private(set) var redirectURI: String?
  /// Whether the clipboard is cleared when the app goes to the background. Default: false.
  public private(set) var clearsClipboardOnBackground = false
  /// The URL scheme of the identity provider's app.
  public private(set) var identityProviderScheme: String?
  /// The package of the identity provider's app on Android.
  public private(set) var identityProviderPackage: String?
  /// The keys with a valid value, sorted.
  public private(set) var keys: [String] = []
  /// The keys whose values cannot be used, in the order of the table above.
  public private(set) var problems: [Problem] = []

  /// Creates a configuration without restrictions.
  public init() {}

  /// Whether the device is managed: at least one key has a value.
  public var isManaged: Bool { !keys.isEmpty }

  /// The known keys.
  public static let knownKeys = [
    "RequireCertAuth", "ManagedAppCertAlias", "AppServiceHosts", "AppServiceHostLabels",
    "OnlyShowAuthorizedHosts", "ManagedAppOAuthID", "ManagedAppCallbackURL",
    "ClearClipboardOnBackground", "ClearClipboardInBackground", "IDPAppURLScheme",
    "IDPAppPackageName",
  ]

  /// Reads a JSON document.
  ///
  /// - Throws: ``OAuthError`` `badManagedConfiguration` if it is not a JSON object, because the
  ///   restrictions are then unknown.
  public init(parsing document: [UInt8]) throws(OAuthError) {
    guard let json = try? JSONSlice(parsing: document), let object = json.value.object else {
      throw OAuthError(
        .badManagedConfiguration, "The managed configuration is not a JSON object. Correct it.")
    }
    self.init(object)
  }

  /// Reads the members of the document.
  public init(_ members: JSONObject) {
    var reader = Reader(members: members)
    requiresCertificate = reader.bool("RequireCertAuth") ?? false
    certificateAlias = reader.text("ManagedAppCertAlias")
    let addresses = reader.texts("AppServiceHosts")
    let labels = reader.texts("AppServiceHostLabels")
    hosts = reader.hosts(addresses ?? [], labels: labels)
    if addresses != nil, hosts.isEmpty { reader.keys.remove("AppServiceHosts") }
    allowsOnlyItsHosts = reader.bool("OnlyShowAuthorizedHosts") ?? false
    clientId = reader.text("ManagedAppOAuthID")
    redirectURI = reader.text("ManagedAppCallbackURL")
    // The guide's text has one name, its sample and the code the other.
    let clears = [
      reader.bool("ClearClipboardOnBackground"), reader.bool("ClearClipboardInBackground"),
    ]
    clearsClipboardOnBackground = clears.contains(true)
    identityProviderScheme = reader.text("IDPAppURLScheme")
    identityProviderPackage = reader.text("IDPAppPackageName")
    keys = reader.keys.sorted()
    problems = reader.problems
  }

  /// The attributes of an analytics event about the configuration (CO-171):
  /// `{"mdmIsActive", "mdmConfigs"}`, without the consumer key and the callback.
  public var eventAttributes: JSONObject {
    let secret = ["ManagedAppOAuthID", "ManagedAppCallbackURL"]
    return [
      "mdmIsActive": .bool(isManaged),
      "mdmConfigs": .array(keys.filter { !secret.contains($0) }.map { .string($0) }),
    ]
  }
}

/// Reads values by their types, and notes which could not be read.
private struct Reader {
  let members: JSONObject
  var keys: Set<String> = []
  var problems: [ManagedConfiguration.Problem] = []

  private mutating func value<Value>(
    _ key: String, _ wanted: String, _ read: (JSONValue) -> Value?
  ) -> Value? {
    guard let member = members[key], member != .null else { return nil }
    guard let value = read(member) else {
      problems.append(.init(key: key, message: "it has to be \(wanted), and is left out"))
      return nil
    }
    keys.insert(key)
    return value
  }

  mutating func bool(_ key: String) -> Bool? { value(key, "true or false") { $0.bool } }

  mutating func text(_ key: String) -> String? {
    value(key, "a text that is not blank") { value in
      value.string.map(\.trimmed).flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  /// An array of texts, or one text with commas between them.
  mutating func texts(_ key: String) -> [String]? {
    value(key, "an array of texts, or a text with commas") { value in
      if let text = value.string {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
          .map { String($0).trimmed }
        return parts == [""] ? nil : parts
      }
      guard let array = value.array, !array.isEmpty else { return nil }
      let texts = array.compactMap { $0.string?.trimmed }
      return texts.count == array.count ? texts : nil
    }
  }

  /// Returns the login servers. If the number of labels differs, the labels are ignored, and the
  /// addresses serve as names.
  mutating func hosts(_ addresses: [String], labels: [String]?) -> [LoginHost] {
    var labels = labels
    if let count = labels?.count, count != addresses.count {
      problems.append(
        .init(
          key: "AppServiceHostLabels",
          message:
            "there are \(count) labels for \(addresses.count) servers; the addresses are shown instead"
        ))
      keys.remove("AppServiceHostLabels")
      labels = nil
    }
    var hosts: [LoginHost] = []
    for (number, address) in addresses.enumerated() {
      guard let host = try? LoginHost(typed: address, name: labels?[number]) else {
        problems.append(
          .init(
            key: "AppServiceHosts",
            message: "number \(number + 1) is no address of a login server, and is left out"))
        continue
      }
      hosts.append(LoginHost(name: host.name, server: host.server))
    }
    return hosts
  }
}
