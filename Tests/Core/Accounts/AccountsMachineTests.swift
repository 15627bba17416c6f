import Testing
import TestSupport

@testable import SalesforceSDKCore

/// What do the accounts in memory become, in whatever order logins, refreshes, logouts, failed writes and other
/// processes follow each other?
@Suite struct AccountsMachineTests {
  private typealias Machine = AccountsMachine<Int>

  /// What can happen to one account.
  private enum Event: CaseIterable {
    case logIn, logInUnsaved
    case rotate, rotateUnsaved
    case otherProcessLogsIn, otherProcessLogsOut
    case settle, takeOver, reload
    case beginLogout, takeLogoutBack, finishLogout
    case startRefresh, endRefresh, endOldRefresh
    case refuseRefresh
  }

  /// A machine with its disk, and what a bystander knows about both.
  private struct World {
    static let identity = TestOrg.identity

    var machine = Machine()
    var disk: UserAccount?
    /// Tokens that this process got and that are neither on disk nor superseded nor given back.
    var owed: UserAccount?
    /// The state before the logout at work.
    var former: UserAccount.LoginState?
    var running: Int?
    var ended: [Int] = []
    private var number = 0

    private mutating func tokens(_ login: String? = nil) -> UserAccount {
      number += 1
      return UserAccount(
        identity: Self.identity,
        credentials: OAuthCredentials(
          identifier: login ?? "login-\(number)", clientId: "c", redirectURI: "r",
          loginServer: .production, accessToken: "access-\(number)",
          refreshToken: "refresh-\(number)"), profile: UserProfile(username: "jane"))
    }

    private mutating func save(_ account: UserAccount, succeeds: Bool) {
      machine.willSave(account)
      owed = account
      if succeeds { write(account) }
    }

    private mutating func write(_ account: UserAccount) {
      disk = account
      machine.didSave(Self.identity, change: machine.unsavedChange(of: Self.identity))
      owed = nil
    }

    /// Whether an event can happen now.
    func allows(_ event: Event) -> Bool {
      switch event {
      case .rotate, .rotateUnsaved, .takeOver, .startRefresh, .refuseRefresh:
        machine.account(Self.identity) != nil
      case .takeLogoutBack, .finishLogout: former != nil
      case .endRefresh: running != nil
      case .endOldRefresh: !ended.isEmpty
      case .otherProcessLogsOut: disk != nil
      case .settle: machine.unsavedChange(of: Self.identity) != nil
      default: true
      }
    }

    /// Applies an event, if it can happen now.
    mutating func apply(_ event: Event) {
      let identity = Self.identity
      let here = machine.account(identity)
      switch event {
      case .logIn, .logInUnsaved:
        guard here?.loginState != .loggingOut else { return }
        save(tokens(), succeeds: event == .logIn)
      case .rotate, .rotateUnsaved:
        guard let here else { return }
        var next = tokens(here.credentials.identifier)
        next.loginState = .loggedIn
        save(next, succeeds: event == .rotate)
      case .otherProcessLogsIn:
        disk = tokens()
      case .otherProcessLogsOut:
        disk = nil
      case .settle:
        switch machine.settleUnsaved(identity, stored: disk) {
        case .settled:
          // Only a login of another process may supersede the tokens.
          if let owed { expect(disk?.credentials.identifier != owed.credentials.identifier) }
          owed = nil
        case .removed(let account):
          expect(account.credentials.refreshToken == owed?.credentials.refreshToken)
          expect(machine.account(identity) == nil)
          (owed, running) = (nil, nil)
        case .write(let account):
          expect(account.credentials == owed?.credentials)
          expect(account.loginState != .loggingOut)
          write(account)
        }
      case .takeOver:
        guard let here else { return }
        switch machine.takeOver(identity, stored: disk, since: here) {
        case .changed: expect(false)
        case .removed: expect(disk == nil)
        case .account(let account): expect(account == machine.account(identity))
        }
      case .reload:
        machine.load(StoredAccounts(accounts: disk.map { [$0] } ?? []))
        if former == nil, owed == nil {
          expect(machine.account(identity) == disk)
        }
      case .beginLogout:
        let resumes = machine.isLogoutInterrupted(identity)
        switch machine.beginLogout(of: identity, resumes: resumes) {
        case .unknown: expect(here == nil)
        case .inProgress: expect(machine.isLeaving(identity))
        case .begun(let account, let state):
          expect(account.loginState == .loggingOut)
          former = state
        }
      case .takeLogoutBack:
        guard let state = former else { return }
        machine.setLoginState(state, of: identity)
        machine.endLogout(of: identity)
        former = nil
        expect(machine.account(identity)?.credentials == here?.credentials)
      case .finishLogout:
        guard former != nil else { return }
        machine.remove(identity)
        machine.endLogout(of: identity)
        (former, disk, owed, running) = (nil, nil, nil, nil)
        expect(machine.account(identity) == nil)
        expect(machine.refresh(of: identity) == nil)
        expect(machine.unsavedChange(of: identity) == nil)
        expect(machine[identity].grant == nil)
      case .startRefresh:
        guard case .account = machine.session(of: identity, ending: nil),
          machine.refresh(of: identity) == nil
        else { return }
        let number = machine.nextRefresh()
        machine.didStartRefresh(of: identity, number: number, number)
        if let running { ended.append(running) }
        running = number
      case .endRefresh:
        guard let running else { return }
        machine.didEndRefresh(of: identity, number: running)
        ended.append(running)
        self.running = nil
      case .endOldRefresh:
        for number in ended { machine.didEndRefresh(of: identity, number: number) }
      case .refuseRefresh:
        guard let here, let account = machine.endedSession(of: here) else { return }
        expect(account.credentials == here.credentials)
        save(account, succeeds: true)
      }
    }

