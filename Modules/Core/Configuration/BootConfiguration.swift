import Foundation
public import SalesforceSDKCommon

/// The configuration of an app before the first login: `bootconfig.json` or `bootconfig.plist` (CO-2).
public struct BootConfiguration: Sendable, Equatable {
  /// The connected app, with its scopes.
  public let app: ConnectedApp
  /// Whether a login is needed before the app's own content. Default: true.
  public let shouldAuthenticate: Bool
  /// Whether the pages of a hybrid app are part of the app; `nil` for another kind of app.
  public let isLocal: Bool?
  /// The first page of a hybrid app.
  public let startPage: String?
  /// The page that a hybrid app shows for errors.
  public let errorPage: String?
  /// The first page before a login, of a hybrid app whose pages are on the server.
  public let unauthenticatedStartPage: String?
  /// Whether a hybrid app shows its cached pages when there is no network. Default: true.
  public let attemptsOfflineLoad: Bool
  /// The whole document, for display to developers.
  public let raw: JSONObject

  /// Reads a JSON document or a property list.
  ///
  /// A variable of the environment takes the place of the document's key (BX-104):
  ///
  /// | variable | key |
  /// | --- | --- |
  /// | `SALESFORCE_CONSUMER_KEY` | `remoteAccessConsumerKey` |
  /// | `SALESFORCE_REDIRECT_URI` | `oauthRedirectURI` |
  /// | `SALESFORCE_SCOPES` | `oauthScopes`, separated by spaces |
  ///
  /// - Parameter environment: The environment; blank variables do not count. Default: empty, so
  ///   that the document alone counts.
  /// - Throws: ``BootConfigurationError`` `unreadable` if the document is neither a JSON object nor
  ///   a property list with a dictionary; as ``init(_:)``.
  public init(
    parsing document: [UInt8], environment: [String: String] = [:]
  ) throws(BootConfigurationError) {
    let json = (try? JSONSlice(parsing: document))?.value.object
    guard var members = json ?? PropertyList.members(document) else {
      throw BootConfigurationError(
        .unreadable,
        "The boot configuration is neither a JSON object nor a property list. Correct the file.")
    }
    for (variable, key) in Self.variables {
      guard let text = environment[variable]?.trimmed, !text.isEmpty else { continue }
      let words = text.split(separator: " ").map { JSONValue.string(String($0)) }
      members[key] = key == "oauthScopes" ? .array(words) : .string(text)
    }
    try self.init(members)
  }

  private static let variables = [
    ("SALESFORCE_CONSUMER_KEY", "remoteAccessConsumerKey"),
    ("SALESFORCE_REDIRECT_URI", "oauthRedirectURI"), ("SALESFORCE_SCOPES", "oauthScopes"),
  ]

  /// Reads the members of the document. Texts are trimmed; a blank text counts as missing.
  ///
  /// - Throws: ``BootConfigurationError`` `noConsumerKey` or `noRedirectURI`; for a hybrid app
  ///   `invalidStartPage` or `invalidUnauthenticatedStartPage`.
  public init(_ members: JSONObject) throws(BootConfigurationError) {
    func text(_ key: String) -> String? {
      guard let text = members[key]?.string?.trimmed, !text.isEmpty else { return nil }
      return text
    }
    guard let key = text("remoteAccessConsumerKey") else {
      throw BootConfigurationError(
        .noConsumerKey,
        "The boot configuration lacks remoteAccessConsumerKey. Add it, with the consumer key of the connected app."
      )
    }
    guard let redirectURI = text("oauthRedirectURI") else {
      throw BootConfigurationError(
        .noRedirectURI,
        "The boot configuration lacks oauthRedirectURI. Add it, with the callback URL of the connected app."
      )
    }
    let scopes = members["oauthScopes"]?.array?.compactMap { $0.string?.trimmed } ?? []
    app = ConnectedApp(
      clientId: key, redirectURI: redirectURI, scopes: Set(scopes.filter { !$0.isEmpty }))
    shouldAuthenticate = members["shouldAuthenticate"]?.bool ?? true
    isLocal = members["isLocal"]?.bool
    startPage = text("startPage")
    errorPage = text("errorPage")
    unauthenticatedStartPage = text("unauthenticatedStartPage")
    attemptsOfflineLoad = members["attemptOfflineLoad"]?.bool ?? true
    raw = members
    if let isLocal { try checkPages(isLocal: isLocal) }
  }

  /// The rules for hybrid apps (CO-3).
  private func checkPages(isLocal: Bool) throws(BootConfigurationError) {
    func isAbsolute(_ page: String) -> Bool {
      ["http://", "https://"].contains { page.lowercased().hasPrefix($0) }
    }
    guard let startPage else {
      throw BootConfigurationError(
        .invalidStartPage, "The boot configuration of a hybrid app lacks startPage. Give a path.")
    }
    if isAbsolute(startPage) {
      throw BootConfigurationError(
        .invalidStartPage, "startPage is an absolute address. Give a path.")
    }
    if let page = unauthenticatedStartPage {
      guard isAbsolute(page) else {
        throw BootConfigurationError(
          .invalidUnauthenticatedStartPage,
          "unauthenticatedStartPage is not an absolute address. Give one that begins with https.")
      }
      if isLocal || shouldAuthenticate {
        CoreLogger.log.warning(
          "The page \(page) before the login is never shown in this app. Remove "
            + "unauthenticatedStartPage.")
      }
    } else if !isLocal, !shouldAuthenticate {
      throw BootConfigurationError(
        .invalidUnauthenticatedStartPage,
        "A remote app that does not log in at its start needs unauthenticatedStartPage.")
    }
  }
}

/// A boot configuration that cannot be used.
public struct BootConfigurationError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unreadable, noConsumerKey, noRedirectURI, invalidStartPage
      case invalidUnauthenticatedStartPage
    }
    private let kind: Kind
    /// It is not a JSON object.
    public static let unreadable = Code(kind: .unreadable)
    /// It lacks the consumer key.
    public static let noConsumerKey = Code(kind: .noConsumerKey)
    /// It lacks the redirect URI.
    public static let noRedirectURI = Code(kind: .noRedirectURI)
    /// The start page of a hybrid app is missing or an absolute address.
    public static let invalidStartPage = Code(kind: .invalidStartPage)
    /// The start page before a login is missing or not an absolute address.
    public static let invalidUnauthenticatedStartPage = Code(
      kind: .invalidUnauthenticatedStartPage)

    public var description: String { kind.rawValue }

    /// The error number of CO-2, if it defines one.
    public var number: Int? {
      switch kind {
      case .noConsumerKey: 966
      case .noRedirectURI: 967
      case .unreadable, .invalidStartPage, .invalidUnauthenticatedStartPage: nil
      }
    }
  }

  /// The kind of the error.
  public let code: Code
  /// The error and its remedy.
  public let message: String
  /// The line that detected the failure.
  public let location: SourceLocation

  /// The domain of such errors in the platform's libraries.
  public static let domain = "com.salesforce.mobilesdk.AppConfigErrorDomain"

  init(_ code: Code, _ message: String, fileID: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.location = SourceLocation(fileID: fileID, line: line)
  }
}
