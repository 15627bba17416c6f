import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

@testable import SalesforcePush

/// Does a device come to an org and leave it, and does the org know it by then?
@Suite struct PushRegistrationTests {
  /// A user who is logged in at a mock org.
  private final class Desk: Sendable {
    let org: MockOrg
    let accounts: UserAccountManager
    let account: UserAccount
    let client: RestClient
    let secrets = InMemorySecretStore()
    let clock = Mutex(SalesforceDate(milliseconds: 1_800_000_000_000))
    let markers = FeatureMarkers()

    init(
      _ org: MockOrg, _ accounts: UserAccountManager, _ account: UserAccount, _ client: RestClient
    ) {
      self.org = org
      self.accounts = accounts
      self.account = account
      self.client = client
    }

    var push: PushNotifications {
      PushNotifications(secrets: secrets, markers: markers) { self.clock.withLock { $0 } }
    }

    func passes(_ days: Double) {
      clock.withLock {
        $0 = SalesforceDate(milliseconds: $0.milliseconds + Int64(days * 86_400_000))
      }
    }

    func devices() async throws -> Int {
      try await org.query("SELECT Id FROM MobilePushServiceDevice").count
    }
  }

  private func atDesk(_ body: @Sendable (Desk) async throws -> Void) async throws {
    try await withMockOrg { org, server in
      let transport = URLSessionTransport()
      let accounts = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: transport)
      let account = try await accounts.logIn(
        .tokens(
          accessToken: server.info.accessToken, refreshToken: server.info.refreshToken,
          instance: LoginServer(server.info.url)))
      let client = RestClient(account: account, accounts: accounts, transport: transport)
      try await body(Desk(org, accounts, account, client))
      await accounts.close()
    }
  }

  private let device = PushDevice(appleToken: [0x0A, 0xFF], bundle: "com.acme.orders")

  @Test(.covers("CO-138", "CO-139.1", "BX-91", "CO-183.3"))
  func `a device is registered with the key, and what the org encrypts for it can be read`()
    async throws
  {
    try await atDesk { desk in
      #expect(try desk.push.registration(of: desk.account.identity) == nil)
      let made = try await desk.push.register(
        device, account: desk.account, client: desk.client, additional: ["ConnectionToken": "mine"])
      #expect(made.device.token == "0aff" && made.isEnabled && desk.markers.text == "PN")
      #expect(try desk.push.registration(of: desk.account.identity) == made)
      let again = try await desk.push.register(device, account: desk.account, client: desk.client)
      #expect(again.isEnabled)
      let sent = try await desk.org.pushes(
        of: MockOrgNotification(title: "Order 7", body: "It is late."))
      #expect(sent.map(\.connectionToken) == ["0aff"])
      let payload = try #require(sent.first?.payload)
      #expect(payload["alertTitle"] == nil && payload["encrypted"]?.bool == true)
      let decoded = try PushDecoder(key: desk.push.key).decode(payload)
      #expect(
        decoded["alertTitle"]?.string == "Order 7"
          && decoded["aps"]?["alert"]?["body"]?.string == "It is late.")
    }
  }

  @Test(.covers("CO-140")) func `whatever the server says, an unregistration is done, and once`()
    async throws
  {
    try await atDesk { desk in
      #expect(try await desk.push.unregister(desk.account.identity, client: desk.client) == nil)
      try await desk.push.register(device, account: desk.account, client: desk.client)
      #expect(try await desk.push.unregister(desk.account.identity, client: desk.client) == true)
      #expect(try await desk.devices() == 0)
      #expect(try desk.push.registration(of: desk.account.identity) == nil)
      let key = try desk.push.key.publicKey()
      try await desk.push.register(device, account: desk.account, client: desk.client)
      desk.org.add(MockOrgFault(method: "DELETE", path: "/sobjects", action: .status(403)))
      #expect(try await desk.push.unregister(desk.account.identity, client: desk.client) == false)
      #expect(try await desk.push.unregister(desk.account.identity, client: desk.client) == nil)
      #expect(try desk.push.key.publicKey() == key)
    }
  }

  @Test(.covers("CO-140", "CO-139.1", "BX-5.3", "CO-84.5"))
  func `a logout unregisters the device while its token is good`() async throws {
    try await atDesk { desk in
      await desk.push.takePart(in: desk.accounts) { account in
        RestClient(account: account, accounts: desk.accounts, transport: URLSessionTransport())
      }
      try await desk.push.register(device, account: desk.account, client: desk.client)
      #expect(try await desk.devices() == 1)
      _ = try await desk.accounts.logOut(desk.account.identity)
      #expect(try await desk.devices() == 0)
      #expect(try desk.secrets.list() == [PushKey.secretName])
    }
  }

  @Test(.covers("CO-107.4"))
  func `the registration of a user of a community names the community`() async throws {
    try await atDesk { desk in
      for community in ["0DB000000000001GAA", nil] {
        let sent = Mutex<[JSONValue]>([])
        let transport = ScriptedTransport { request in
          let body = try JSONSlice(parsing: request.body ?? Array("null".utf8)).value
          sent.withLock { $0.append(body) }
          return RestResponse(status: 201, json: #"{"id":"0M0"}"#)
        }
        var member = desk.account
        member.credentials.communityId = community
        try await desk.push.register(
          device, account: member,
          client: RestClient(account: member, accounts: desk.accounts, transport: transport))
        #expect(sent.withLock { $0.first?["ConnectionToken"] } == "0aff")
        #expect(sent.withLock { $0.first?["NetworkId"] } == community.map { .string($0) })
      }
    }
  }

  @Test(.covers("CO-86.2"))
  func `a logout of another user unregisters that user's device with that user's session`()
    async throws
  {
    var options = MockOrgOptions()
    options.otherUsers = [
      MockOrgUser(
        username: "second@acme.example", password: "second", firstName: "Second", lastName: "User")
    ]
    try await withMockOrg(options) { org, server in
      let second = try #require(server.info(forUser: "second@acme.example"))
      let accounts = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: URLSessionTransport())
      let push = PushNotifications(secrets: InMemorySecretStore(), markers: FeatureMarkers()) {
        SalesforceDate(milliseconds: 0)
      }
      let client = { @Sendable account in
        RestClient(account: account, accounts: accounts, transport: URLSessionTransport())
      }
      await push.takePart(in: accounts, client: client)
      var identities: [UserAccountIdentity] = []
      for info in [second, server.info] {
        let account = try await accounts.logIn(
          .tokens(
            accessToken: info.accessToken, refreshToken: info.refreshToken,
            instance: LoginServer(server.info.url)))
        try await push.register(device, account: account, client: client(account))
        identities.append(account.identity)
      }
      #expect(await accounts.current?.identity == identities[1])
      _ = try await accounts.logOut(identities[0])
      #expect(try push.registration(of: identities[0]) == nil)
      #expect(try push.registration(of: identities[1]) != nil)
      let left = try await org.query("SELECT OwnerId FROM MobilePushServiceDevice")
      #expect(left.compactMap { $0["OwnerId"]?.string } == [identities[1].userId])
      #expect(await accounts.current?.identity == identities[1])
      await accounts.close()
    }
  }

  @Test(.covers("CO-139.2", "BX-94"))
  func `an org without push notifications is remembered and not asked again by itself`()
    async throws
  {
    try await atDesk { desk in
      desk.org.add(
        MockOrgFault(
          method: "POST", path: "/sobjects/MobilePushServiceDevice", action: .status(404)))
      let error = await #expect(throws: PushError.self) {
        try await desk.push.register(device, account: desk.account, client: desk.client)
      }
      #expect(error?.code == .notEnabled)
      #expect(try desk.push.registration(of: desk.account.identity)?.isEnabled == false)
      desk.passes(100)
      #expect(try await !desk.push.renew(.onForeground, account: desk.account, client: desk.client))
      #expect(try await desk.devices() == 0)
      try await desk.push.register(device, account: desk.account, client: desk.client)
      #expect(try desk.push.registration(of: desk.account.identity)?.isEnabled == true)
    }
  }

  @Test(.covers("CO-139.2")) func `a failed registration is an error and keeps what was known`()
    async throws
  {
    try await atDesk { desk in
      let empty = await #expect(throws: PushError.self) {
        try await desk.push.register(
          PushDevice(token: " ", bundle: "b"), account: desk.account, client: desk.client)
      }
      #expect(empty?.code == .noToken)
      let made = try await desk.push.register(device, account: desk.account, client: desk.client)
      desk.org.add(
        MockOrgFault(
          method: "POST", path: "/sobjects/MobilePushServiceDevice", action: .status(400)))
      let error = await #expect(throws: PushError.self) {
        try await desk.push.register(device, account: desk.account, client: desk.client)
      }
      #expect(error?.code == .rejected)
      #expect(try desk.push.registration(of: desk.account.identity) == made)
    }
  }

  @Test(.covers("CO-139.2", "CO-14.4")) func `a device is registered again as its mode says`()
    async throws
  {
    try await atDesk { desk in
      for mode in [PushRenewal.disabled, .onForeground, .periodic] {
        #expect(try await !desk.push.renew(mode, account: desk.account, client: desk.client))
      }
      try await desk.push.register(device, account: desk.account, client: desk.client)
      #expect(try await !desk.push.renew(.disabled, account: desk.account, client: desk.client))
      #expect(try await desk.push.renew(.onForeground, account: desk.account, client: desk.client))
      #expect(try await !desk.push.renew(.periodic, account: desk.account, client: desk.client))
      desk.passes(5.9)
      #expect(try await !desk.push.renew(.periodic, account: desk.account, client: desk.client))
      desk.passes(0.2)
      #expect(try await desk.push.renew(.periodic, account: desk.account, client: desk.client))
      desk.passes(-50)
      #expect(try await desk.push.renew(.periodic, account: desk.account, client: desk.client))
    }
  }

  @Test(.covers("CO-143", "BX-93", "BX-44.2", "CO-76.5", "CO-87.3"))
  func `types are kept for days without a network, and actions are invoked`() async throws {
    try await atDesk { desk in
      let id = desk.org.notify(
        MockOrgNotification(
          title: "Approve?", body: "Order 7", type: "order_late",
          actions: [.init(key: "order_late.approve", label: "Approve")]))
      desk.org.add(
        MockOrgFault(method: "GET", path: "/connect/notifications/types", action: .status(400)))
      let error = await #expect(throws: PushError.self) {
        try await desk.push.types(account: desk.account, client: desk.client)
      }
      #expect(error?.code == .noTypes)
      try await desk.push.register(device, account: desk.account, client: desk.client)
      desk.org.add(
        MockOrgFault(method: "GET", path: "/connect/notifications/types", action: .status(400)))
      let types = try await desk.push.types(account: desk.account, client: desk.client)
      #expect(types.map(\.apiName) == ["order_late"])
      #expect(types.first?.actionGroups.first?.actions.map(\.label) == ["Approve"])
      let said = try await desk.push.invoke(
        action: "order_late.approve", notification: id, client: desk.client)
      #expect(!said.isEmpty)
      let unknown = await #expect(throws: RestError.self) {
        try await desk.push.invoke(action: "none", notification: id, client: desk.client)
      }
      #expect(unknown?.code == .notFound)
      try await desk.push.unregister(desk.account.identity, client: desk.client)
      desk.org.add(
        MockOrgFault(method: "GET", path: "/connect/notifications/types", action: .status(400)))
      await #expect(throws: PushError.self) {
        try await desk.push.types(account: desk.account, client: desk.client)
      }
    }
  }

  @Test(.covers("HT-72.1"), .timeLimit(.minutes(1)))
  func
    `a poller delivers each notification once and in order, waits out failures, and ends with the account`()
    async throws
  {
    try await atDesk { desk in
      let (stream, sink) = AsyncStream.makeStream(of: PushNotification.self)
      let receiver = PushReceiver(decoder: PushDecoder(key: desk.push.key)) { _ = sink.yield($0) }
      var options = NotificationPoller.Options()
      options.interval = .milliseconds(1)
      options.longestInterval = .milliseconds(2)
      let poller = NotificationPoller(client: desk.client, receiver: receiver, options: options)
      // More than two pages, some of them of the same second.
      for number in 0..<45 {
        if number % 10 == 0 { desk.org.options.clock.advance(by: .seconds(2)) }
        desk.org.notify(MockOrgNotification(title: "\(number)", body: "b"))
      }
      let failures = Mutex(0)
      let work = Task { try await poller.run { _ in failures.withLock { $0 += 1 } } }
      var titles: [String] = []
      var arrived = stream.makeAsyncIterator()
      while titles.count < 45, let next = await arrived.next() {
        titles.append(next.payload["messageTitle"]?.string ?? "")
        #expect(next.source == .polled)
      }
      #expect(Set(titles).count == 45)
      desk.org.add(
        MockOrgFault(method: "GET", path: "/connect/notifications", count: 2, action: .status(400)))
      desk.org.notify(MockOrgNotification(title: "after a failure", body: "b"))
      #expect(await arrived.next()?.payload["messageTitle"]?.string == "after a failure")
      _ = try await desk.accounts.logOut(desk.account.identity)
      try await work.value
      sink.finish()
      #expect(await arrived.next() == nil)
    }
  }
}
