/// What an app says to another one in a login through it (CO-161). The grammar is the platform's, so there are no others.
public enum IdentityCommand: Sendable, Equatable {
  /// The service provider requests a code: `authrequest`.
  case authRequest(AuthRequest)
  /// The identity provider returns the code: `authresponse`.
  case authResponse(AuthResponse)
  /// The identity provider refuses: `error`.
  case failure(Failure)
  /// The identity provider starts a login: `idpinit`.
  case login(Login)
  /// The identity provider starts a login and brings the code: `idpauthcodeinit`.
  case loginWithCode(LoginWithCode)

  /// A request for a code.
  public struct AuthRequest: Sendable, Equatable {
    /// The consumer key of the app that logs in.
    public var clientId: String
    /// Where its codes go. The identity provider checks that it belongs to the app which sent the request.
    public var redirectURI: String
    /// The challenge of PKCE.
    public var codeChallenge: String
    /// What the tokens shall be good for; `refresh_token` is always among those that are sent.
    public var scopes: Set<String>
    /// The user to log in as.
    public var user: IdentityUser?
    /// The login server.
    public var loginHost: String?
    /// Comes back with the response, and has to be compared there.
    public var state: String?
    /// What a person reads.
    public var appName: String?

    /// Makes a request.
    public init(
      clientId: String, redirectURI: String, codeChallenge: String, scopes: Set<String> = [],
      user: IdentityUser? = nil, loginHost: String? = nil, state: String? = nil,
      appName: String? = nil
    ) {
      self.clientId = clientId
      self.redirectURI = redirectURI
      self.codeChallenge = codeChallenge
      self.scopes = scopes.union(["refresh_token"])
      self.user = user
      self.loginHost = loginHost
      self.state = state
      self.appName = appName
    }
  }

  /// A code.
  public struct AuthResponse: Sendable, Equatable {
    /// The code, good for one exchange.
    public var code: String
    /// Where to exchange it.
    public var loginHost: String
    /// The state of the request.
    public var state: String?

    /// Makes a response.
    public init(code: String, loginHost: String, state: String? = nil) {
      self.code = code
      self.loginHost = loginHost
      self.state = state
    }
  }

  /// A refusal.
  public struct Failure: Sendable, Equatable {
    /// The platform's code.
    public var code: String
    /// What a person reads.
    public var description: String
    /// Why.
    public var reason: String
    /// The state of the request.
    public var state: String?

    /// Makes a refusal.
    public init(code: String, description: String = "", reason: String = "", state: String? = nil) {
      self.code = code
      self.description = description
      self.reason = reason
      self.state = state
    }
  }

  /// The start of a login.
  public struct Login: Sendable, Equatable {
    /// The user to log in as.
    public var user: IdentityUser?
    /// The login server.
    public var loginHost: String?
    /// What to open afterwards. Check that it is a page of your own app.
    public var startURL: String?

    /// Makes the start of a login.
    public init(user: IdentityUser? = nil, loginHost: String? = nil, startURL: String? = nil) {
      self.user = user
      self.loginHost = loginHost
      self.startURL = startURL
    }
  }

  /// The start of a login with its code.
  public struct LoginWithCode: Sendable, Equatable {
    /// The user to log in as.
    public var user: IdentityUser
    /// The code, good for one exchange.
    public var code: String
    /// Which item of the shared key chain holds the verifier.
    public var keychainReference: String
    /// The group of that item.
    public var keychainGroup: String

    /// Makes the start of a login.
    public init(
      user: IdentityUser, code: String, keychainReference: String, keychainGroup: String
    ) {
      self.user = user
      self.code = code
      self.keychainReference = keychainReference
      self.keychainGroup = keychainGroup
    }
  }
}
