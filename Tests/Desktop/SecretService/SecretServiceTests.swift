import Crypto
import Foundation
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

@testable import SecretService

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// Does a real secret service keep secrets, and is "not now" never "none"?
@Suite(
  .enabled(if: DesktopSession.exists, "gnome-keyring and dbus are not installed"),
  .timeLimit(.minutes(2)))
struct SecretServiceTests {
  private let folder: TemporaryFolder
  private let name = SecretName(service: "key", account: "a")

  init() throws { folder = try TemporaryFolder() }

  private func code(_ body: () throws -> Void) -> SecretStoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SecretStoreError)?.code
    }
  }

  @Test(.covers("CA-6.5", "HT-78.3", "CA-1.1"))
  func `the secret service keeps secrets for good, each under its whole name`() async throws {
    let names = [
      name, SecretName(service: "key"), SecretName(service: "key", account: ""),
      SecretName(service: "a_b", account: "c"), SecretName(service: "a", account: "b_c"),
      SecretName(service: "key", account: "a", group: "g"), SecretName(service: "ключ\n\""),
    ]
    let large = RandomBytes.make(1 << 16)
    try await DesktopSession.with(home: folder.url) { session in
      let store = session.store()
      #expect(try store.read(name) == nil && store.list().isEmpty && !store.remove(name))
      for (number, name) in names.enumerated() { try store.write([UInt8(number)], for: name) }
      for (number, name) in names.enumerated() { #expect(try store.read(name) == [UInt8(number)]) }
      #expect(try Set(store.list()) == Set(names))
      #expect(
        try session.store("another").list().isEmpty && session.store("another").read(name) == nil)
      try store.write([], for: names[1])
      #expect(try store.read(names[1]) == [])
      try store.write(large, for: names[2])
      try store.update(name) { secret throws(SecretStoreError) in (secret ?? []) + [9] }
      #expect(try store.remove(names[3]) && !store.remove(names[3]))
      #expect(
        code {
          try store.write(
            [UInt8](repeating: 0, count: FileSecretStore.maxSecretBytes + 1), for: name)
        }
          == .tooLarge)
      #expect(store.protection == .secretService)
    }
    // The next session of the same user.
    try await DesktopSession.with(home: folder.url) { session in
      let store = session.store()
      // A closure throws only if it has a call that does outside of the macro.
      let left = try names.map { name in try store.read(name) }
      #expect(left == [[0, 9], [], large, nil, [4], [5], [6]])
      #expect(try store.list().count == names.count - 1)
    }
  }

  @Test(.covers("CA-6.3", "CA-6.5", "HT-78.2"))
  func `a locked collection is an error of its own for every call, and makes no new key`()
    async throws
  {
    try await DesktopSession.with(home: folder.url) { [folder] session in
      let store = session.store()
      let key = KeptMasterKey(
        in: folder.file("state"),
        keepers: [StoredMasterKey("secret-service", in: store, as: SecretName(service: "master"))],
        others: [KeyFile(folder.file("state/master.key"))])
      let secrets = FileSecretStore(in: folder.file("state"), masterKey: key)
      try secrets.write([1], for: name)
      try store.write([2], for: name)
      try session.lockKeyring()
      for name in [name, SecretName(service: "none")] {
        #expect(code { _ = try store.read(name) } == .locked)
        #expect(code { try store.write([3], for: name) } == .locked)
        #expect(code { try store.update(name) { _ in [3] } } == .locked)
        #expect(code { try store.remove(name) } == .locked)
        #expect(code { _ = try store.readOrCreate(name) { [4] } } == .locked)
      }
      #expect(code { _ = try store.list() } == .locked)
      // A process that has not read the key yet.
      let late = KeptMasterKey(
        in: folder.file("state"),
        keepers: [StoredMasterKey("secret-service", in: store, as: SecretName(service: "master"))],
        others: [KeyFile(folder.file("state/master.key"))])
      let later = FileSecretStore(in: folder.file("state"), masterKey: late)
      #expect(code { _ = try later.read(name) } == .locked)
      #expect(code { try later.write([5], for: name) } == .locked)
      #expect(code { try late.move(to: "file") } == .locked)
      #expect(!FileManager.default.fileExists(atPath: folder.file("state/master.key").path))
    }
    // After the next login all is there.
    try await DesktopSession.with(home: folder.url) { [folder] session in
      let key = KeptMasterKey(
        in: folder.file("state"),
        keepers: [
          StoredMasterKey("secret-service", in: session.store(), as: SecretName(service: "master"))
        ],
        others: [KeyFile(folder.file("state/master.key"))])
      let secrets = FileSecretStore(in: folder.file("state"), masterKey: key)
      #expect(try secrets.read(name) == [1] && session.store().read(name) == [2])
      try key.move(to: "file")
      #expect(try secrets.read(name) == [1])
      #expect(try session.store().read(SecretName(service: "master")) == nil)
    }
  }

  @Test(.covers("CA-6.3", "CA-6.7", "HT-78.2"), .timeLimit(.minutes(2)))
  func `without a session bus, or a service on it, there is an error`() async throws {
    let lock = folder.file("lock")
    func stores(_ address: String) -> SecretServiceStore {
      SecretServiceStore(application: "test", lock: lock, address: address)
    }
    for address in [
      "unix:path=\(folder.file("none").path)", "unix:abstract=none-\(UUID())",
      "tcp:host=127.0.0.1,port=9", ";",
    ] {
      #expect(code { _ = try stores(address).read(name) } == .noSessionBus)
      #expect(code { _ = try stores(address).readOrCreate(name) { [1] } } == .noSessionBus)
    }
    try await DesktopSession.with(home: folder.url, hasKeyring: false) { session in
      #expect(code { _ = try session.store().read(name) } == .noSessionBus)
      #expect(code { try session.store().write([1], for: name) } == .noSessionBus)
    }
  }

  @Test(.covers("CA-7")) func `changes from many sides at once exclude each other`() async throws {
    try await DesktopSession.with(home: folder.url) { session in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<5 {
              try session.store().update(SecretName(service: "counter")) {
                secret throws(SecretStoreError) in
                [(secret?.first ?? 0) + 1]
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try session.store().read(SecretName(service: "counter")) == [20])
      #expect(try session.store().list().count == 1)
    }
  }

  @Test(.covers("HT-78.3"), .enabled(if: geteuid() == 0, "only root may be another user"))
  func `a bus of another user gets nothing`() async throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "bus-\(UUID())")
    defer { unlink(place.path) }
    let script = """
      import os, socket, sys
      os.setuid(65534)
      listener = socket.socket(socket.AF_UNIX)
      listener.bind(sys.argv[1])
      listener.listen()
      print("ready", flush=True)
      print("got", len(listener.accept()[0].recv(100)), flush=True)
      """
    chmod(place.deletingLastPathComponent().path, 0o1777)
    let ended = try await Subprocess.run(
      .path("/usr/bin/python3"), arguments: Arguments(["-c", script, place.path]), input: .none,
      output: .sequence, error: .discarded
    ) { execution in
      var lines = execution.standardOutput.strings().makeAsyncIterator()
      _ = try await lines.next()
      let store = SecretServiceStore(
        application: "test", lock: folder.file("lock"), address: "unix:path=\(place.path)")
      #expect(code { try store.write([1], for: name) } == .noSessionBus)
      return try await lines.next()
    }
    #expect(ended.closureResult?.hasPrefix("got 0") == true)
  }

  @Test func `both sides of an exchange have the same key`() {
    let first = DiffieHellman(exponent: Array(1...40)),
      second = DiffieHellman(exponent: Array(200..<240))
    // Computed with Python's pow and hmac.
    #expect(
      Hex.encode(first.publicKey).hasPrefix("f5c0ffe85fadcbd82e041253138281995bfcfdcbe617da31"))
    #expect(Hex.encode(first.publicKey).hasSuffix("d61aba1f5ef726763c96ec5dbb"))
    #expect(
      Hex.encode(second.publicKey).hasPrefix("ea17243579cff49a6c199aeea11f5d8da3cd32d86cfac462"))
    let keys = [first.sharedKey(second.publicKey), second.sharedKey(first.publicKey)]
    for key in keys {
      #expect(
        key.map { $0.withUnsafeBytes { Hex.encode($0) } } == "1c5911127d953dfd56d916a933cf411f")
    }
    let prime = DiffieHellman.bytes(DiffieHellman.prime)
    var before = prime
    before[127] -= 1
    for number in [
      [], [0], [1], prime, before, [UInt8](repeating: 255, count: 128),
      [UInt8](repeating: 1, count: 129),
    ] {
      #expect(first.sharedKey(number) == nil)
    }
  }
}
