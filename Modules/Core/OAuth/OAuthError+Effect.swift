/// The consequence of a failed login or refresh for the account and the next step (CO-40, CO-41).
public struct OAuthEffect: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String {
    case startAgain, sessionEnded, appChanged, tryLater, configurationWrong, silent, hostUnreachable
  }
  private let kind: Kind

  /// Inform the user and offer the login again. An existing account does not change.
  public static let startAgain = OAuthEffect(kind: .startAgain)
  /// The credentials can no longer be used: a login fails, a refresh ends the session and keeps the
  /// data.
  public static let sessionEnded = OAuthEffect(kind: .sessionEnded)
  /// The connected app has another version: inform the user, log out, log in.
  public static let appChanged = OAuthEffect(kind: .appChanged)
  /// The network or the server failed temporarily. The account keeps its session.
  public static let tryLater = OAuthEffect(kind: .tryLater)
  /// The program's configuration makes a login impossible; the user cannot correct it.
  public static let configurationWrong = OAuthEffect(kind: .configurationWrong)
  /// The user cancelled: show no message.
  public static let silent = OAuthEffect(kind: .silent)
  /// The login server was not found at its address: offer the first of the list.
  public static let hostUnreachable = OAuthEffect(kind: .hostUnreachable)

  public var description: String { kind.rawValue }
}

extension OAuthError.Code {
  /// The effect of this failure, by the table in CO-40.
  public var effect: OAuthEffect {
    switch self {
    case .invalidGrant: .sessionEnded
    case .wrongVersion: .appChanged
    case .timedOut, .refreshFailed, .serverUnavailable, .rateLimitExceeded: .tryLater
    case .badManagedConfiguration, .interactionNotAllowed: .configurationWrong
    case .cancelled: .silent
    case .invalidLoginURL: .hostUnreachable
    default: .startAgain
    }
  }
}
