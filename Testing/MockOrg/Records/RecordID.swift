import SalesforceSDKCommon
import Synchronization

/// The form of record ids: 15 characters whose case matters, or 18 with a checksum of the case.
enum RecordID {
  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  /// The 18-character form of an id, or nil if `text` is no id.
  ///
  /// The last three characters of an 18-character id repair the case of the first fifteen, so an id
  /// that went through a system without case is still the same id.
  static func normalized(_ text: some StringProtocol) -> String? {
    SalesforceId(String(text))?.text
  }

  /// The id of a prefix and a running number.
  static func make(prefix: String, number: Int) -> String {
    String(unsafeUninitializedCapacity: 18) { id in
      var position = 0
      for byte in prefix.utf8.prefix(3) {
        id[position] = byte
        position += 1
      }
      while position < 3 {
        id[position] = digits[0]
        position += 1
      }
      // Between prefix and number stand the three characters of the instance.
      for byte in "Ff0".utf8 {
        id[position] = byte
        position += 1
      }
      let end = position
      var rest = number
      for offset in 0..<9 {
        id[end + 8 - offset] = digits[rest % 62]
        rest /= 62
      }
      position += 9
      for group in 0..<3 {
        id[position] = SalesforceId.checkLetter(ofGroup: group, in: UnsafeBufferPointer(id))
        position += 1
      }
      return position
    }
  }

  /// The running number in an id that ``make(prefix:number:)`` made.
  static func number(of id: String) -> Int? {
    let bytes = Array(id.utf8)
    guard bytes.count >= 15 else { return nil }
    var number = 0
    for byte in bytes[6..<15] {
      guard let digit = digits.firstIndex(of: byte) else { return nil }
      number = number * 62 + digit
    }
    return number
  }
}

/// Gives every object's records their running numbers.
final class IDSequence: Sendable {
  private let last = Mutex<[String: Int]>([:])

  /// A new id of an object.
  func next(prefix: String) -> String {
    RecordID.make(
      prefix: prefix,
      number: last.withLock { last in
        last[prefix, default: 0] += 1
        return last[prefix] ?? 1
      })
  }

  /// The last number given out, by prefix.
  var numbers: [String: Int] {
    get { last.withLock { $0 } }
    set { last.withLock { $0 = newValue } }
  }

  /// Never again gives out an id up to and including `id`.
  func skip(to id: String) {
    guard let number = RecordID.number(of: id) else { return }
    last.withLock { last in
      let prefix = String(id.prefix(3))
      last[prefix] = max(last[prefix] ?? 0, number)
    }
  }
}
