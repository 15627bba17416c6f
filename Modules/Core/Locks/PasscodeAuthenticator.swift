public import SalesforceSDKCommon

/// A request for a passcode from the user.
public struct PasscodeRequest: Sendable, Equatable {
  /// The modes of a passcode's page.
  public enum Mode: Sendable, Equatable {
    /// A new passcode.
    case create
    /// The new passcode again.
    case confirm
    /// The passcode.
    case check
    /// A longer new passcode, after the former one was entered correctly.
    case change
  }

  /// The passcode to request.
  public let mode: Mode
  /// The number of digits.
  public let length: Int
  /// The number of wrong attempts in a row; for a new passcode, of attempts that did not match or
  /// had the wrong form.
  public let failures: Int
  /// For `check`: the number of remaining attempts.
  public let attemptsLeft: Int?
  /// Whether an earlier response to the same request was not accepted: it was wrong, had another form than `length`
  /// digits, or its confirmation differed. False for `confirm`, which follows each new passcode.
  public let isRepeated: Bool
}

/// A user interface that requests a passcode.
public protocol PasscodePrompt: Sendable {
  /// Returns the passcode that the user enters; nil if the user cancels.
  ///
  /// A source that has one passcode only, such as a file, throws ``LockError`` `refused` if
  /// ``PasscodeRequest/isRepeated`` is set. The authentication then ends with that error.
  func passcode(_ request: PasscodeRequest) async throws -> String?
}

/// A passcode of the app (CO-157), for devices whose system has no authentication.
///
/// It has as many digits as the policy requires, otherwise 4. It is stored as a secret, derived by
/// scrypt. Attempts are counted on disk before they are checked. From the third wrong attempt in a
/// row on, the user has to wait before the next one, from 5 seconds to an hour, on a clock that
/// users cannot set. After 10 wrong attempts, no further attempt is accepted: the user has to log
/// in again, which ``ScreenLockManager`` reports, and can then create a new passcode. Keys of data
/// do not depend on the passcode.
///
/// A passcode of another form than the stored one is no attempt. An authentication ends with `refused` after 10
/// responses of a wrong form, or after 10 new passcodes of a wrong form or without a matching confirmation.
public struct PasscodeAuthenticator: DeviceAuthenticator {
  private let secrets: any SecretStore
  private let prompt: any PasscodePrompt
  private let cost: PasscodeRecord.Cost
  private let now: @Sendable () -> BootTime

  static let name = SecretName(service: "com.salesforce.security.passcode")
  /// The number of digits if no org requires more.
  public static let defaultLength = 4
  /// The number of responses of a wrong form after which an authentication ends: a prompt may return one for ever.
  private static let maxMalformed = 10

  /// Creates an authenticator. Reads nothing yet.
  public init(secrets: some SecretStore, prompt: some PasscodePrompt) {
    self.init(secrets: secrets, prompt: prompt, cost: PasscodeRecord.Cost()) { .now }
  }

  init(
    secrets: some SecretStore, prompt: some PasscodePrompt, cost: PasscodeRecord.Cost,
    now: @escaping @Sendable () -> BootTime
  ) {
    self.secrets = secrets
    self.prompt = prompt
    self.cost = cost
    self.now = now
  }

  /// True.
  public var isAvailable: Bool { true }

  /// Whether there is a passcode.
  ///
  /// - Throws: ``LockError`` `storageFailed`.
  public var hasPasscode: Bool { get throws(LockError) { try record() != nil } }

  public func authenticate(for policy: LockPolicy) async throws {
    let length = policy.passcodeLength > 0 ? policy.passcodeLength : Self.defaultLength
    guard let record = try record() else { return try await create(.create, length, over: nil) }
    let checked = try await check(record)
    if checked.length < length { try await create(.change, length, over: checked) }
  }

  /// Lets the user choose another passcode, after a check of the current one.
  ///
  /// - Throws: As ``authenticate(for:)``.
  public func change(for policy: LockPolicy) async throws {
    let length = policy.passcodeLength > 0 ? policy.passcodeLength : Self.defaultLength
    let checked = try await record().asyncMap { try await check($0) }
    try await create(checked == nil ? .create : .change, length, over: checked)
  }

  public func reset() async throws(LockError) {
    do {
      try secrets.remove(Self.name)
    } catch {
      throw Self.storage(error)
    }
  }

  /// Requests the passcode until it is right, the person ends that, or the next attempt has to wait.
  private func check(_ first: PasscodeRecord) async throws -> PasscodeRecord {
    var record = first
    var malformed = 0
    var isRepeated = false
    while malformed < Self.maxMalformed {
      try checkWait(record)
      let left = PasscodeRecord.maxFailures - record.failures
      let request = PasscodeRequest(
        mode: .check, length: record.length, failures: record.failures, attemptsLeft: left,
        isRepeated: isRepeated)
      guard let passcode = try await prompt.passcode(request) else { throw Self.cancelled }
      isRepeated = true
      // No passcode has another form, so this is no attempt.
      guard Self.isPasscode(passcode, record.length) else {
        malformed += 1
        continue
      }
      let counted = try count()
      if try await matches(counted, passcode) { return try forgetFailures(counted) }
      record = counted
    }
    throw Self.malformed(record.length)
  }

