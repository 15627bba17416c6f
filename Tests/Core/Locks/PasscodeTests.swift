import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Does a passcode bound how often it can be guessed?
struct PasscodeTests {
  private let policy = LockPolicy(timeoutMinutes: 1)
  private let secrets = InMemorySecretStore()
  private let person = Person()
  private let clock = BootClock()

  /// A person who enters what a list says, and then nothing.
  private final class Person: PasscodePrompt {
    private let state = Mutex<(entries: [String], requests: [PasscodeRequest])>(([], []))

    var requests: [PasscodeRequest] { state.withLock { $0.requests } }
    func enters(_ entries: String...) {
      state.withLock { $0 = (entries, []) }
    }

    func passcode(_ request: PasscodeRequest) async throws -> String? {
      state.withLock { state in
        state.requests.append(request)
        return state.entries.isEmpty ? nil : state.entries.removeFirst()
      }
    }
  }

  private func authenticator() -> PasscodeAuthenticator { authenticator(secrets) }

  private func authenticator(_ secrets: some SecretStore) -> PasscodeAuthenticator {
    PasscodeAuthenticator(
      secrets: secrets, prompt: person, cost: .init(rounds: 16, blockSize: 1)
    ) { [clock] in clock.now }
  }

  /// What is stored of the passcode.
  private func stored() throws -> [UInt8] {
    let bytes = try secrets.read(PasscodeAuthenticator.name)
    return try #require(bytes)
  }

  private func code(_ policy: LockPolicy? = nil) async throws -> LockError.Code? {
    do {
      try await authenticator().authenticate(for: policy ?? self.policy)
      return nil
    } catch let error as LockError {
      return error.code
    }
  }

  private func create(_ passcode: String = "1234") async throws {
    person.enters(passcode, passcode)
    #expect(try await code() == nil)
  }