    /// What holds after every event.
    func check(_ path: [Event]) {
      let identity = Self.identity
      let here = machine.account(identity)
      expect(machine.refresh(of: identity) == running, path)
      expect(machine.isLeaving(identity) == (former != nil), path)
      if machine.unsavedChange(of: identity) != nil { expect(here != nil, path) }
      if let owed {
        // Tokens that the server gave us are in memory until they are on disk, and are marked as such.
        expect(here?.credentials == owed.credentials, path)
        expect(machine.unsavedChange(of: identity) != nil, path)
        expect(
          machine.newest(identity, stored: disk)?.credentials
            == (disk == nil
              ? nil
              : disk?.credentials.identifier == owed.credentials.identifier
                ? owed.credentials : disk?.credentials),
          path)
      }
      guard let here else { return }
      switch machine.session(of: identity, ending: nil) {
      case .unknown: expect(false, path)
      case .account(let account): expect(account.loginState == .loggedIn, path)
      case .ended(let account): expect(account.loginState != .loggedIn, path)
      }
      // Only observers of the logout may use the session.
      if here.loginState == .loggingOut {
        let isUsable = machine.mayUseSession(of: here, ending: identity)
        expect(isUsable == machine.isLeaving(identity), path)
      }
    }

    /// An expectation without the cost of the macro, which matters a million times.
    private func expect(
      _ condition: Bool, _ path: [Event] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
      if !condition { Issue.record("\(path)", sourceLocation: sourceLocation) }
    }
  }

  /// Visits every sequence of `depth` events, without those in which an event cannot happen.
  private func visit(_ world: World, _ path: [Event], _ depth: Int, _ count: inout Int) {
    for event in Event.allCases where world.allows(event) {
      var next = world
      next.apply(event)
      next.check(path + [event])
      count += 1
      if depth > 1 { visit(next, path + [event], depth - 1, &count) }
    }
  }

  @Test func `every sequence of events keeps tokens, one refresh and one logout`() {
    var count = 0
    visit(World(), [], 3, &count)
    var loggedIn = World()
    loggedIn.apply(.logIn)
    visit(loggedIn, [.logIn], 4, &count)
    #expect(count > 1_000)
  }

  @Test func `a login that is being logged out keeps its state when tokens arrive`() {
    var world = World()
    for event in [Event.logIn, .beginLogout, .rotateUnsaved, .reload] {
      world.apply(event)
      world.check([event])
    }
    #expect(world.machine.account(World.identity)?.loginState == .loggingOut)
    #expect(world.machine.account(World.identity)?.credentials == world.owed?.credentials)
  }

  @Test func `a value that changed while it was written stays unsaved`() throws {
    var world = World()
    world.apply(.logInUnsaved)
    let first = try #require(world.machine.unsavedChange(of: World.identity))
    world.apply(.rotateUnsaved)
    world.machine.didSave(World.identity, change: first)
    #expect(world.machine.unsavedChange(of: World.identity) != nil)
  }

  @Test func `the values of an account are removed with it`() {
    var world = World()
    world.apply(.logIn)
    world.machine[World.identity].confirmedServers = ["https://a.example:443"]
    world.machine[World.identity].openIDToken = "token"
    world.machine[World.identity].grant = .clientCredentials(clientId: "c", clientSecret: "s")
    let change = world.machine.version
    world.machine.remove(World.identity)
    let entry = world.machine[World.identity]
    #expect(entry.confirmedServers.isEmpty)
    #expect(entry.openIDToken == nil)
    #expect(entry.grant == nil)
    #expect(world.machine.version > change)
  }

  @Test func `an entry without an account spells no identity`() {
    var machine = World().machine
    machine[World.identity].confirmedServers = ["https://a.example:443"]
    #expect(machine.spelling(of: World.identity) == nil)
  }

  @Test func `the current user is one with an account`() {
    var world = World()
    world.apply(.logIn)
    let first = world.machine.setCurrent(World.identity)
    let again = world.machine.setCurrent(World.identity)
    #expect(first)
    #expect(!again)
    world.machine.remove(World.identity)
    #expect(world.machine.current == nil)
    #expect(world.machine.currentIdentity == World.identity)
  }
}
