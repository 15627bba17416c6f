import Foundation
import Synchronization

/// A client's leave to act for a user until a time.
struct Session: Sendable {
  var userID: String
  var clientID: String
  var scope: String
  var issued: Date
  var expires: Date
  /// The refresh token that the session came from or came with.
  var refreshToken: String?
}

/// A client's leave to open sessions for a user.
struct RefreshToken: Sendable {
  var userID: String
  /// The app that it was given to; nil if the org itself handed it out, for any client.
  var clientID: String?
  var scope: String
}

/// A login that waits for the client to fetch its tokens.
struct AuthorizationGrant: Sendable {
  var userID: String
  var clientID: String
  var redirectURI: String
  /// What PKCE bound the code to; nil if the client did not use it.
  var challenge: String?
  var scope: String
  /// What an OpenID client wants to find in its token again.
  var nonce: String?
  var expires: Date
}

/// A device that waits for its user to let it in.
struct DeviceGrant: Sendable {
  enum Decision: Sendable {
    case pending
    case denied
    case granted(userID: String)
  }

  /// What the device shows.
  var userCode: String
  var clientID: String
  var scope: String
  var expires: Date
  var decision = Decision.pending
}

/// The tokens and codes that the org has given out and still honours.
final class Sessions: Sendable {
  private struct State {
    var sessions: [String: Session] = [:]
    var refreshTokens: [String: RefreshToken] = [:]
    var grants: [String: AuthorizationGrant] = [:]
    var devices: [String: DeviceGrant] = [:]
    /// The refresh token's successors end with it when it is used a second time.
    var successors: [String: String] = [:]
    /// The refresh tokens whose response has certainly arrived, since a session of theirs was used.
    var arrived: Set<String> = []

    /// Ends the sessions that have expired, or, if that is less than half, the older half.
    mutating func endOldestSessions(now: Date) {
      let before = sessions.count
      sessions = sessions.filter { $0.value.expires > now }
      guard sessions.count > before / 2 else { return }
      let middle = sessions.values.map(\.issued).sorted()[sessions.count / 2]
      sessions = sessions.filter { $0.value.issued > middle }
    }
  }

  /// Most sessions at a time. A session costs no proof of work: a client could open any number.
  private static let maxSessions = 50_000
  /// Most devices that wait for their user.
  private static let maxDevices = 1000

  private let state = Mutex(State())
  private let organizationID: String
  private let lifetime: Duration
  private let forgivesLostRefreshes: Bool

  init(organizationID: String, lifetime: Duration, forgivesLostRefreshes: Bool = false) {
    self.organizationID = organizationID
    self.lifetime = lifetime
    self.forgivesLostRefreshes = forgivesLostRefreshes
  }

  // MARK: Access tokens

  /// Opens a session and gives its access token.
  func open(
    userID: String, clientID: String, refreshToken: String? = nil,
    scope: String = LoginService.usualScope, now: Date
  ) -> String {
    let token = "\(organizationID.prefix(15))!AQ\(Self.randomText(60))"
    let session = Session(
      userID: userID, clientID: clientID, scope: scope, issued: now,
      expires: now.addingTimeInterval(lifetime / .seconds(1)),
      refreshToken: refreshToken)
    state.withLock { state in
      if state.sessions.count >= Self.maxSessions { state.endOldestSessions(now: now) }
      state.sessions[token] = session
    }
    return token
  }

  /// The session of an access token; nil if there is none or it has expired.
  func session(_ token: String, now: Date) -> Session? {
    state.withLock { state in
      guard let session = state.sessions[token], session.expires > now else { return nil }
      if forgivesLostRefreshes, let refresh = session.refreshToken { state.arrived.insert(refresh) }
      return session
    }
  }

  /// Ends all access tokens; refresh tokens stay good.
  func expireAccessTokens() { state.withLock { $0.sessions = [:] } }

  /// Ends one access token.
  func expire(_ token: String) { state.withLock { $0.sessions[token] = nil } }

  // MARK: Refresh tokens