  /// Counts an attempt on disk, unless it comes too early.
  private func count() throws -> PasscodeRecord {
    var counted: PasscodeRecord?
    var failure: LockError?
    try update { record in
      do throws(LockError) {
        try checkWait(record)
      } catch {
        failure = error
        return false
      }
      record.countAttempt(at: now())
      counted = record
      return true
    }
    if let failure { throw failure }
    guard let counted else { throw Self.gone }
    return counted
  }

  private func forgetFailures(_ checked: PasscodeRecord) throws -> PasscodeRecord {
    var result = checked
    result.forgetFailures()
    try update { record in
      guard record.isSamePasscode(as: checked) else { return false }
      record.forgetFailures()
      return true
    }
    return result
  }

  private func checkWait(_ record: PasscodeRecord) throws(LockError) {
    guard let wait = record.wait(at: now()) else {
      throw LockError(
        .tooManyFailures,
        "The passcode was wrong \(PasscodeRecord.maxFailures) times. Log in again as the same user, then choose another one."
      )
    }
    guard wait == .zero else {
      throw LockError(
        .tooEarly,
        "The passcode was wrong \(record.failures) times. Wait \(Self.seconds(wait)) seconds before the next attempt.",
        retryAfter: wait)
    }
  }

  /// Requests a new passcode, twice, and stores it.
  ///
  /// - Parameter former: The former passcode; nil if there is none.
  private func create(
    _ mode: PasscodeRequest.Mode, _ length: Int, over former: PasscodeRecord?
  ) async throws {
    var failures = 0
    while failures < Self.maxMalformed {
      func entered(_ mode: PasscodeRequest.Mode) async throws -> String {
        let request = PasscodeRequest(
          mode: mode, length: length, failures: failures, attemptsLeft: nil,
          isRepeated: failures > 0 && mode != .confirm)
        guard let passcode = try await prompt.passcode(request) else { throw Self.cancelled }
        return passcode
      }
      let passcode = try await entered(mode)
      guard Self.isPasscode(passcode, length) else {
        failures += 1
        continue
      }
      guard try await entered(.confirm) == passcode else {
        failures += 1
        continue
      }
      let record = try await stretched(passcode)
      return try store(record, over: former)
    }
    throw Self.malformed(length)
  }

  /// Stores a new passcode, unless another process has stored one since.
  private func store(_ record: PasscodeRecord, over former: PasscodeRecord?) throws {
    var isStored = false
    do {
      try secrets.update(Self.name) { bytes in
        let present = bytes.flatMap { PasscodeRecord($0) }
        guard
          bytes == nil && former == nil
            || present.map({ former?.isSamePasscode(as: $0) == true }) == true
        else { return bytes }
        isStored = true
        return record.bytes
      }
    } catch {
      throw Self.storage(error)
    }
    guard isStored else {
      throw LockError(.refused, "Another process has stored a passcode. Enter that one.")
    }
  }

  // MARK: Storage

  private func record() throws(LockError) -> PasscodeRecord? {
    let bytes: [UInt8]?
    do {
      bytes = try secrets.read(Self.name)
    } catch {
      throw Self.storage(error)
    }
    guard let bytes else { return nil }
    guard var record = PasscodeRecord(bytes) else { throw Self.damaged }
    // The clock of an earlier start of the device cannot be read, so the wait begins again.
    if record.restartWait(at: now()) { try update { $0.restartWait(at: now()) } }
    return record
  }

  private func update(_ change: (inout PasscodeRecord) -> Bool) throws(LockError) {
    var isDamaged = false
    do {
      try secrets.update(Self.name) { bytes in
        guard let bytes else { return nil }
        guard var record = PasscodeRecord(bytes) else {
          isDamaged = true
          return bytes
        }
        return change(&record) ? record.bytes : bytes
      }
    } catch {
      throw Self.storage(error)
    }
    if isDamaged { throw Self.damaged }
  }

  @concurrent
  private func matches(_ record: PasscodeRecord, _ passcode: String) async throws -> Bool {
    do {
      return try record.matches(passcode)
    } catch {
      throw LockError(
        .storageFailed, "There is not enough memory to check the passcode. Try again.", cause: error
      )
    }
  }

  @concurrent
  private func stretched(_ passcode: String) async throws -> PasscodeRecord {
    do {
      return try PasscodeRecord(passcode, cost: cost)
    } catch {
      throw LockError(
        .storageFailed, "There is not enough memory to store the passcode. Try again.", cause: error
      )
    }
  }

  private static func isPasscode(_ text: String, _ length: Int) -> Bool {
    text.utf8.count == length && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  private static func seconds(_ wait: Duration) -> Int64 { wait.components.seconds + 1 }

  // MARK: Errors

  private static var cancelled: LockError {
    LockError(.cancelled, "No passcode was entered. The app stays locked.")
  }
  private static func malformed(_ length: Int) -> LockError {
    LockError(
      .refused,
      "No passcode of \(length) digits was entered in \(maxMalformed) requests. Authenticate again."
    )
  }
  private static var gone: LockError {
    LockError(.refused, "The passcode was removed by another process. Authenticate again.")
  }
  private static var damaged: LockError {
    LockError(
      .storageFailed,
      "The stored passcode is damaged. Restore the secret store from a backup, or log all users out."
    )
  }
  private static func storage(_ error: SecretStoreError) -> LockError {
    LockError(.storageFailed, "The passcode cannot be read or stored: \(error)", cause: error)
  }
}

extension Optional {
  fileprivate func asyncMap<Result>(_ body: (Wrapped) async throws -> Result) async rethrows
    -> Result?
  {
    guard let self else { return nil }
    return try await body(self)
  }
}
