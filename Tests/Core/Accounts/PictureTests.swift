import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// CO-75: the pictures of users.
@Suite struct PictureTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func stores(_ accounts: UserAccountManager) -> KeyValueStores {
    KeyValueStores(
      folders: UserFolders(root: folder.url), keys: KeyGenerator(InMemorySecretStore()),
      accounts: accounts)
  }

  private static let picture = Array("GIF89a of Jane".utf8)

  private func account(_ org: TestOrg, thumbnail: String?) throws -> UserAccount {
    var account = org.account()
    let photos = thumbnail.map { #","photos":{"thumbnail":"\#($0)"}"# } ?? ""
    account.profile = UserProfile(
      response: try JSONSlice(parsing: #"{"username":"jane@example.com"\#(photos)}"#))
    account.credentials.identityURL = URL(
      string: "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA")
    return account
  }

  @Test(.covers("CO-75.1", "CO-87.1", "BX-88.1"))
  func `a picture is fetched with the token, kept sealed, and goes with the logout`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 200, body: Self.picture) }
    org.state.withLock { $0.accessToken = "access-0" }
    let transport = org.transport()
    let account = try account(org, thumbnail: "https://acme.file.force.com/profilephoto/T")
    let manager = try await org.manager([account], transport: transport)
    let stores = stores(manager)
    let pictures = UserPictures(accounts: manager, stores: stores, transport: transport)
    #expect(try pictures.picture(of: account) == nil)
    // The token has expired: it is refreshed as for any other request.
    #expect(try await pictures.refresh(of: account.identity) == Self.picture)
    #expect(try pictures.picture(of: account) == Self.picture)
    let request = try #require(transport.requests.last)
    #expect(request.url.absoluteString == "https://acme.file.force.com/profilephoto/T")
    #expect(request.headers[.authorization] == "Bearer access-2")
    let files = FileManager.default.enumerator(at: folder.url, includingPropertiesForKeys: nil)
    var count = 0
    while let file = files?.nextObject() as? URL {
      guard let bytes = try? Data(contentsOf: file) else { continue }
      count += 1
      #expect(bytes.range(of: Data(Self.picture)) == nil)
    }
    #expect(count > 2)
    try await manager.logOut(account.identity)
    #expect(try stores.storeNames(for: account) == [])
    await #expect(throws: AccountError.self) { try await pictures.refresh(of: account.identity) }
    #expect(try stores.storeNames(for: account) == [])
  }

  @Test(.covers("CO-75.1", "CO-84"))
  func `a picture that comes during the logout is not kept`() async throws {
    let hasAsked = Latch(), mayRespond = Latch()
    let org = TestOrg { _ in
      hasAsked.open()
      try await mayRespond.wait()
      return RestResponse(status: 200, body: Self.picture)
    }
    let transport = org.transport()
    let account = try account(org, thumbnail: "https://acme.my.salesforce.com/T")
    let manager = try await org.manager([account], transport: transport)
    let hanging = HangingObserver()
    await manager.addLogoutObserver(hanging)
    let stores = stores(manager)
    let pictures = UserPictures(accounts: manager, stores: stores, transport: transport)
    let refresh = Task { try await pictures.refresh(of: account.identity) }
    try await hasAsked.wait()
    let logout = Task { try await manager.logOut(account.identity) }
    try await hanging.isErasing.wait()
    mayRespond.open()
    let error = await #expect(throws: AccountError.self) { try await refresh.value }
    #expect(error?.code == .illegalState)
    hanging.release.open()
    _ = try await logout.value
    #expect(try stores.storeNames(for: account) == [])
  }

  @Test(.covers("CO-75.3", "CO-128.1"))
  func `an untrusted host never gets the token`() async throws {
    let org = TestOrg { _ in RestResponse(status: 200, body: Self.picture) }
    let transport = org.transport()
    let account = try account(org, thumbnail: "https://pictures.example/T")
    let manager = try await org.manager([account], transport: transport)
    let stores = stores(manager)
    let pictures = UserPictures(accounts: manager, stores: stores, transport: transport)
    let error = await #expect(throws: RestError.self) {
      try await pictures.refresh(of: account.identity)
    }
    #expect(error?.code == .invalidRequest)
    #expect(transport.requests.isEmpty)
  }

  @Test(.covers("CO-75.4"))
  func `a picture that cannot be had leaves the former one, none removes it`()
    async throws
  {
    let status = Mutex(200)
    let org = TestOrg { _ in
      RestResponse(status: status.withLock { $0 }, body: Self.picture)
    }
    let transport = org.transport()
    let account = try account(org, thumbnail: "https://acme.my.salesforce.com/T")
    let manager = try await org.manager([account], transport: transport)
    let stores = stores(manager)
    let pictures = UserPictures(accounts: manager, stores: stores, transport: transport)
    try await pictures.refresh(of: account.identity)
    status.withLock { $0 = 404 }
    await #expect(throws: RestError.self) { try await pictures.refresh(of: account.identity) }
    #expect(try pictures.picture(of: account) == Self.picture)
    // The identity response of this org names no picture.
    try await manager.refreshProfile(of: account.identity)
    #expect(try await pictures.refresh(of: account.identity) == nil)
    #expect(try pictures.picture(of: account) == nil)
  }

  @Test(.covers("CO-75.2", "CO-75.4"))
  func `pictures follow logins and refreshes, and failures end nothing`()
    async throws
  {
    let fetched = [Latch(), Latch()]
    let count = Mutex(0)
    let org = TestOrg { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      fetched[min(number, 2) - 1].open()
      if number == 1 { throw TransportError(.malformed, "no") }
      return RestResponse(status: 200, body: Self.picture)
    }
    let transport = org.transport()
    let account = try account(org, thumbnail: "https://acme.my.salesforce.com/T")
    let accounts = try await org.manager([account], transport: transport)
    // sample: accounts-pictures
    let stores = stores(accounts)
    let pictures = UserPictures(accounts: accounts, stores: stores, transport: transport)
    let following = Task { await pictures.follow() }
    let bytes = try pictures.picture(of: account)
    // end of sample
    #expect(bytes == nil)
    // Until the task listens, events are lost.
    await until {
      _ = try? await accounts.refresh(account.identity)
      return count.withLock { $0 } > 0
    }
    try await fetched[0].wait()
    try await accounts.refresh(account.identity)
    try await fetched[1].wait()
    await until { (try? pictures.picture(of: account)) == Self.picture }
    await accounts.close()
    await following.value
  }

  @Test(.covers("CO-75.2"))
  func `a picture is fetched after a login`() async throws {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
      "/id/00D000000000001EAA/005000000000001AAA": { _ in
        RestResponse(
          json: #"{"username":"j","photos":{"thumbnail":"https://acme.my.salesforce.com/T"}}"#)
      },
      "/T": { request in
        request.headers[.authorization] == "Bearer access-1"
          ? RestResponse(status: 200, body: Self.picture) : RestResponse(status: 401)
      },
    ])
    let transport = stub.transport()
    let accounts = try await stub.manager(transport)
    let pictures = UserPictures(
      accounts: accounts, stores: stores(accounts), transport: transport)
    let following = Task { await pictures.follow() }
    // Until the task listens, events have no reader.
    await until {
      _ = try? await accounts.logIn(
        .browser(
          app: TestOrg.app,
          presenter: ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }))
      return transport.requests.contains { $0.url.path() == "/T" }
    }
    let account = try #require(await accounts.current)
    await until { (try? pictures.picture(of: account)) == Self.picture }
    await accounts.close()
    await following.value
  }
}
