#if DEBUG
  public import Foundation
  import SalesforceSDKCommon

  /// Credentials of a live org for tests, from a file that is not a part of the sources (CO-21, CO-22).
  ///
  /// Only debug builds have this type.
  public struct TestCredentials: Sendable {
    /// The environment's variable that names the file.
    public static let variable = "SALESFORCE_TEST_CREDS"
    /// The argument of the process before the document itself.
    public static let argument = "-creds"
    /// No such file is longer: 1 MiB.
    private static let maxBytes = 1 << 20

    /// The connected app.
    public let app: ConnectedApp
    /// The server where the user logged in.
    public let server: LoginServer
    /// The server that holds the org's data.
    public let instance: LoginServer

    let refreshToken: String
    let identity: UserAccountIdentity
    let identityURL: URL?
    let username: String
    let communityURL: URL?

    /// Reads the document of `test_credentials.json`.
    ///
    /// - Throws: ``OAuthError`` `invalidCredentials` if a value that a session needs is missing.
    public init(parsing document: [UInt8]) throws(OAuthError) {
      let json = try? JSONSlice(parsing: document)
      func text(_ key: String) -> String? {
        guard let text = json?[key]?.string?.trimmed, !text.isEmpty else { return nil }
        return text
      }
      guard let client = text("test_client_id"), let domain = text("test_login_domain"),
        let instance = text("instance_url"), let refresh = text("refresh_token"),
        let user = text("user_id"), let org = text("organization_id")
      else {
        throw OAuthError(
          .invalidCredentials,
          "The test credentials lack one of test_client_id, test_login_domain, instance_url, "
            + "refresh_token, user_id and organization_id.")
      }
      app = ConnectedApp(
        clientId: client, redirectURI: text("test_redirect_uri") ?? "",
        scopes: Set(json?["scopes"]?.elements.compactMap(\.string) ?? []), usesHybridGrants: false)
      server = try LoginServer(domain)
      self.instance = try LoginServer(instance)
      refreshToken = refresh
      identity = UserAccountIdentity(userId: user, organizationId: org)
      identityURL = text("identity_url").flatMap { URL(string: $0) }
      communityURL = text("community_url").flatMap { URL(string: $0) }
      username = text("username") ?? ""
    }

    /// Reads the credentials from an argument of the process or, without one, from the file that
    /// the environment names; `nil` if there is neither, so that live tests can be skipped.
    ///
    /// - Throws: ``OAuthError`` `invalidCredentials` if the argument or the file cannot be used.
    public static func load(
      environment: [String: String] = ProcessInfo.processInfo.environment,
      arguments: [String] = CommandLine.arguments
    ) throws(OAuthError) -> TestCredentials? {
      if let place = arguments.firstIndex(of: argument) {
        guard place + 1 < arguments.count else {
          throw OAuthError(
            .invalidCredentials, "No document follows \(argument). Give the test credentials there."
          )
        }
        return try TestCredentials(parsing: Array(arguments[place + 1].utf8))
      }
      guard let path = environment[variable], !path.isEmpty else { return nil }
      let file = DurableFile(URL(filePath: path))
      guard let bytes = (try? file.read(maxBytes: maxBytes)) ?? nil else {
        throw OAuthError(.invalidCredentials, "\(path), which \(variable) names, cannot be read.")
      }
      return try TestCredentials(parsing: bytes)
    }
  }

  extension TestCredentials: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
  {
    /// The server alone.
    public var description: String { "test credentials for \(instance)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["instance": instance]) }
  }

  extension LoginMethod {
    /// Creates an account from test credentials, with one refresh.
    ///
    /// The login throws the errors of a refresh; then no account is created.
    public static func testCredentials(_ test: TestCredentials) -> LoginMethod {
      var credentials = OAuthCredentials(
        clientId: test.app.clientId, redirectURI: test.app.redirectURI, loginServer: test.server,
        usesHybridGrants: false, refreshToken: test.refreshToken, instanceURL: test.instance.url,
        identityURL: test.identityURL)
      credentials.communityURL = test.communityURL
      credentials.scopes = test.app.scopes.sorted()
      return LoginMethod(.unknown, to: test.server) { [credentials] accounts, makesCurrent in
        let response = try await accounts.service.refresh(credentials)
        return try await accounts.enter(
          UserAccount(
            identity: test.identity, credentials: credentials.merging(response),
            profile: UserProfile(username: test.username)), makesCurrent: makesCurrent)
      }
    }
  }
#endif
