import Crypto
import Foundation
package import SalesforceSDKCommon
package import SmartStore

/// The work of a process that is going to be killed: a sequence of steps, each a function of the
/// seed and its number alone, so that another process can compute what the store must hold.
package struct CrashScript: Sendable {
  package let seed: UInt64

  package init(seed: UInt64) { self.seed = seed }

  /// What one step does, in one call that is acknowledged when it returns.
  package enum Action: Equatable, Sendable {
    /// Elements by key, each with the step's number.
    case upsert([Int])
    case delete([Int])
    /// Several of both in one transaction.
    case replace(delete: [Int], upsert: [Int])
    /// Other indexes for the soup whose rows hold their elements, or back.
    case alter
    case checkpoint
    /// Wraps the data key with the other of the two keys.
    case changeKey
    /// Seals every page again, wrapped with the other of the two keys.
    case reencrypt
    /// Makes a plaintext store of an encrypted one, or the other way round.
    case convert
    /// Moves the elements of the soup whose elements lie in files into its rows, or back.
    case alterFiles
    /// An upsert that need not survive a loss of power.
    case upsertNormally([Int])
    /// New elements, those of the second list after the indexes were built.
    case bulkLoad([Int], [Int])
    /// Other elements for the soup without full text: all are removed, and these inserted, several to
    /// a statement.
    case refill([Int])

    /// Whether it rewrites the store's files past SQLite.
    package var isMaintenance: Bool {
      switch self {
      case .changeKey, .reencrypt, .convert: true
      default: false
      }
    }

    /// Whether it survives a loss of power once it has returned.
    package var isDurable: Bool {
      if case .upsertNormally = self { false } else { true }
    }
  }

  /// The two soups that most steps write to: each element is in both, so that a transaction over
  /// rows and files is seen whole or not at all.
  package static let soup = "entries"
  package static let externalSoup = SoupSpec(
    name: "files", features: [SoupSpec.featureExternalStorage])
  /// A soup without full text, which one step fills.
  package static let plainSoup = "rows"
  /// The index specs before and after an alter.
  package static let indexes = [
    [
      SoupIndex(path: "key", type: .integer), SoupIndex(path: "step", type: .integer),
      SoupIndex(path: "text", type: .fullText), SoupIndex(path: "key2", type: .json1),
    ],
    [
      SoupIndex(path: "text", type: .fullText), SoupIndex(path: "key", type: .integer),
      SoupIndex(path: "key2", type: .string),
    ],
  ]
  package static let externalIndexes = [
    SoupIndex(path: "key", type: .integer), SoupIndex(path: "text", type: .fullText),
  ]
  package static let plainIndexes = [
    SoupIndex(path: "key", type: .integer), SoupIndex(path: "key2", type: .string),
  ]
  /// A short session with every kind of work on files. Each step leaves something that no later one
  /// takes away.
  package static let fileSteps: [Action] = [
    .upsert([0, 1, 2, 3]), .replace(delete: [0], upsert: [1, 10]), .alterFiles, .upsert([2, 11]),
    .alterFiles, .changeKey, .upsert([3, 12]), .reencrypt, .delete([12]), .convert,
    .upsertNormally([4, 13]), .alter, .convert, .bulkLoad([1001, 1002], [1003]), .checkpoint,
    .refill(Array(0..<20)), .upsert([5, 14]),
  ]
  private static let keys = 40
  /// Where the keys of elements from bulk loads begin, which the first soup alone has.
  package static let bulkKeys = 1000

  package func action(_ step: Int) -> Action {
    var random = StepRandom(seed: seed, step: step)
    switch random.next(100) {
    case 0..<2: return .reencrypt
    case 2..<6: return .changeKey
    case 6..<8: return .checkpoint
    case 8..<10: return .alter
    case 10..<12: return .alterFiles
    case 12..<14: return .convert
    case 14..<17:
      let first = Self.bulkKeys + step * 10
      let count = random.next(6)
      return .bulkLoad(
        Array(first..<first + 4), random.next(2) == 0 ? [] : Array(first + 4..<first + 4 + count))
    case 17..<21: return .refill(Array(0..<12 + random.next(40)))
    case 21..<24: return .upsertNormally(random.keys(upTo: 10, of: Self.keys))
    case 24..<36: return .delete(random.keys(upTo: 6, of: Self.keys))
    case 36..<50:
      return .replace(
        delete: random.keys(upTo: 5, of: Self.keys), upsert: random.keys(upTo: 8, of: Self.keys))
    default: return .upsert(random.keys(upTo: 10, of: Self.keys))
    }
  }

  /// An element as a step writes it. Some are longer than a page.
  package func element(_ key: Int, step: Int) -> JSONValue {
    var random = StepRandom(seed: seed, step: step &* 1000 &+ key)
    let words = (0..<random.next(random.next(8) == 0 ? 900 : 40)).map { "word\($0 % 13)" }
    return [
      "key": .integer(Int64(key)), "key2": .string("k\(key)"), "step": .integer(Int64(step)),
      "text": .string(words.joined(separator: " ")),
    ]
  }

  /// How the store is sealed: with one of two keys, or not at all.
  package static func encryption(_ number: Int) -> StoreEncryption {
    number == plaintext ? .plaintext : .encrypted(provider(number))
  }

  /// The number in the place of a key's for a store that is not sealed.
  package static let plaintext = 2

  /// The two keys between which the steps change.
  package static func provider(_ number: Int) -> FixedKeyProvider {
    FixedKeyProvider(SymmetricKey(data: Data(repeating: UInt8(number + 1), count: 32)))
  }
}

/// What the store must hold after some steps.
package struct CrashModel: Equatable, Sendable {
  /// The step that wrote each element.
  package var elements: [Int: Int] = [:]
  /// The same of the soup without full text.
  package var plainElements: [Int: Int] = [:]
  /// Which of the two lists of index specs the first soup has.
  package var indexes = 0
  /// Which of the two keys opens the store, or ``CrashScript/plaintext``.
  package var key = 0

  package init(key: Int = 0) { self.key = key }

  /// The state after one more step.
  package func after(_ action: CrashScript.Action, step: Int) -> CrashModel {
    var model = self
    switch action {
    case .upsert(let keys), .upsertNormally(let keys):
      for key in keys { model.elements[key] = step }
    case .delete(let keys): for key in keys { model.elements[key] = nil }
    case .replace(let deleted, let upserted):
      for key in deleted { model.elements[key] = nil }
      for key in upserted { model.elements[key] = step }
    case .bulkLoad(let first, let second):
      for key in first + second { model.elements[key] = step }
    case .refill(let keys):
      model.plainElements = Dictionary(uniqueKeysWithValues: keys.map { ($0, step) })
    case .checkpoint, .alterFiles: break
    case .alter: model.indexes = 1 - model.indexes
    case .changeKey, .reencrypt:
      if model.key != CrashScript.plaintext { model.key = 1 - model.key }
    case .convert: model.key = model.key == CrashScript.plaintext ? 0 : CrashScript.plaintext
    }
    return model
  }
}

/// Random numbers of one step.
private struct StepRandom {
  private var state: UInt64

  init(seed: UInt64, step: Int) {
    state = seed &* 0x9e37_79b9_7f4a_7c15 &+ UInt64(step) &* 0xd1b5_4a32_d192_ed03
  }

  mutating func next(_ bound: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return Int((value ^ (value >> 31)) % UInt64(bound))
  }

  /// Some different keys in ascending order.
  mutating func keys(upTo count: Int, of all: Int) -> [Int] {
    let count = 1 + next(count)
    return Set((0..<count).map { _ in next(all) }).sorted()
  }
}
