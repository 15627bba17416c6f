#if os(Linux)
  import Foundation
  import Synchronization
  import TestSupport
  import Testing

  @testable import DBusClient
  @testable import SalesforceSDKCore
  @testable import SystemAuthentication

  /// Do the desktop's lock and its dialogs reach an app? logind and polkit are played by the test, on a bus of its own.
  @Suite(
    .enabled(if: DesktopSession.exists, "gnome-keyring and dbus are not installed"),
    .timeLimit(.minutes(2)))
  struct DesktopLockTests {
    private let folder: TemporaryFolder
    private let policy = LockPolicy(timeoutMinutes: 5)
    private static let session = "/org/freedesktop/login1/session/_37"

    init() throws { folder = try TemporaryFolder() }

    /// logind with one session, `7`.
    private static func logind(_ address: String) throws -> BusService {
      try BusService("org.freedesktop.login1", address: address) { call in
        switch (call.member, call.body.first) {
        case ("GetSession", .string("7")), ("GetSessionByPID", .uint32(UInt32(getpid()))):
          .success([.objectPath(session)])
        default:
          .failure(DBusError(.refused, "No session", name: "org.freedesktop.login1.NoSuchSession"))
        }
      }
    }

    /// A lock of an app whose org demands one, unlocked.
    private func unlocked() async throws -> ScreenLockManager {
      let lock = ScreenLockManager(authenticator: ScriptedDeviceAuthenticator([.success(())]))
      await lock.didLogIn(
        UserAccountIdentity(userId: "005000000000001", organizationId: "00D000000000001"),
        users: [
          UserAccountIdentity(userId: "005000000000001", organizationId: "00D000000000001"): policy
        ], mayReset: false)
      try await lock.unlock()
      #expect(!lock.isLocked)
      return lock
    }

    @Test(.covers("CO-156", "HT-76"), arguments: ["7", nil])
    func `the lock of the desktop's session locks the app`(session: String?) async throws {
      let lock = try await unlocked()
      try await DesktopSession.with(home: folder.url, hasKeyring: false) { bus in
        let logind = try Self.logind(bus.address)
        let events = lock.events()
        let task = Task {
          try await DesktopLock(session: session, address: bus.address).follow(lock)
        }
        defer { task.cancel() }
        // The signal counts once the app listens, so it is sent until it does.
        while !lock.isLocked {
          // Signals of other objects and names change nothing.
          try logind.signal("Unlock", on: Self.session, interface: "org.freedesktop.login1.Session")
          try logind.signal("Lock", on: "/elsewhere", interface: "org.freedesktop.login1.Session")
          try logind.signal("Lock", on: Self.session, interface: "org.freedesktop.login1.Session")
          await Task.yield()
        }
        #expect(await events.first { _ in true } == .flowWillBegin)
        task.cancel()
        try await task.value
      }
    }

    @Test(.covers("CO-156")) func `without logind, or for no session of it, there is an error`()
      async throws
    {
      let lock = try await unlocked()
      try await DesktopSession.with(home: folder.url, hasKeyring: false) { bus in
        func code(_ session: String) async -> LockError.Code? {
          do throws(LockError) {
            try await DesktopLock(session: session, address: bus.address).follow(lock)
            return nil
          } catch {
            return error.code
          }
        }
        #expect(await code("7") == .unavailable)
        let logind = try Self.logind(bus.address)
        #expect(await code("8") == .unavailable)
        _ = logind
      }
      #expect(!lock.isLocked)
    }

    /// polkit that knows one action, and decides as its user does.
    private static func polkit(
      _ address: String, asked: [DBusValue]?
    ) throws -> BusService {
      try BusService("org.freedesktop.PolicyKit1", address: address) { call in
        guard call.member == "CheckAuthorization", call.body.count == 5,
          case .structure(let subject) = call.body[0], subject[0] == .string("unix-process"),
          subject[1]["pid"] == .uint32(UInt32(getpid())),
          case .uint64(let start)? = subject[1]["start-time"], start > 0
        else { return .failure(DBusError(.refused, "Bad call", name: "org.example.Bad")) }
        guard call.body[1] == .string("org.fieldforce.unlock") else {
          return .failure(DBusError(.refused, "Unknown action", name: "org.example.Unknown"))
        }
        guard call.body[3] == .uint32(1) else {
          return .success([.structure([.bool(false), .bool(true), .texts([:])])])
        }
        return asked.map { .success([.structure($0)]) }
      }
    }

    private func code(_ authenticator: PolkitAuthenticator) async -> LockError.Code? {
      do {
        try await authenticator.authenticate(for: policy)
        return nil
      } catch {
        return (error as? LockError)?.code
      }
    }

    @Test(.covers("CO-156", "HT-76")) func `polkit's dialog unlocks, refuses or is dismissed`()
      async throws
    {
      let decisions: [(values: [DBusValue], code: LockError.Code?)] = [
        ([.bool(true), .bool(false), .texts([:])], nil),
        ([.bool(false), .bool(false), .texts([:])], .refused),
        ([.bool(false), .bool(true), .texts(["polkit.dismissed": "true"])], .cancelled),
        ([.bool(true)], .unavailable),
      ]
      try await DesktopSession.with(home: folder.url, hasKeyring: false) { bus in
        let authenticator = PolkitAuthenticator(address: bus.address)
        #expect(await authenticator.isAvailable == false)
        #expect(await self.code(authenticator) == .unavailable)
        for decision in decisions {
          let polkit = try Self.polkit(bus.address, asked: decision.values)
          #expect(await authenticator.isAvailable)
          #expect(await self.code(authenticator) == decision.code)
          #expect(
            await PolkitAuthenticator(action: "org.example.other", address: bus.address).isAvailable
              == false)
          withExtendedLifetime(polkit) {}
        }
      }
    }

    @Test(.covers("CO-156")) func `a cancelled task does not wait for the dialog`() async throws {
      try await DesktopSession.with(home: folder.url, hasKeyring: false) { bus in
        let polkit = try Self.polkit(bus.address, asked: nil)
        let task = Task { [policy = self.policy] in
          try await PolkitAuthenticator(address: bus.address).authenticate(for: policy)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        withExtendedLifetime(polkit) {}
      }
    }
  }
#endif
