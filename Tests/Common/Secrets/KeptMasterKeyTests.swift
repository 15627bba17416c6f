import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCommon

/// What keeps the master key of a folder, and can it get lost on its way from one keeper to another?
struct KeptMasterKeyTests {
  private let folder: TemporaryFolder
  private let keyring = FaultyStore()
  private let name = SecretName(service: "key")

  init() throws { folder = try TemporaryFolder() }

  private func keeper(_ name: String) -> any MasterKeyKeeper {
    switch name {
    case "file": KeyFile(folder.file("master.key"))
    case "passphrase":
      SealedKeyFile(
        folder.file("master.sealed"), passphrase: Passphrase { Array("open sesame".utf8) },
        cost: SealedKeyFile.Cost(rounds: 1 << 4))
    default: StoredMasterKey("keyring", in: keyring, as: SecretName(service: "master-key"))
    }
  }

  /// A key as a new process sees it.
  private func key(
    _ names: String..., patience: Duration = .milliseconds(50)
  ) -> KeptMasterKey {
    let all = ["file", "passphrase", "keyring"]
    let names = names.isEmpty ? ["file"] : names
    return KeptMasterKey(
      in: folder.url, keepers: names.map(keeper),
      others: all.filter { !names.contains($0) }.map(keeper), patience: patience)
  }

  private func store(_ key: KeptMasterKey) -> FileSecretStore {
    FileSecretStore(in: folder.url, masterKey: key)
  }

