public import SalesforceSDKCommon

/// A failed login, token refresh or identity call.
///
/// It never contains a token, code, password or verifier, even if the server's words repeat one.
public struct OAuthError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unknown, timedOut, malformedResponse, accessDenied, invalidClientId
      case invalidClientCredentials, invalidGrant, invalidRequest, inactiveUser, inactiveOrg
      case rateLimitExceeded, unsupportedResponseType, wrongVersion, browserLaunchFailed
      case unknownAuthConfiguration, badManagedConfiguration, jwtLaunchFailed, cancelled
      case refreshFailed, invalidLoginURL
      case invalidCredentials, stateMismatch, identityUnavailable, serverUnavailable
      case invalidUsername, invalidPassword, invalidEmail, managedAppRequired
      case identityMismatch, screenLockRequired, interactionNotAllowed
    }
    private let kind: Kind

    /// The server returned an error without a constant here; ``OAuthError/serverError`` contains
    /// it.
    public static let unknown = Code(kind: .unknown)
    /// The server or the user did not respond in time. Trying again may help.
    public static let timedOut = Code(kind: .timedOut)
    /// The response is malformed.
    public static let malformedResponse = Code(kind: .malformedResponse)
    /// The user, or a rule of the org, refused. Start the login again.
    public static let accessDenied = Code(kind: .accessDenied)
    /// The connected app's consumer key is not known. Correct it.
    public static let invalidClientId = Code(kind: .invalidClientId)
    /// The connected app's credentials are not accepted. Correct them.
    public static let invalidClientCredentials = Code(kind: .invalidClientCredentials)
    /// The code or the refresh token is used up, expired or revoked. Log in again.
    public static let invalidGrant = Code(kind: .invalidGrant)
    /// The server cannot read the request, or a redirect URI is not registered.
    public static let invalidRequest = Code(kind: .invalidRequest)
    /// The user is not active.
    public static let inactiveUser = Code(kind: .inactiveUser)
    /// The org is locked, closed or suspended.
    public static let inactiveOrg = Code(kind: .inactiveOrg)
    /// Too many logins. Wait, then try again.
    public static let rateLimitExceeded = Code(kind: .rateLimitExceeded)
    /// The connected app may not use this response type.
    public static let unsupportedResponseType = Code(kind: .unsupportedResponseType)
    /// The connected app changed. Log out, then log in.
    public static let wrongVersion = Code(kind: .wrongVersion)
    /// The browser, or the listener for its redirect, could not be started.
    public static let browserLaunchFailed = Code(kind: .browserLaunchFailed)
    /// The org's authentication configuration cannot be used.
    public static let unknownAuthConfiguration = Code(kind: .unknownAuthConfiguration)
    /// The managed configuration makes a login impossible. Correct it.
    public static let badManagedConfiguration = Code(kind: .badManagedConfiguration)
    /// The exchange of a signed token failed.
    public static let jwtLaunchFailed = Code(kind: .jwtLaunchFailed)
    /// The user cancelled.
    public static let cancelled = Code(kind: .cancelled)
    /// The server was not reached for a refresh; the account is kept. Trying again may help.
    public static let refreshFailed = Code(kind: .refreshFailed)
    /// The login server's address is not an https address. Correct it.
    public static let invalidLoginURL = Code(kind: .invalidLoginURL)
    /// The account has no refresh token, no instance or no consumer key. Log in again.
    public static let invalidCredentials = Code(kind: .invalidCredentials)
    /// The redirect does not belong to this login. It was ignored.
    public static let stateMismatch = Code(kind: .stateMismatch)
    /// The user of the tokens could not be determined.
    public static let identityUnavailable = Code(kind: .identityUnavailable)
    /// The login server failed, or is closed for maintenance. Trying again may help.
    public static let serverUnavailable = Code(kind: .serverUnavailable)

    /// The user name breaks a rule. Nothing was sent.
    public static let invalidUsername = Code(kind: .invalidUsername)
    /// The password breaks a rule. Nothing was sent.
    public static let invalidPassword = Code(kind: .invalidPassword)
    /// The email address is invalid. Nothing was sent.
    public static let invalidEmail = Code(kind: .invalidEmail)
    /// The org allows the login of this user only on managed devices.
    public static let managedAppRequired = Code(kind: .managedAppRequired)
    /// The org requires that the app locks itself, and nothing on this device can unlock it.
    public static let screenLockRequired = Code(kind: .screenLockRequired)
    /// A user would have to act, and this process starts no such login.
    public static let interactionNotAllowed = Code(kind: .interactionNotAllowed)
    /// Responses of the server name different users. Do not use that server.
    public static let identityMismatch = Code(kind: .identityMismatch)

    public var description: String { kind.rawValue }

    /// Whether the same call may succeed later.
    public var isRetryable: Bool {
      switch kind {
      case .timedOut, .refreshFailed, .rateLimitExceeded, .serverUnavailable: true
      default: false
      }
    }

    /// The number of the error in CO-40; 666 for causes without a number.
    public var number: Int {
      switch kind {
      case .unknown, .invalidCredentials, .stateMismatch, .identityUnavailable, .serverUnavailable,
        .invalidUsername, .invalidPassword, .invalidEmail, .managedAppRequired, .identityMismatch,
        .screenLockRequired, .interactionNotAllowed:
        666
      case .timedOut: 667
      case .malformedResponse: 668
      case .accessDenied: 669
      case .invalidClientId: 670
      case .invalidClientCredentials: 671
      case .invalidGrant: 672
      case .invalidRequest: 673
      case .inactiveUser: 674
      case .inactiveOrg: 675
      case .rateLimitExceeded: 676
      case .unsupportedResponseType: 677
      case .wrongVersion: 678
      case .browserLaunchFailed: 679
      case .unknownAuthConfiguration: 680
      case .badManagedConfiguration: 681
      case .jwtLaunchFailed: 682
      case .cancelled: 683
      case .refreshFailed: 684
      case .invalidLoginURL: 685
      }
    }

    /// Creates the code for the server's error, by the table in CO-40.
    public init(serverError: String) {
      let kind: Kind =
        switch serverError {
        case "auth_timeout": .timedOut
        case "malformed_response": .malformedResponse
        case "access_denied": .accessDenied
        case "invalid_client_id": .invalidClientId
        case "invalid_client", "invalid_client_credentials": .invalidClientCredentials
        case "invalid_grant": .invalidGrant
        case "invalid_request": .invalidRequest
        case "inactive_user": .inactiveUser
        case "inactive_org": .inactiveOrg
        case "rate_limit_exceeded": .rateLimitExceeded
        case "unsupported_response_type": .unsupportedResponseType
        case "wrong_version": .wrongVersion
        case "browser_launch_failed": .browserLaunchFailed
        case "unknown_advanced_auth_config", "auth_config": .unknownAuthConfiguration
        case "jwt_launch_failed": .jwtLaunchFailed
        default: .unknown
        }
      self.init(kind: kind)
    }

    private init(kind: Kind) {
      self.kind = kind
    }
  }

  /// The kind of the error.
  public let code: Code
  /// The failure, its object and the remedy; never a secret.
  public let message: String
  /// The server's error code, such as `invalid_grant`.
  public let serverError: String?
  /// The server's description of the error.
  public let serverDescription: String?
  /// The number of a failed identity call in `com.salesforce.Identity.ErrorDomain` (CO-70).
  public let identityNumber: Int?
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The source location where the error was created.
  public let location: SourceLocation

  /// Whether the response cannot be from a token endpoint: it is neither a token response nor an error of OAuth.
  ///
  /// A proxy or a captive portal sends such responses. They say nothing about the session, which stays.
  public private(set) var isUnexpectedResponse = false

  /// Whether the same call may succeed later, according to the code, or because the response was unexpected.
  public var isRetryable: Bool { code.isRetryable || isUnexpectedResponse }
  /// The effect of this failure: that of the code, or ``OAuthEffect/tryLater`` if the response was unexpected.
  public var effect: OAuthEffect { isUnexpectedResponse ? .tryLater : code.effect }

  /// The same error for a response that cannot be from a token endpoint.
  var unexpected: OAuthError {
    var error = self
    error.isUnexpectedResponse = true
    return error
  }

  /// Creates an error, for a custom ``LoginPresenter``.
  public init(
    _ code: Code, _ message: String, serverError: String? = nil, serverDescription: String? = nil,
    identityNumber: Int? = nil, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.identityNumber = identityNumber
    self.code = code
    self.message = Redaction.redact(message)
    self.serverError = serverError.map(Redaction.redact)
    self.serverDescription = serverDescription.map(Redaction.redact)
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// Creates the error for the server's error code.
  ///
  /// - Parameter code: Default: the code for `serverError`.
  init(
    serverError: String, code: Code? = nil, description: String?, during what: String,
    fileID: String = #fileID, line: Int = #line
  ) {
    let sentence = description.map { ": \($0)" } ?? "."
    self.init(
      code ?? Code(serverError: serverError),
      "The server refused \(what) with \(serverError)\(sentence)",
      serverError: serverError, serverDescription: description, fileID: fileID, line: line)
  }

  /// Creates the error for a status that means the server is temporarily unavailable; nil for any
  /// other status.
  init?(
    unavailable status: Int, during what: String, fileID: String = #fileID, line: Int = #line
  ) {
    switch status {
    case 429:
      self.init(
        .rateLimitExceeded,
        "The server has had too many requests for \(what). Wait, then try again.",
        fileID: fileID, line: line)
    case 500...599:
      self.init(
        .serverUnavailable, "The server failed during \(what) (\(status)). Try again later.",
        fileID: fileID, line: line)
    default: return nil
    }
  }

  /// The domain of such errors in the platform's libraries (CO-40).
  public static let domain = "com.salesforce.OAuth.ErrorDomain"
  /// The number in that domain.
  public var number: Int { code.number }
}
