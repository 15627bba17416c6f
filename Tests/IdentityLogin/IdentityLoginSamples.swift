import IdentityLogin
import LoopbackLogin
import SalesforceMockOrg
import SalesforceSDKCore
import TestSupport
import Testing

/// The samples of the guide run between a provider in another process and an app in this one.
@Suite struct IdentityLoginSamples {
  @Test(.covers("CO-160", "CO-162")) func `the guide's app logs in through the guide's provider`()
    async throws
  {
    try await TwoApps.with { apps in
      let (accounts, transport) = (apps.accounts, apps.transport)
      let providerSocket = apps.providerSocket
      let vouching = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: transport)
      try await vouching.logIn(
        .tokens(accessToken: apps.server.info.accessToken, instance: apps.login))
      // sample: identity-provider
      let orders = ServiceProviderApp(
        clientId: "3MVG9.orders", redirectURI: "orders:///done", name: "Orders",
        scopes: ["api", "id"], executables: ["/usr/bin/orders"])
      let provider = IdentityProvider(
        accounts: vouching, apps: [orders], transport: transport, delegate: AccountPicker())
      let listener = try await provider.listen(on: providerSocket, allowsRoot: true)
      // end of sample
      let login = try apps.login
      // sample: identity-app
      let app = ConnectedApp(
        clientId: "3MVG9.orders", redirectURI: "orders:///done", scopes: ["api", "id"])
      let serviceProvider = ServiceProvider(
        accounts: accounts, app: app, providerScheme: "acmeidp", carrier: providerSocket,
        fallback: LoopbackLoginPresenter())
      let account = try await serviceProvider.logIn(to: login)
      // end of sample
      #expect(account.username == apps.server.info.username)
      await listener.stop()
      await vouching.close()
    }
  }

  // sample: identity-picker
  struct AccountPicker: IdentityProviderDelegate {
    func chooseAccount(
      among accounts: [UserAccount], for request: IdentityRequest
    ) async throws -> UserAccount? {
      accounts.first  // an app shows a list, and the name of request.app
    }

    func confirm(_ request: IdentityRequest) async -> Bool {
      request.peer != nil  // an app asks its user
    }
  }
  // end of sample
}
