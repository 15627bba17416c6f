import Foundation
public import SalesforceSDKCommon

/// The configuration of an app before the first login: `bootconfig.json` (CO-2).
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
  /// The whole document, for developers to look at.
  public let raw: JSONObject

  /// Reads a JSON document.
  ///
  /// - Throws: ``BootConfigurationError`` `unreadable` if it is not a JSON object; as ``init(_:)``.
  public init(parsing document: [UInt8]) throws(BootConfigurationError) {
    guard let json = try? JSONSlice(parsing: document), let object = json.value.object else {
      throw BootConfigurationError(.unreadable, "The boot configuration is not a JSON object.")
    }
    try self.init(object)
  }

  /// Takes the members of the document. Texts are trimmed; one that is blank counts as missing.
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
        .noConsumerKey, "The boot configuration lacks remoteAccessConsumerKey.")
    }
    guard let redirectURI = text("oauthRedirectURI") else {
      throw BootConfigurationError(.noRedirectURI, "The boot configuration lacks oauthRedirectURI.")
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
    /// The start page before a login is missing or no absolute address.
    public static let invalidUnauthenticatedStartPage = Code(
      kind: .invalidUnauthenticatedStartPage)

    public var description: String { kind.rawValue }

    /// The number of CO-2, where it has one.
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
  /// Where it was made.
  public let location: SourceLocation

  /// The domain of such errors in the platform's libraries.
  public static let domain = "com.salesforce.mobilesdk.AppConfigErrorDomain"

  init(_ code: Code, _ message: String, fileID: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    self.location = SourceLocation(fileID: fileID, line: line)
  }
}
