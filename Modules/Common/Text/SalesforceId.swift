/// The id of a record, an org or a user, in its 15 and 18 character forms (CA-24).
///
/// The form of 15 characters is case-sensitive. The form of 18 encodes the case in its last three
/// characters, so it survives systems that ignore case. Two ids are equal if they identify the same
/// record, in any form and, for 18 characters, in any case.
public struct SalesforceId: Sendable, Hashable, CustomStringConvertible {
  /// The form of 18 characters.
  public let text: String

  /// Creates an id from either form; nil for a text of another length, with characters other than
  /// ASCII letters and digits, or with invalid check characters.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.allSatisfy(Self.isAlphanumeric) else { return nil }
    switch bytes.count {
    case 15:
      self.text = text + Self.check(bytes)
    case 18:
      guard let original = Self.restored(bytes) else { return nil }
      self.text = String(decoding: original, as: UTF8.self) + Self.check(original)
    default:
      return nil
    }
  }

  /// The form of 15 characters.
  public var shortText: String { String(text.prefix(15)) }

  /// The first three characters, which identify the object: `001` for an account.
  public var keyPrefix: String { String(text.prefix(3)) }

  /// The form of 18 characters.
  public var description: String { text }

  /// Returns the form of 18 characters of an id in either form; nil for anything else.
  public static func longForm(of text: String) -> String? {
    guard text.utf8.allSatisfy(isAlphanumeric) else { return nil }
    switch text.utf8.count {
    case 15: return text + check(Array(text.utf8))
    case 18: return text
    default: return nil
    }
  }

  /// Whether both texts identify the same record: ids in either form, other texts (such as `me`)
  /// without regard to case (CO-77).
  public static func areSame(_ left: String, _ right: String) -> Bool {
    canonical(left) == canonical(right)
  }

  /// Returns a key for dictionaries: two texts have the same canonical text exactly if they
  /// identify the same record.
  public static func canonical(_ text: String) -> String {
    (longForm(of: text) ?? text).lowercased()
  }

  private static let checkLetters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)

  /// Three check characters, each of which has a bit for each of five that is upper case.
  private static func check(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBufferPointer { bytes in
      String(decoding: (0..<3).map { checkLetter(ofGroup: $0, in: bytes) }, as: UTF8.self)
    }
  }

  /// The check character for the first, second or third five of an id's 15 characters.
  package static func checkLetter(
    ofGroup group: Int, in bytes: UnsafeBufferPointer<UInt8>
  ) -> UInt8 {
    var bits = 0
    for position in 0..<5 where (0x41...0x5a).contains(bytes[group * 5 + position]) {
      bits |= 1 << position
    }
    return checkLetters[bits]
  }

  /// The first 15 characters with the case that the last three tell.
  private static func restored(_ bytes: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    for group in 0..<3 {
      let letter = upper(bytes[15 + group])
      guard let bits = checkLetters.firstIndex(of: letter) else { return nil }
      for position in 0..<5 {
        let byte = bytes[group * 5 + position]
        let isUpper = bits >> position & 1 == 1
        if isUpper, !isLetter(byte) { return nil }
        result.append(isLetter(byte) ? (isUpper ? upper(byte) : byte | 0x20) : byte)
      }
    }
    return result
  }

  private static func upper(_ byte: UInt8) -> UInt8 { isLetter(byte) ? byte & 0xdf : byte }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isLetter(byte) || (0x30...0x39).contains(byte)
  }
}
