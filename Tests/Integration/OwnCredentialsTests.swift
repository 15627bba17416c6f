import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import TestSupport
import Testing

/// Does a program log in with its own credentials, whatever the org grants them?
@Suite struct OwnCredentialsTests {
  @Test(arguments: [[], ["api"], ["api", "id"], ["api", "refresh_token", "full"]])
  func `a login with the app's secret works with and without the identity's scopes`(
    scopes: [String]
  ) async throws {
    try await withMockOrg { org, server in
      let accounts = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: URLSessionTransport())
      let info = server.info
      let grant = ServerGrant.clientCredentials(
        clientId: info.clientId, clientSecret: info.clientSecret, scopes: scopes)
      let account = try await accounts.logIn(.grant(grant, to: LoginServer(info.url)))
      #expect(account.identity.userId == info.userId)
      // Without the scope the org does not say who the user is.
      #expect(account.username == (scopes.contains("id") ? info.username : ""))
      let client = RestClient(
        account: account, accounts: accounts, transport: URLSessionTransport())
      #expect(try await client.send(.limits()).status == 200)
      org.expireAccessTokens()
      #expect(try await client.send(.limits()).status == 200)
      await accounts.close()
    }
  }

  @Test func `scopes for users alone are refused, and others are the remedy`() async throws {
    try await withMockOrg { _, server in
      let accounts = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: URLSessionTransport())
      let info = server.info
      func logIn(_ scopes: [String]) async throws {
        try await accounts.logIn(
          .grant(
            .clientCredentials(
              clientId: info.clientId, clientSecret: info.clientSecret, scopes: scopes),
            to: LoginServer(info.url)))
      }
      let error = await #expect(throws: OAuthError.self) { try await logIn(["refresh_token"]) }
      #expect(error?.code == .invalidGrant)
      try await logIn(["api"])
      await accounts.close()
    }
  }
}