  @Test(.covers("CO-157")) func `a first passcode is entered twice, in the form that is demanded`()
    async throws
  {
    person.enters("12345", "abcd", "1234", "4321", "1234", "1234")
    #expect(try await code() == nil)
    #expect(
      person.requests.map(\.mode) == [.create, .create, .create, .confirm, .create, .confirm])
    #expect(person.requests.map(\.length) == Array(repeating: 4, count: 6))
    #expect(person.requests.map(\.failures) == [0, 1, 2, 2, 3, 3])
    person.enters("1234")
    #expect(try await code() == nil)
    #expect(person.requests.map(\.mode) == [.check])
    // What is stored shows nothing of it.
    let stored = try stored()
    #expect(!String(decoding: stored, as: UTF8.self).contains("1234"))
  }

  @Test(.covers("CO-157")) func `a person who enters nothing creates and unlocks nothing`()
    async throws
  {
    person.enters("1234")
    #expect(try await code() == .cancelled)
    #expect(try authenticator().hasPasscode == false)
    try await create()
    person.enters()
    #expect(try await code() == .cancelled)
    person.enters("123", "12345", "12a4", "١٢٣٤")
    #expect(try await code() == .cancelled)
    #expect(person.requests.allSatisfy { $0.attemptsLeft == 10 })
  }

  /// A source that has one passcode for each mode.
  private struct Source: PasscodePrompt {
    let entry: @Sendable (PasscodeRequest) -> String
    var throwsIfRepeated = false

    func passcode(_ request: PasscodeRequest) async throws -> String? {
      if throwsIfRepeated, request.isRepeated { throw LockError(.refused, "It has no other.") }
      return entry(request)
    }
  }

  private func refusal(of source: Source) async throws -> LockError.Code? {
    let own = PasscodeAuthenticator(
      secrets: secrets, prompt: source, cost: .init(rounds: 16, blockSize: 1)
    ) { [clock] in clock.now }
    do {
      try await own.authenticate(for: LockPolicy(timeoutMinutes: 1, passcodeLength: 6))
      return nil
    } catch let error as LockError {
      return error.code
    }
  }

  @Test(
    .covers("CO-157"), .timeLimit(.minutes(1)), arguments: ["", "1", "123", "1234567", "123 56"],
    [false, true])
  func `a source that returns one wrong form for ever ends each request with a refusal`(
    wrong: String, isWary: Bool
  ) async throws {
    let always = Source(entry: { _ in wrong }, throwsIfRepeated: isWary)
    // A new passcode, its confirmation, a check, and the change to a longer one.
    #expect(try await refusal(of: always) == .refused)
    let unconfirmed = Source(
      entry: { $0.mode == .confirm ? wrong : "123456" }, throwsIfRepeated: isWary)
    #expect(try await refusal(of: unconfirmed) == .refused)
    #expect(try authenticator().hasPasscode == false)
    try await create("1234")
    #expect(try await refusal(of: always) == .refused)
    let unchanged = Source(
      entry: { $0.mode == .check ? "1234" : wrong }, throwsIfRepeated: isWary)
    #expect(try await refusal(of: unchanged) == .refused)
    person.enters("1234")
    #expect(try await code() == nil)
  }

  @Test(.covers("CO-157")) func `a request says whether an earlier passcode was not accepted`()
    async throws
  {
    person.enters("12", "1234", "4321", "1234", "1234")
    #expect(try await code() == nil)
    #expect(person.requests.map(\.isRepeated) == [false, true, false, true, false])
    person.enters("12", "4321", "1234")
    #expect(try await code() == nil)
    #expect(person.requests.map(\.isRepeated) == [false, true, true])
  }

  @Test(.covers("CO-157")) func `a longer passcode is demanded after the right shorter one`()
    async throws
  {
    try await create()
    let longer = LockPolicy(timeoutMinutes: 1, passcodeLength: 6)
    person.enters("1234", "123456", "123456")
    #expect(try await code(longer) == nil)
    #expect(person.requests.map(\.mode) == [.check, .change, .confirm])
    person.enters("123456")
    #expect(try await code(longer) == nil)
    // A policy that got shorter leaves it.
    person.enters("123456")
    #expect(try await code() == nil)
  }

  @Test(.covers("CO-157")) func `attempts wait longer and longer, and after ten none counts`()
    async throws
  {
    try await create()
    var waits: [Duration] = []
    for number in 1...10 {
      person.enters("9999")
      // The right one is as early as a wrong one.
      let error = await #expect(throws: LockError.self) {
        try await authenticator().authenticate(for: policy)
      }
      if number < 3 {
        #expect(error?.code == .cancelled)
      } else if number < 10 {
        #expect(error?.code == .tooEarly)
        let wait = try #require(error?.retryAfter)
        waits.append(wait)
        clock.advance(by: wait - .milliseconds(1))
        person.enters("1234")
        #expect(try await code() == .tooEarly)
        #expect(person.requests.isEmpty)
        clock.advance(by: .milliseconds(1))
      } else {
        #expect(error?.code == .tooManyFailures)
      }
    }
    #expect(
      waits == [
        .seconds(5), .seconds(15), .seconds(60), .seconds(300), .seconds(900), .seconds(1800),
        .seconds(3600),
      ])
    clock.advance(by: .seconds(1_000_000))
    clock.restart()
    person.enters("1234")
    #expect(try await code() == .tooManyFailures)
    #expect(person.requests.isEmpty)
    // A login as the same user resets it.
    try await authenticator().reset()
    try await create("5678")
  }

  @Test(.covers("CO-157")) func `the right passcode forgets wrong ones`() async throws {
    try await create()
    for _ in 0..<20 {
      person.enters("9999", "9998", "1234")
      #expect(try await code() == nil)
      #expect(person.requests.map(\.attemptsLeft) == [10, 9, 8])
    }
  }

  @Test(.covers("CO-157")) func `a start of the device begins the wait again and does not end it`()
    async throws
  {
    try await create()
    person.enters("9999", "9999", "9999", "9999")
    #expect(try await code() == .tooEarly)
    clock.restart()
    #expect(try await code() == .tooEarly)
    clock.advance(by: .seconds(4))
    #expect(try await code() == .tooEarly)
    clock.advance(by: .seconds(1))
    person.enters("1234")
    #expect(try await code() == nil)
  }

  @Test(.covers("CO-157")) func `an attempt is on disk before it is checked`() async throws {
    try await create()
    let before = try stored()
    // A process that ends during the check, as far as the disk can tell: what it stores afterwards is lost.
    let dying = DyingStore(secrets, writes: 1)
    person.enters("1234")
    _ = try? await authenticator(dying).authenticate(for: policy)
    #expect(try secrets.read(PasscodeAuthenticator.name) != before)
    person.enters()
    #expect(try await code() == .cancelled)
    #expect(person.requests.first?.attemptsLeft == 9)
    // If it cannot be counted it is not checked.
    person.enters("1234")
    let error = await #expect(throws: LockError.self) {
      try await authenticator(DyingStore(secrets, writes: 0)).authenticate(for: policy)
    }
    #expect(error?.code == .storageFailed)
  }

  @Test(.covers("CO-157")) func `processes side by side have ten attempts together`() async throws {
    try await create()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<4 {
            let own = Person()
            own.enters("9999")
            let authenticator = PasscodeAuthenticator(
              secrets: secrets, prompt: own, cost: .init(rounds: 16, blockSize: 1)
            ) { [clock] in clock.now }
            _ = try? await authenticator.authenticate(for: policy)
            clock.advance(by: .seconds(7200))
          }
        }
      }
    }
    let bytes = try stored()
    let record = try #require(PasscodeRecord(bytes))
    #expect(record.failures == 10)
  }

  @Test(.covers("CO-157"))
  func `a damaged or unreadable passcode unlocks nothing and is not replaced`() async throws {
    for bytes in ["", "{}", #"{"version":2}"#, "[1]"] {
      try secrets.write(Array(bytes.utf8), for: PasscodeAuthenticator.name)
      person.enters("1234", "1234")
      #expect(try await code() == .storageFailed)
      #expect(try secrets.read(PasscodeAuthenticator.name) == Array(bytes.utf8))
      #expect(person.requests.isEmpty)
    }
  }

  @Test func `each change of a stored passcode is refused or asks for it`() async throws {
    try await create()
    let bytes = try stored()
    var generator = SeededGenerator(seed: 20)
    for _ in 0..<500 {
      var changed = bytes
      let offset = Int.random(in: changed.indices, using: &generator)
      changed[offset] = UInt8.random(in: 0x20..<0x7f, using: &generator)
      if let record = PasscodeRecord(changed) {
        #expect(record.length > 0 && record.cost.rounds <= 1 << 18)
      }
    }
  }
}