  private func code(_ body: () throws -> Void) -> SecretStoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SecretStoreError)?.code
    }
  }

  @Test(.covers("CA-6.7", "HT-78.3"))
  func `a new folder takes the first keeper that the session has, and keeps to it`() throws {
    keyring.failure = SecretStoreError(.noSessionBus, "none")
    try store(key("keyring", "file")).write([1], for: name)
    #expect(try key().keeperName() == "file")
    keyring.failure = nil
    #expect(try store(key("keyring", "file")).read(name) == [1])
    #expect(try keyring.list().isEmpty)
    #expect(key("keyring", "file").protection == .keyFile)
  }

  private static let refusals: [SecretStoreError.Code] = [
    .weakPassphrase, .missingPassphrase, .exposedKeyFile, .inputOutput,
  ]

  @Test(.covers("HT-78.3"), arguments: refusals, ["new", "chosen", "moved"])
  func `a refused passphrase leaves the record as it was`(
    refusal: SecretStoreError.Code, before: String
  ) throws {
    if before == "moved" { try store(key()).write([1], for: name) }
    if before == "chosen" { try KeyRecord(keeper: "passphrase").write(in: folder.url) }
    let record = folder.file("keys.json")
    let bytes = try? Data(contentsOf: record)
    let refused = SealedKeyFile(
      folder.file("master.sealed"),
      passphrase: Passphrase { () throws(SecretStoreError) in
        if refusal == .weakPassphrase { return Array("short".utf8) }
        throw SecretStoreError(refusal, "no")
      }, cost: SealedKeyFile.Cost(rounds: 1 << 4))
    let key = KeptMasterKey(
      in: folder.url, keepers: [refused], others: [keeper("file"), keeper("keyring")])
    let code = code {
      if before == "moved" {
        try key.move(to: "passphrase")
      } else {
        try store(key).write([1], for: name)
      }
    }
    #expect(code == refusal)
    #expect((try? Data(contentsOf: record)) == bytes)
    #expect(!FileManager.default.fileExists(atPath: folder.file("master.sealed").path))
    guard before == "new" else { return }
    // The next choice is free.
    try store(self.key()).write([1], for: name)
    #expect(try self.key().keeperName() == "file")
  }

  @Test(
    .covers("CA-6.3", "HT-78.2"),
    arguments: [SecretStoreError.Code.locked, .noSessionBus, .inputOutput])
  func `a keeper that cannot be read makes neither a new key nor a choice`(
    reason: SecretStoreError.Code
  ) throws {
    keyring.failure = SecretStoreError(reason, "not now")
    // Of a new folder.
    #expect(code { try store(key("keyring")).write([1], for: name) } == reason)
    #expect(try key().keeperName() == nil)
    #expect(!FileManager.default.fileExists(atPath: folder.file("keychain.db").path))
    keyring.failure = nil
    // Of a folder with secrets, whatever else could keep a key.
    try store(key("keyring")).write([1], for: name)
    keyring.failure = SecretStoreError(reason, "not now")
    for names in [["keyring"], ["keyring", "file"], ["file", "keyring"]] {
      let key = KeptMasterKey(in: folder.url, keepers: names.map(keeper))
      #expect(code { _ = try store(key).read(name) } == reason)
      #expect(code { try store(key).write([2], for: name) } == reason)
      #expect(code { _ = try store(key).list() } == reason)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("master.key").path))
    keyring.failure = nil
    #expect(try store(key()).read(name) == [1])
  }

  @Test(.covers("HT-78.2"))
  func `a key that is gone, or kept by what the program lacks, is an error`() throws {
    try store(key("keyring")).write([1], for: name)
    let file = KeptMasterKey(in: folder.url, keepers: [keeper("file")])
    #expect(code { _ = try store(file).read(name) } == .otherKeeper)
    #expect(code { try file.move(to: "file") } == .otherKeeper)
    #expect(code { try key().move(to: "nonsense") } == .otherKeeper)
    try keeper("keyring").forget()
    #expect(code { _ = try store(key()).read(name) } == .missingMasterKey)
    #expect(code { try store(key()).write([2], for: name) } == .missingMasterKey)
    #expect(code { try key().move(to: "file") } == .missingMasterKey)
  }

  @Test(.covers("HT-78.1"))
  func `a folder of an earlier version, or without its record, finds its key`() throws {
    try FileSecretStore(in: folder.url, masterKey: KeyFile(folder.file("master.key")))
      .write([1], for: name)
    #expect(try store(key("keyring")).read(name) == [1])
    try key().move(to: "keyring")
    try FileManager.default.removeItem(at: folder.file("keys.json"))
    #expect(try store(key()).read(name) == [1])
    try store(key()).write([2], for: name)
    #expect(try store(key()).read(name) == [2])
    try Data("{".utf8).write(to: folder.file("keys.json"))
    #expect(code { _ = try store(key()).read(name) } == .corrupt)
    try Data(#"{"version":2,"keeper":"file"}"#.utf8).write(to: folder.file("keys.json"))
    #expect(code { _ = try store(key()).read(name) } == .unknownFormat)
  }

  static let ways = ["file", "passphrase", "keyring"].flatMap { from in
    ["file", "passphrase", "keyring"].filter { $0 != from }.map { [from, $0] }
  }

  @Test(.covers("HT-78.4"), arguments: ways)
  func `a move that ends after any of its steps loses no key`(way: [String]) throws {
    try store(key(way[0])).write([7], for: name)
    let before = try key().masterKey(mayCreate: false)
    for steps in 0...MasterKeyMove.Step.allCases.count {
      do {
        guard var move = try key().startMove(to: way[1]) else {
          Issue.record("there is nothing to move")
          return
        }
        for _ in 0..<steps { _ = try move.next() }
        // Here the process ends: its lock goes, and nothing else happens.
      }
      #expect(try key().masterKey(mayCreate: false) == before, "after \(steps) steps")
      #expect(try store(key()).read(name) == [7], "after \(steps) steps")
      // The next process completes it, or starts it again.
      try key().finishMove()
      try key().move(to: way[1])
      try key().move(to: way[1])
      #expect(try key().keeperName() == way[1])
      #expect(try keeper(way[0]).load() == nil && keeper(way[1]).load() == before)
      #expect(try store(key()).read(name) == [7])
      try key().move(to: way[0])
      #expect(try keeper(way[1]).load() == nil && keeper(way[0]).load() == before)
    }
  }

  @Test(.covers("HT-78.4"), arguments: 0..<9)
  func `a move in which the secret service fails at any call loses no key`(call: Int) throws {
    for way in Self.ways where way.contains("keyring") {
      try store(key(way[0])).write([7], for: name)
      let before = try key().masterKey(mayCreate: false)
      keyring.failAfter(call, with: SecretStoreError(.locked, "locked now"))
      _ = code { try key().move(to: way[1]) }
      keyring.failure = nil
      #expect(try key().masterKey(mayCreate: false) == before)
      try key().move(to: way[1])
      #expect(try key().masterKey(mayCreate: false) == before)
      #expect(try store(key()).read(name) == [7])
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
        try FileManager.default.removeItem(at: folder.file(file))
      }
      try keeper("keyring").forget()
    }
  }

  @Test(.covers("HT-78.4")) func `a keeper with another key keeps it`() throws {
    try store(key("file")).write([7], for: name)
    let other = MasterKey.random()
    for target in ["keyring", "passphrase"] {
      try keeper(target).keep(other)
      #expect(code { try key().move(to: target) } == .occupied)
      #expect(try keeper(target).load() == other && key().keeperName() == "file")
      #expect(try store(key()).read(name) == [7])
    }
  }

  @Test(.covers("HT-78.4")) func `a changed record makes no keeper forget its key`() throws {
    try store(key("keyring")).write([7], for: name)
    let before = try key().masterKey(mayCreate: false)
    // A process without the key writes files: a record of a move, and a key of its own.
    try keeper("file").keep(.random())
    for record in [
      #"{"version":1,"keeper":"file","leaving":"keyring"}"#,
      #"{"version":1,"keeper":"keyring","leaving":"keyring"}"#,
      #"{"version":1,"keeper":"passphrase","leaving":"keyring"}"#,
    ] {
      try Data(record.utf8).write(to: folder.file("keys.json"))
      #expect(code { try key().finishMove() } == .missingMasterKey)
      #expect(code { try key().move(to: "passphrase") } == .missingMasterKey)
      #expect(try keeper("keyring").load() == before)
    }
    try Data(#"{"version":1,"keeper":"keyring"}"#.utf8).write(to: folder.file("keys.json"))
    #expect(try store(key()).read(name) == [7])
  }

  @Test(.covers("CA-7", "HT-78.4"))
  func `readers never miss the key while it moves to and fro`() async throws {
    try store(key("file")).write([7], for: name)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          while !Task.isCancelled {
            let secret = try store(key(patience: .seconds(60))).read(name)
            #expect(secret == [7])
          }
        }
      }
      for _ in 0..<20 {
        try key(patience: .seconds(60)).move(to: "keyring")
        try key(patience: .seconds(60)).move(to: "file")
      }
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test(.covers("CA-7"))
  func `of several processes that make the first secret, one makes the key`() async throws {
    for _ in 0..<10 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<4 {
          group.addTask {
            try store(key("keyring")).write([UInt8(number)], for: SecretName(service: "\(number)"))
          }
        }
        try await group.waitForAll()
      }
      for number in 0..<4 {
        #expect(try store(key()).read(SecretName(service: "\(number)")) == [UInt8(number)])
      }
      try FileManager.default.removeItem(at: folder.file("keychain.db"))
      try FileManager.default.removeItem(at: folder.file("keys.json"))
      try keeper("keyring").forget()
    }
  }

  @Test func `two moves exclude each other`() throws {
    try store(key("file")).write([7], for: name)
    guard let move = try key().startMove(to: "keyring") else {
      Issue.record("there is nothing to move")
      return
    }
    #expect(code { try key().move(to: "keyring") } == .locked)
    _ = consume move
    try key().move(to: "keyring")
  }
}

/// A store in memory that fails when a test says so.
final class FaultyStore: SecretStore {
  private let store = InMemorySecretStore()
  private let state = Mutex<(calls: Int, failure: SecretStoreError?)>((0, nil))

  /// What each call throws; nil for none.
  var failure: SecretStoreError? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0 = (0, newValue) } }
  }

  /// Lets so many calls succeed before all fail.
  func failAfter(_ calls: Int, with failure: SecretStoreError) {
    state.withLock { $0 = (calls, failure) }
  }

  private func check() throws(SecretStoreError) {
    let failure = state.withLock { state -> SecretStoreError? in
      if state.calls > 0 {
        state.calls -= 1
        return nil
      }
      return state.failure
    }
    if let failure { throw failure }
  }

  var protection: SecretProtection { .memory }

  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? {
    try check()
    return try store.read(name)
  }

  @discardableResult
  func update(
    _ name: SecretName,
    _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try check()
    return try store.update(name, change)
  }

  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    try check()
    try store.write(secret, for: name)
  }

  @discardableResult
  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
    try check()
    return try store.remove(name)
  }

  func list() throws(SecretStoreError) -> [SecretName] {
    try check()
    return try store.list()
  }
}
