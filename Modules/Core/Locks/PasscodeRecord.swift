import CryptoExtras
import Foundation
import SalesforceSDKCommon

/// A passcode as it is stored: stretched by scrypt with a random salt, with the number of wrong attempts since the last right one.
///
/// A passcode of a few digits can be guessed by a process that can read the secret: what bounds the guesses is the count, which a process
/// that can write the secret can set back.
struct PasscodeRecord: Equatable {
  /// The parameters of scrypt.
  struct Cost: Equatable {
    var rounds = 1 << 15
    var blockSize = 8
    var parallelism = 1
  }

  /// After the number of wrong attempts that is the position in the list, the next one waits this long.
  static let delays: [Duration] = [
    .zero, .zero, .zero, .seconds(5), .seconds(15), .seconds(60), .seconds(300), .seconds(900),
    .seconds(1800), .seconds(3600),
  ]
  /// The number of wrong attempts in a row after which no passcode counts.
  static var maxFailures: Int { delays.count }

  let cost: Cost
  private let salt: [UInt8]
  private let hash: [UInt8]
  /// The number of its digits.
  let length: Int
  /// Wrong attempts in a row; one that is in flight counts.
  private(set) var failures = 0
  /// The attempt that was counted last.
  private var lastAttempt: BootTime?

  /// Stretches a new passcode.
  init(_ passcode: String, cost: Cost) throws {
    self.cost = cost
    salt = RandomBytes.make(32)
    length = passcode.utf8.count
    hash = try Self.stretch(passcode, salt, cost)
  }

  /// The time until the next attempt counts; nil if none is left.
  ///
  /// A start of the device begins the wait again: the clock before it cannot be read.
  func wait(at now: BootTime) -> Duration? {
    guard failures < Self.maxFailures else { return nil }
    let delay = Self.delays[failures]
    guard delay > .zero, let lastAttempt else { return .zero }
    let passed = now.since(lastAttempt) ?? .zero
    return max(delay - max(passed, .zero), .zero)
  }

  /// Counts an attempt before it is checked: a process that ends in between has used it up.
  mutating func countAttempt(at now: BootTime) {
    failures += 1
    lastAttempt = now
  }

  /// Begins a wait again that another start of the device interrupted.
  ///
  /// - Returns: Whether that changed anything.
  mutating func restartWait(at now: BootTime) -> Bool {
    guard let last = lastAttempt, last.boot != now.boot else { return false }
    lastAttempt = now
    return true
  }

  mutating func forgetFailures() {
    failures = 0
    lastAttempt = nil
  }

  /// Whether it is this passcode; takes as long for any.
  func matches(_ passcode: String) throws -> Bool {
    let other = try Self.stretch(passcode, salt, cost)
    return zip(hash, other).reduce(hash.count ^ other.count) { $0 | Int($1.0 ^ $1.1) } == 0
  }

  /// Whether another record has the same passcode, whatever its counts.
  func isSamePasscode(as other: PasscodeRecord) -> Bool { salt == other.salt && hash == other.hash }

  private static func stretch(_ passcode: String, _ salt: [UInt8], _ cost: Cost) throws -> [UInt8] {
    try KDF.Scrypt.deriveKey(
      from: Array(passcode.utf8), salt: salt, outputByteCount: 32, rounds: cost.rounds,
      blockSize: cost.blockSize, parallelism: cost.parallelism
    ).withUnsafeBytes { Array($0) }
  }

  // MARK: The stored form

  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONSlice(parsing: bytes), json["version"]?.int64 == 1,
      let rounds = json["n"]?.int64.map({ Int(clamping: $0) }),
      (1 << 4...1 << 18).contains(rounds), rounds & (rounds - 1) == 0,
      let blockSize = json["r"]?.int64.map({ Int(clamping: $0) }), (1...16).contains(blockSize),
      let parallelism = json["p"]?.int64.map({ Int(clamping: $0) }), (1...4).contains(parallelism),
      let salt = json["salt"]?.string.flatMap({ Hex.decode($0) }), salt.count == 32,
      let hash = json["hash"]?.string.flatMap({ Hex.decode($0) }), hash.count == 32,
      let length = json["length"]?.int64.map({ Int(clamping: $0) }), length > 0,
      let failures = json["failures"]?.int64.map({ Int(clamping: $0) }), failures >= 0
    else { return nil }
    cost = Cost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
    self.salt = salt
    self.hash = hash
    self.length = length
    self.failures = failures
    if let boot = json["boot"]?.string, let elapsed = json["milliseconds"]?.int64 {
      lastAttempt = BootTime(boot: boot, elapsed: .milliseconds(elapsed))
    }
  }

  var bytes: [UInt8] {
    var object: JSONObject = [
      "version": 1, "n": .integer(Int64(cost.rounds)), "r": .integer(Int64(cost.blockSize)),
      "p": .integer(Int64(cost.parallelism)), "salt": .string(Hex.encode(salt)),
      "hash": .string(Hex.encode(hash)), "length": .integer(Int64(length)),
      "failures": .integer(Int64(failures)),
    ]
    if let lastAttempt {
      object["boot"] = .string(lastAttempt.boot)
      object["milliseconds"] = .integer(Int64(lastAttempt.elapsed / .milliseconds(1)))
    }
    return Array(JSONValue.object(object).text.utf8)
  }
}
