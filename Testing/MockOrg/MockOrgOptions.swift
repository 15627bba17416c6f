public import struct Foundation.URL

/// A user of the org.
public struct MockOrgUser: Sendable, Hashable {
  /// What the login form and the password flow ask for; matched without regard to case.
  public var username = "admin@fieldforce.example"
  /// The password; a security token behind it is not asked for.
  public var password = "fieldforce1"
  public var firstName = "Ada"
  public var lastName = "Admin"
  public var email = "admin@fieldforce.example"
  /// What the user may see and change.
  public var profile = MockOrgProfile()
  /// The policy in the identity service's response. Default: nil, ``MockOrgOptions/identityPolicy``.
  public var identityPolicy: MockOrgIdentityPolicy?

  /// The user whose name and password the defaults of this type give.
  public init() {}

  /// A user with a name and a profile of their own; the e-mail address is the username.
  public init(
    username: String, password: String = "fieldforce1", firstName: String, lastName: String,
    profile: MockOrgProfile = MockOrgProfile()
  ) {
    self.username = username
    self.password = password
    self.firstName = firstName
    self.lastName = lastName
    self.profile = profile
    email = username
  }
}

/// The options of an org.
public struct MockOrgOptions: Sendable {
  /// The org's name, as the record of `Organization` has it.
  public var organizationName = "Fieldforce Mock Org"
  /// The policy in the identity service's response for users without one of their own. Default: no restrictions.
  public var identityPolicy = MockOrgIdentityPolicy()
  /// When apps have to lock themselves: that of ``identityPolicy``. Default: nil, never.
  public var mobilePolicy: MockOrgMobilePolicy? {
    get { identityPolicy.mobilePolicy }
    set { identityPolicy.mobilePolicy = newValue }
  }
  /// Whether the org says of itself that it is a sandbox (`IsSandbox` of `Organization`).
  public var isSandbox = false
  /// The address that login responses, identity URLs and URLs in records name, without a path; nil names the
  /// address that a request came to. For clients that reach the org through a proxy.
  public var instanceURL: URL?
  /// Names by which clients may call the org, besides loopback addresses and the host of
  /// ``instanceURL``. Requests to any other host are refused, so that no web page reaches the org by a name of
  /// its own. Default: none.
  public var otherHosts: Set<String> = []
  /// The user who exists from the start, with a profile that may do everything.
  public var user = MockOrgUser()
  /// Further users, who log in as the first one does.
  public var otherUsers: [MockOrgUser] = []
  /// The connected app's consumer key.
  public var clientId = "3MVG9fieldforceMockOrgClient"
  /// The connected app's consumer secret; asked for only where a client sends one.
  public var clientSecret = "fieldforce-mock-org-secret"
  /// Further consumer keys that the org knows, without a secret. Default: the one that command line tools of
  /// the platform use, which every org knows.
  public var otherClientIds: Set<String> = ["PlatformCLI"]
  /// Whether clients with any other consumer key are served too. A real org responds to them with
  /// `invalid_client_id`. Default: false.
  public var acceptsUnknownClients = false
  /// The public keys (PEM) with which assertions of the JWT bearer flow are checked, by consumer key.
  public var clientKeys: [String: String] = [:]
  /// Whether assertions of clients without a key are accepted unchecked. Default: true.
  public var acceptsUncheckedAssertions = true
  /// Where the web server flow returns to unless the request says otherwise.
  public var redirectURI = "http://localhost:1717/OauthRedirect"
  /// Further addresses that the connected app has registered, compared as they are written.
  public var redirectURIs: Set<String> = []
  /// Whether a login may also return to where no registration is needed to keep it on this machine:
  /// loopback addresses, and schemes of apps' own such as `myapp:///done`. Other addresses have to be
  /// registered, or the login responds with `redirect_uri_mismatch`.
  public var acceptsLocalRedirects = true
  /// How long an access token is good for.
  public var accessTokenLifetime: Duration = .seconds(7200)
  /// Whether each refresh gives a new refresh token and ends the old one.
  public var rotatesRefreshTokens = false
  /// Whether an ended refresh token is good once more while neither its successor nor a session of
  /// that was used: a client that lost the response is not taken for a thief. Only with
  /// ``rotatesRefreshTokens``.
  public var forgivesLostRefreshes = false
  /// Whether the login page asks for approval after the password.
  public var asksForApproval = false
  /// Whether queries over REST may say what the platform takes in Apex code alone: `ALL ROWS`,
  /// `WITH SECURITY_ENFORCED`, `WITH USER_MODE`, `WITH SYSTEM_MODE`. A real org refuses them there.
  public var acceptsApexClauses = false
  /// How many requests a day the org allows, for its limits.
  public var dailyRequests = 15_000
  /// Whether requests beyond ``dailyRequests`` are refused.
  public var enforcesDailyRequests = false
  /// Whether clients that accept gzip get it, as from the platform.
  public var compressesResponses = true
  /// A folder of pages: `<name>.html` is served at `/apex/<name>`. Default: the org's own, `BasicVFTest`.
  public var pages: URL?
  /// The org's time.
  public var clock = MockOrgClock()
  /// The file that keeps the records; nil keeps them in memory.
  public var database: URL?

  /// An org in memory with one user and one connected app.
  public init() {}

  /// Gives the user and the connected app random secrets, and refuses assertions that no key checks: then
  /// other users of this machine, who know the defaults, cannot log in.
  public mutating func useRandomSecrets() {
    user.password = Sessions.randomText(24)
    clientSecret = Sessions.randomText(40)
    acceptsUncheckedAssertions = false
  }

  /// ``instanceURL`` without a slash at its end.
  var instanceAddress: String? {
    instanceURL.map { url in
      let text = url.absoluteString
      return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
  }

  /// Whether the org serves a client with this consumer key.
  func knows(client clientId: String) -> Bool {
    acceptsUnknownClients || clientId == self.clientId || otherClientIds.contains(clientId)
      || clientKeys[clientId] != nil
  }
}
