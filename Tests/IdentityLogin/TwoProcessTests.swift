import Foundation
import HTTPTypes
import IdentityProviderURLs
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import Subprocess
import Synchronization
import TestSupport
import Testing

@testable import IdentityLogin
import PeerSocket

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// Does an app get tokens of its own through the identity provider in another process, and nothing else?
@Suite struct TwoProcessTests {
  private func code(_ body: () async throws -> Void) async -> (IdentityLoginError.Code?, String?) {
    do {
      try await body()
      return (nil, nil)
    } catch let error as IdentityLoginError {
      return (error.code, error.reason)
    } catch let error as OAuthError {
      return (nil, "\(error.code)")
    } catch {
      return (nil, "\(error)")
    }
  }

  @Test(.covers("CO-160", "CO-162", "CO-165", "CO-167", "HT-82", "CO-110.3"))
  func `an app logs in as the user that was chosen in the provider, with tokens of its own`()
    async throws
  {
    try await TwoApps.with { apps in
      let second = try #require(apps.server.info(forUser: TwoApps.secondUser))
      let tokens = [apps.server.info.accessToken, second.accessToken]
      try await apps.withProvider(choice: TwoApps.secondUser, tokens: tokens) { provider in
        let app = apps.serviceProvider()
        var events = app.events().makeAsyncIterator()
        let account = try await app.logIn(to: apps.login)
        #expect(account.username == TwoApps.secondUser)
        #expect(account.credentials.clientId == TwoApps.app.clientId)
        #expect(account.credentials.refreshToken != nil)
        #expect(!tokens.contains(account.credentials.accessToken ?? ""))
        #expect(Set(account.credentials.scopes) == ["api", "id", "refresh_token"])
        let client = RestClient(
          account: account, accounts: apps.accounts, transport: apps.transport)
        #expect(try await client.send(.limits()).isSuccess)
        let sent = try await events.next()
        #expect(sent?.kind == .willSendRequest && sent?.command == "authrequest")
        #expect(sent?.parameters["oauth_client_id"] == TwoApps.app.clientId)
        let received = try await events.next()
        #expect(received?.kind == .didReceiveResponse && received?.command == "authresponse")
        // Neither code nor state is part of an event.
        #expect(received?.parameters.keys.sorted() == ["login_host"])
        #expect(
          try await provider.wait(for: "event") == "event didReceiveRequest authrequest")
        #expect(try await provider.wait(for: "choose") == "choose Orders My Orders 2")
        #expect(try await provider.wait(for: "event") == "event willSendResponse authresponse")
      }
    }
  }

  @Test(.covers("CO-183.4", "CO-25.4", "BX-32.2"))
  func `the user agent shows both roles, and the kind of the login names the provider`()
    async throws
  {
    try await TwoApps.with { apps in
      let app = apps.serviceProvider()
      #expect(apps.markers.text == "")
      let events = await apps.accounts.loginEvents()
      await #expect(throws: IdentityLoginError.self) { try await app.logIn(to: apps.login) }
      #expect(apps.markers.text.split(separator: ".").contains("SP"))
      #expect(!apps.markers.text.contains("IP"))
      _ = IdentityProvider(
        accounts: apps.accounts, apps: [], transport: apps.transport, delegate: NoOne())
      #expect(apps.markers.text.split(separator: ".").contains("IP"))
      await apps.accounts.close()
      var types: Set<LoginType> = []
      for await event in events { types.insert(event.type) }
      #expect(types == [.identityProvider])
    }
  }

  private struct NoOne: IdentityProviderDelegate {
    func chooseAccount(among accounts: [UserAccount], for request: IdentityRequest) -> UserAccount?
    { nil }
    func confirm(_ request: IdentityRequest) -> Bool { false }
  }

  @Test(.covers("CO-160", "CO-162", "CO-166", "HT-82"))
  func `a refusal, a cancelled choice and an unknown app end the login at both sides`() async throws
  {
    try await TwoApps.with { apps in
      for (choice, isListed, clientId, expected, atProvider) in [
        ("cancel", true, TwoApps.app.clientId, "cancelled", "refused"),
        ("refuse", false, TwoApps.app.clientId, "cancelled", "refused"),
        ("first", true, "3MVG9.other", "unauthorized_client", "refused"),
      ] {
        try await apps.withProvider(choice: choice, isListed: isListed, clientId: clientId) {
          provider in
          let ended = await code { try await apps.serviceProvider().logIn(to: apps.login) }
          #expect(ended.1 == expected, "\(choice)")
          let last = try await provider.wait(for: "event didFail")
          #expect(last == "event didFail authrequest \(atProvider)")
        }
        #expect(await apps.accounts.accounts.isEmpty)
      }
      try await apps.withProvider(scopes: ["id"]) { _ in
        let ended = await code { try await apps.serviceProvider().logIn(to: apps.login) }
        #expect(ended == (.refused, "invalid_scope"))
      }
    }
  }

  @Test(.covers("CO-162", "CO-166", "HT-82"))
  func `a program that is not listed logs in after the user's confirmation`() async throws {
    try await TwoApps.with { apps in
      try await apps.withProvider(isListed: false) { provider in
        let account = try await apps.serviceProvider().logIn(to: apps.login)
        #expect(account.username == apps.server.info.username)
        #expect(try await provider.wait(for: "confirm") == "confirm program")
      }
    }
  }

  @Test(.covers("CO-160", "CO-166"))
  func `without the provider, or if it refuses, the login goes its normal way`() async throws {
    try await TwoApps.with { apps in
      let ended = await code { try await apps.serviceProvider().logIn(to: apps.login) }
      #expect(ended.0 == .absent)
      let browser = ScriptedLoginPresenter { attempt in
        let page = try await attempt.loginPage()
        let info = apps.server.info
        var request = TransportRequest(method: .post, url: page)
        request.headers[.contentType] = "application/x-www-form-urlencoded"
        request.body = Array(
          PercentEncoding.form([
            (name: "username", value: info.username), ("password", info.password),
          ]).utf8)
        let response = try await apps.transport.send(request)
        return try #require(response.headers[.location])
      }
      let app = apps.serviceProvider(fallback: browser)
      #expect(try await app.logIn(to: apps.login).username == apps.server.info.username)
      try await apps.withProvider(clientId: "3MVG9.other") { _ in
        let account = try await app.logIn(to: apps.login)
        #expect(account.username == apps.server.info.username)
      }
      let unknown = IdentityUser(
        organizationId: apps.server.info.organizationId, userId: "005000000000999AAA")
      try await apps.withProvider { _ in
        let ended = await code {
          try await apps.serviceProvider().logIn(to: apps.login, user: unknown)
        }
        #expect(ended == (.refused, "login_required"))
      }
    }
  }

  @Test(.covers("CO-162", "CO-166"))
  func `a user who takes too long ends the login at both sides, and a late code counts no more`()
    async throws
  {
    try await TwoApps.with { apps in
      try await apps.withProvider(choice: "never") { provider in
        let app = apps.serviceProvider(timeLimit: .milliseconds(300))
        let ended = await code { try await app.logIn(to: apps.login) }
        #expect(ended.1 == "timedOut")
        try await provider.wait(for: "event didFail")
        let late = await code {
          try await app.handle("orders://oauth2/v1.0/authresponse?code=c&login_host=h&state=old")
        }
        #expect(late.0 == .evicted)
      }
    }
  }

  @Test(.covers("CO-162", "HT-95.5"))
  func `a request that comes a second time gets no code`() async throws {
    try await TwoApps.with { apps in
      try await apps.withProvider { _ in
        let request = IdentityURL(
          scheme: "acmeidp",
          command: .authRequest(
            .init(
              clientId: TwoApps.app.clientId, redirectURI: TwoApps.app.redirectURI,
              codeChallenge: "challenge", loginHost: apps.server.info.url, state: "state")))
        var answers: [String] = []
        for _ in 0..<2 {
          let answer = try await apps.providerSocket.send(request)
          switch answer?.command {
          case .authResponse(let response): answers.append(response.state ?? "")
          case .failure(let failure): answers.append(failure.description)
          default: answers.append("none")
          }
        }
        #expect(
          answers == ["state", "The request was received before. Start the login again."])
      }
    }
  }

  @Test(.covers("CO-163", "CO-165", "BX-26"))
  func `the provider starts the login of the app, which opens its page afterwards`() async throws {
    try await TwoApps.with { apps in
      let user = AgreeableUser()
      let app = apps.serviceProvider(delegate: user)
      let events = app.events()
      let listener = try await app.listen(on: apps.appSocket, allowsRoot: true)
      let username = apps.server.info.username
      try await apps.withProvider { provider in
        for _ in 0..<2 {
          try await provider.say("login \(apps.appSocket.path) \(username) orders:///page")
          try await provider.wait(for: "finished")
        }
      }
      await listener.stop()
      // The first time with a code, the second time by switching to the account that is there.
      #expect(
        user.opened.withLock { $0 } == ["orders:///page \(username)", "orders:///page \(username)"])
      var kinds: [IdentityEvent.Kind] = []
      for await event in events {
        kinds.append(event.kind)
        if kinds.count == 6 { break }
      }
      let identity = try #require(await apps.accounts.current?.identity)
      #expect(
        kinds == [
          .didReceiveRequest, .willSendRequest, .didReceiveResponse, .didLogIn(identity),
          .didReceiveRequest, .didLogIn(identity),
        ])
    }
  }

  @Test(.covers("CO-163", "CO-166", "HT-82"))
  func `the app refuses a login that its user does not want, and says so to the provider`()
    async throws
  {
    try await TwoApps.with { apps in
      try await apps.withProvider { provider in
        for (user, reason) in [
          (AgreeableUser(agrees: false), "user_cancelled"), (nil, "access_denied"),
        ] as [(AgreeableUser?, String)] {
          let listener = try await apps.serviceProvider(delegate: user).listen(
            on: apps.appSocket, allowsRoot: true)
          try await provider.say("login \(apps.appSocket.path) - -")
          #expect(try await provider.wait(for: "failed") == "failed refused \(reason)")
          await listener.stop()
        }
        try await provider.say("login \(apps.appSocket.path) - -")
        #expect(try await provider.wait(for: "failed") == "failed absent -")
        // The provider's program needs no confirmation if the app was given it.
        let listener = try await apps.serviceProvider(
          providerExecutables: [TwoApps.child().string]
        ).listen(on: apps.appSocket, allowsRoot: true)
        try await provider.say("login \(apps.appSocket.path) - -")
        try await provider.wait(for: "finished")
        await listener.stop()
      }
    }
  }

  @Test(.covers("CO-161.1", "CO-162", "CO-163", "CO-168", "HT-82"))
  func `both flows work over URLs of the apps' schemes, and a foreign response changes nothing`()
    async throws
  {
    try await TwoApps.with { apps in
      let handlers = URLHandlers()
      let opener = SchemeURLs { url in
        let kind = try await handlers.handle(url)
        #expect(kind != nil)
      }
      let vouching = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: apps.transport)
      try await vouching.logIn(
        .tokens(accessToken: apps.server.info.accessToken, instance: apps.login))
      let listed = ServiceProviderApp(
        clientId: TwoApps.app.clientId, redirectURI: TwoApps.app.redirectURI, name: "Orders",
        executables: [try TwoApps.thisProgram])
      let provider = IdentityProvider(
        accounts: vouching, apps: [listed], transport: apps.transport, delegate: FirstAccount())
      let app = apps.serviceProvider(
        carrier: SchemeURLs { url in
          // A response of another login, before the provider has even seen the request.
          await #expect(throws: IdentityLoginError.self) {
            try await handlers.handle(
              "orders://oauth2/v1.0/authresponse?code=c&login_host=h&state=x")
          }
          let kind = try await handlers.handle(url)
          #expect(kind == .authRequest)
        }, delegate: AgreeableUser())
      app.add(to: handlers)
      provider.add(to: handlers, respondingWith: opener)
      #expect(try await app.logIn(to: apps.login).username == apps.server.info.username)
      try await apps.accounts.logOut(try #require(await apps.accounts.current?.identity))
      try await provider.startLogin(
        of: listed, as: try #require(await vouching.current?.identity), through: opener)
      #expect(await apps.accounts.current?.username == apps.server.info.username)
      // An unknown app gets no response: its address is not known either.
      #expect(
        try await provider.handle(
          "acmeidp://oauth2/v1.0/authrequest?oauth_client_id=x&oauth_redirect_uri=x:y&code_challenge=z",
          respondingWith: opener))
      await vouching.close()
    }
  }

  @Test(.covers("CO-160", "CO-166"))
  func `a provider whose session is not good for pages reports it to the app`() async throws {
    try await TwoApps.with { apps in
      let info = apps.server.info
      var request = TransportRequest(
        method: .post, url: try #require(URL(string: info.url + "/services/oauth2/token")))
      request.headers[.contentType] = "application/x-www-form-urlencoded"
      // The org gives this grant no scope `web`.
      request.body = Array(
        PercentEncoding.form([
          (name: "grant_type", value: "password"), ("client_id", info.clientId),
          ("username", info.username), ("password", info.password),
        ]).utf8)
      let tokens = try JSONSlice(parsing: try await apps.transport.send(request).body)
      let token = try #require(tokens["access_token"]?.string)
      try await apps.withProvider(tokens: [token]) { provider in
        let ended = await code { try await apps.serviceProvider().logIn(to: apps.login) }
        #expect(ended == (.refused, "interaction_required"))
        let last = try await provider.wait(for: "event didFail")
        #expect(last == "event didFail authrequest interactionRequired")
      }
    }
  }

  /// Confirms, and chooses the first account.
  private struct FirstAccount: IdentityProviderDelegate {
    func chooseAccount(
      among accounts: [UserAccount], for request: IdentityRequest
    ) async throws -> UserAccount? { accounts.first }
    func confirm(_ request: IdentityRequest) async -> Bool { request.peer == nil }
  }
}
