import SalesforceSDKCommon
import Synchronization
@testable import MobileSyncTests

/// Every value that was written during a story, and what may become of it.
///
/// Each value has a number of its own, which the forms that the server may give it keep.
final class ConvergenceLedger: Sendable {
  private struct State {
    var written = 0
    /// Values that a user replaced or deleted who saw them or was shown a conflict, or that the rule of a
    /// merge mode allows to be replaced.
    var replaceable: Set<Int> = []
    var tags = 0
    /// The number of records of each device that equal each other, by their tag.
    var equals: [String: Int] = [:]
    /// The tags of records that may exist twice by a rule.
    var repeatable: Set<String> = []
  }

  private let state = Mutex(State())

  // MARK: Values

  /// A value that was never written before.
  func newNumber() -> Int {
    state.withLock { state in
      state.written += 1
      return state.written
    }
  }

  /// The forms in which a user writes a number.
  static func value(_ number: Int, in field: String, sloppily isSloppy: Bool) -> JSONValue {
    switch field {
    case "Phone": .string("555" + String(String(10_000_000 + number).dropFirst()))
    case "Amount__c": isSloppy ? .double(Double(number) + 0.0042) : .integer(Int64(number))
    default: .string(isSloppy ? " v\(number)  " : "v\(number)")
    }
  }

  /// A value in the form that the server gives it.
  static func normalized(_ value: JSONValue, in field: String) -> JSONValue {
    guard let number = number(of: value) else { return value }
    switch field {
    case "Phone":
      let digits = String(10_000_000 + number).dropFirst()
      return .string("(555) \(digits.prefix(3))-\(digits.suffix(4))")
    case "Amount__c": return .integer(Int64(number))
    default: return .string("v\(number)")
    }
  }

  /// A value of a bulk job, which comes as text, in the type of the field.
  static func typed(_ value: JSONValue, in field: String) -> JSONValue {
    guard field == "Amount__c", let number = value.string.flatMap(Double.init) else { return value }
    return Int64(exactly: number).map { .integer($0) } ?? .double(number)
  }

  /// A value in the place of one of a new record, which is not another form of it.
  static func replaced(_ value: JSONValue, in field: String) -> JSONValue {
    guard let number = number(of: value) else { return value }
    return field == "Amount__c" ? .double(Double(number) + 0.3) : .string("no. \(number)")
  }

  /// The number that a value stands for; nil if it is none of the ledger's.
  static func number(of value: JSONValue?) -> Int? {
    if let text = value?.string {
      let digits = text.filter(\.isNumber)
      return Int(digits.hasPrefix("555") && digits.count == 10 ? digits.dropFirst(3) : digits[...])
    }
    return value?.double.map { Int($0.rounded()) }
  }

  /// The numbers of a record's values.
  static func numbers(in record: JSONObject?) -> Set<Int> {
    Set(ConvergenceFields.written.compactMap { number(of: record?[$0]) })
  }

  /// Allows values to be replaced.
  func allowReplacing(_ numbers: some Sequence<Int>) {
    state.withLock { $0.replaceable.formUnion(numbers) }
  }

  /// The values that are neither among `kept` nor allowed to be replaced.
  func lost(keeping kept: Set<Int>) -> [Int] {
    state.withLock { state in
      state.written == 0
        ? []
        : (1...state.written).filter { !kept.contains($0) && !state.replaceable.contains($0) }
    }
  }

  // MARK: Records

  /// The tag of a new record.
  func newTag() -> String {
    state.withLock { state in
      state.tags += 1
      return "t\(state.tags)"
    }
  }

  /// The tag of the records of a device that equal each other, of which there is one more.
  func equalTag(device: Int) -> String {
    let tag = "equal \(device)"
    state.withLock { $0.equals[tag, default: 0] += 1 }
    return tag
  }

  static func isEqual(_ record: JSONObject) -> Bool {
    record[ConvergenceFields.tag]?.string?.hasPrefix("equal") == true
  }

  /// Allows a record to exist twice.
  func allowRepeating(_ record: JSONObject) {
    guard let tag = record[ConvergenceFields.tag]?.string else { return }
    _ = state.withLock { $0.repeatable.insert(tag) }
  }

  /// What is wrong with the number of records; nil if nothing is.
  func repetition(in records: [JSONObject]) -> String? {
    let (repeatable, equals) = state.withLock { ($0.repeatable, $0.equals) }
    let counts = Dictionary(
      records.compactMap { $0[ConvergenceFields.tag]?.string }.map { ($0, 1) },
      uniquingKeysWith: +
    ).filter { !repeatable.contains($0.key) }
    let repeated = counts.filter { $0.value > 1 && equals[$0.key] == nil }.keys.sorted()
    if !repeated.isEmpty { return "records exist twice: \(repeated)" }
    for (tag, expected) in equals where !repeatable.contains(tag) {
      let count = counts[tag] ?? 0
      if count != expected { return "there are \(count) records '\(tag)' instead of \(expected)" }
    }
    return nil
  }
}
