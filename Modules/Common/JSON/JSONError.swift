/// An error while reading, converting or writing JSON.
///
/// No message contains text of the document, which may be a record or a token. ``byteOffset`` and
/// ``path`` give the position.
public struct JSONError: FieldforceError {
  /// The kind of failure. Calling again with the same input does not help.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case malformed, notUTF8, tooDeep, tooLarge, typeMismatch, missing, notRepresentable, rejected
    }
    private let kind: Kind
    /// The text breaks the grammar of RFC 8259, or ends too early. Correct it at its source.
    public static let malformed = Code(kind: .malformed)
    /// The text holds bytes that are not UTF-8. Correct it at its source.
    public static let notUTF8 = Code(kind: .notUTF8)
    /// The text or value nests deeper than ``JSONLimits/maxDepth``.
    public static let tooDeep = Code(kind: .tooDeep)
    /// The text is longer than ``JSONLimits/maxBytes``.
    public static let tooLarge = Code(kind: .tooLarge)
    /// A value is of another kind than the caller requested, or a number does not fit the type.
    public static let typeMismatch = Code(kind: .typeMismatch)
    /// A requested member or element is absent, or null where null is not allowed.
    public static let missing = Code(kind: .missing)
    /// A value has no JSON form: a number that is not finite, or a key that is not a string.
    public static let notRepresentable = Code(kind: .notRepresentable)
    /// The `init(from:)` or `encode(to:)` of a type threw an error; see the cause.
    public static let rejected = Code(kind: .rejected)

    /// The name of the code, such as `malformed`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure and the remedy, without any text of the document.
  public let message: String
  /// The position in the text, in bytes from 0; nil if no text was being read.
  public let byteOffset: Int?
  /// The keys and positions that lead to the value, such as `records.3.Name`; nil outside of
  /// conversions.
  public let path: String?
  /// The error of a type's own conversion code.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  /// Creates an error; the compiler fills in the last two arguments.
  public init(
    _ code: Code, _ message: String, byteOffset: Int? = nil, path: String? = nil,
    cause: (any Error)? = nil, fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.byteOffset = byteOffset
    self.path = path
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// The message with its position.
  public var description: String {
    var text = message
    if let path, !path.isEmpty { text += " (at \(path))" }
    if let byteOffset { text += " (byte \(byteOffset))" }
    return text
  }
}

/// The limits of a JSON text, beyond which reading throws an error.
public struct JSONLimits: Sendable, Hashable {
  /// The deepest nesting that ``maxDepth`` may allow: values are copied, compared and released
  /// level by level on the stack, and a thread's stack is small.
  public static let greatestDepth = 2_000
  /// The longest text that ``maxBytes`` may allow, 256 MiB less one byte: the index keeps
  /// lengths in 28 bits.
  public static let greatestSize = (1 << 28) - 1

  /// The maximum nesting of arrays and objects. Default: 512.
  public let maxDepth: Int
  /// The maximum length of a text, in bytes. Default: ``greatestSize``.
  public let maxBytes: Int

  /// Creates limits. Values outside of `1...greatestDepth` and `1...greatestSize` are a programming
  /// error.
  public init(maxDepth: Int = 512, maxBytes: Int = JSONLimits.greatestSize) {
    precondition(
      (1...JSONLimits.greatestDepth).contains(maxDepth), "maxDepth \(maxDepth) is out of range")
    precondition(
      (1...JSONLimits.greatestSize).contains(maxBytes), "maxBytes \(maxBytes) is out of range")
    self.maxDepth = maxDepth
    self.maxBytes = maxBytes
  }

  /// 512 levels, 256 MiB.
  public static let `default` = JSONLimits()
}