/// A clock of the device that a test moves.
final class BootClock: Sendable {
  private let state = Mutex((boot: 1, elapsed: Duration.seconds(100)))

  var now: BootTime { state.withLock { BootTime(boot: "boot \($0.boot)", elapsed: $0.elapsed) } }
  func advance(by duration: Duration) { state.withLock { $0.elapsed += duration } }
  func restart() { state.withLock { $0 = ($0.boot + 1, .seconds(10)) } }
}

/// A secret store that another one holds, which stores some changes and fails from then on.
private final class DyingStore: SecretStore {
  private let store: any SecretStore
  private let writes: Mutex<Int>

  init(_ store: some SecretStore, writes: Int) {
    self.store = store
    self.writes = Mutex(writes)
  }

  var protection: SecretProtection { store.protection }
  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? { try store.read(name) }
  func list() throws(SecretStoreError) -> [SecretName] { try store.list() }

  func update(
    _ name: SecretName, _ change: ([UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try take()
    return try store.update(name, change)
  }

  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    try take()
    try store.write(secret, for: name)
  }

  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
    try take()
    return try store.remove(name)
  }

  private func take() throws(SecretStoreError) {
    let isLeft = writes.withLock { writes in
      defer { writes -= 1 }
      return writes > 0
    }
    guard isLeft else { throw SecretStoreError(.inputOutput, "The disk is gone.") }
  }
}