  /// Gives a new refresh token.
  ///
  /// - Parameter clientID: The one app that may use it; nil: every app.
  func makeRefreshToken(
    userID: String, clientID: String?, scope: String = LoginService.usualScope
  ) -> String {
    let token = "5Aep\(Self.randomText(83))"
    state.withLock {
      $0.refreshTokens[token] = RefreshToken(userID: userID, clientID: clientID, scope: scope)
    }
    return token
  }

  /// What a refresh token is good for; nil if it is not good.
  func refreshToken(_ token: String) -> RefreshToken? {
    state.withLock { $0.refreshTokens[token] }
  }

  /// Uses a refresh token.
  ///
  /// - Parameter rotating: Ends it and gives a successor. Using an ended token again ends its
  ///   successors and their sessions too, since it was stolen.
  /// - Returns: Whose it is and the token to use from now on; nil if it is not good.
  func refresh(
    _ token: String, clientID: String, rotating: Bool
  ) -> (userID: String, scope: String, token: String)? {
    state.withLock { state in
      if forgivesLostRefreshes, let lost = state.successors[token], !state.arrived.contains(lost),
        let refresh = state.refreshTokens.removeValue(forKey: lost)
      {
        // The successor was not used: its response was lost, and the token counts as unused.
        state.sessions = state.sessions.filter { $0.value.refreshToken != lost }
        state.refreshTokens[token] = refresh
      }
      guard let refresh = state.refreshTokens[token] else {
        var stolen = state.successors[token]
        while let token = stolen {
          state.refreshTokens[token] = nil
          state.sessions = state.sessions.filter { $0.value.refreshToken != token }
          stolen = state.successors[token]
        }
        return nil
      }
      guard refresh.clientID == nil || refresh.clientID == clientID else { return nil }
      guard rotating else { return (refresh.userID, refresh.scope, token) }
      let next = "5Aep\(Self.randomText(83))"
      state.refreshTokens[token] = nil
      state.refreshTokens[next] = refresh
      state.successors[token] = next
      return (refresh.userID, refresh.scope, next)
    }
  }

  /// Ends an access token, or a refresh token with all sessions that came from it.
  ///
  /// - Returns: Whether the token was known.
  func revoke(_ token: String) -> Bool {
    state.withLock { state in
      if state.sessions.removeValue(forKey: token) != nil { return true }
      guard state.refreshTokens.removeValue(forKey: token) != nil else { return false }
      state.sessions = state.sessions.filter { $0.value.refreshToken != token }
      return true
    }
  }

  /// Ends all refresh tokens.
  func revokeRefreshTokens() { state.withLock { $0.refreshTokens = [:] } }

  // MARK: Codes

  /// Keeps a login and gives the code that fetches its tokens.
  func makeCode(_ grant: AuthorizationGrant) -> String {
    let code = "aPrx\(Self.randomText(60))"
    state.withLock { $0.grants[code] = grant }
    return code
  }

  /// Takes the login that a code stands for; a code works once.
  func takeGrant(_ code: String) -> AuthorizationGrant? {
    state.withLock { $0.grants.removeValue(forKey: code) }
  }

  // MARK: Devices

  /// Keeps a device that waits, in place of the oldest if too many do.
  func insert(_ device: DeviceGrant, deviceCode: String) {
    state.withLock { state in
      if state.devices.count >= Self.maxDevices,
        let oldest = state.devices.min(by: { $0.value.expires < $1.value.expires })
      {
        state.devices[oldest.key] = nil
      }
      state.devices[deviceCode] = device
    }
  }

  func deviceGrant(_ deviceCode: String) -> DeviceGrant? {
    state.withLock { $0.devices[deviceCode] }
  }

  func removeDeviceGrant(_ deviceCode: String) {
    state.withLock { $0.devices[deviceCode] = nil }
  }

  /// Lets the device in that shows a code, or not; false if none does.
  func decide(userCode: String, _ decision: DeviceGrant.Decision, now: Date) -> Bool {
    state.withLock { state in
      let waiting = state.devices.first {
        $0.value.userCode == userCode && $0.value.expires > now
      }
      guard let waiting else { return false }
      state.devices[waiting.key]?.decision = decision
      return true
    }
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// Unguessable letters and digits.
  static func randomText(_ length: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return String(
      decoding: (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? 0x41 },
      as: UTF8.self)
  }
}
