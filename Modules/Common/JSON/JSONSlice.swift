/// A value inside a validated JSON text: read lazily, never copied.
///
/// Creating a slice from a text validates the whole text against RFC 8259 in a single pass:
/// structure, UTF-8, escapes, numbers. After that, values are parsed only when the caller reads
/// them. A slice of a slice shares the text and keeps all of it in memory; copying a slice is
/// cheap.
///
/// Where the standard leaves a choice:
/// - A duplicate key in an object is accepted. Look-ups return the last value; ``members`` and
///   ``count`` include both.
/// - An escaped surrogate without its other half (`"\ud800"`) is accepted and kept as written;
///   ``string`` shows U+FFFD in its place.
/// - A number of any size is accepted and kept as written; ``int64`` and ``double`` are nil if they
///   cannot represent it.
/// - A byte order mark, and any encoding but UTF-8, is refused.
public struct JSONSlice: Sendable, Equatable, CustomStringConvertible {
  let document: JSONDocument
  /// The index of this value's word in the document's index; `whole` if its text is not indexed yet.
  private let word: Int

  private static let whole = -1

  /// The word of this value in the document's index.
  @inline(__always)
  var index: Int { word >= 0 ? word : document.root() }

  @inline(__always)
  init(_ document: JSONDocument, at index: Int) {
    self.document = document
    self.word = index
  }

  /// A text that is known to have been checked before, and unchanged since: it is indexed on
  /// first access. If it is not JSON nevertheless, it is null.
  ///
  /// - Parameter text: Without blanks around it.
  package init(trusting text: [UInt8]) {
    self.document = JSONDocument(trusting: text)
    self.word = Self.whole
  }

  /// Checks and indexes a text. The array is kept, not copied.
  ///
  /// - Throws: ``JSONError`` `malformed`, `notUTF8`, `tooDeep`, `tooLarge`, with the offset of the
  ///   first invalid byte.
  public init(parsing text: [UInt8], limits: JSONLimits = .default) throws(JSONError) {
    self.init(try JSONDocument(text, limits: limits), at: 0)
  }

  /// Checks and indexes a text that is not an array: its bytes are copied first.
  public init(
    parsing text: some Sequence<UInt8>, limits: JSONLimits = .default
  ) throws(JSONError) {
    self.init(try JSONDocument(Array(text), limits: limits), at: 0)
  }

  /// Checks and indexes a string.
  public init(parsing text: String, limits: JSONLimits = .default) throws(JSONError) {
    self.init(try JSONDocument(Array(text.utf8), limits: limits), at: 0)
  }

  /// The six kinds of JSON value.
  public enum Kind: Sendable, Hashable {
    case object, array, string, number, bool, null
  }

  /// The kind of this value.
  public var kind: Kind {
    switch document[index].tag {
    case .null: .null
    case .yes, .no: .bool
    case .number: .number
    case .string, .escapedString: .string
    case .array: .array
    case .object: .object
    }
  }

  /// The text of this value as written, without surrounding whitespace.
  public var utf8: ArraySlice<UInt8> {
    word == Self.whole ? document.bytes[...] : document.bytes[document.range(of: index)]
  }

  /// Calls `body` with the text of this value as written. The bytes must not leave the call.
  @inlinable
  public func withUTF8<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withText { text throws(E) in try body(UnsafeRawBufferPointer(text)) }
  }

  /// As ``withUTF8(_:)``, typed as bytes.
  @usableFromInline
  func withText<R, E: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    guard word != Self.whole else { return try document.bytes.withUnsafeBufferPointer(body) }
    return try document.withText(of: index, body)
  }

  /// The member of an object with this key, the last one if the key occurs more than once; nil if
  /// there is none or this is not an object. The cost grows with the number of members.
  public subscript(key: String) -> JSONSlice? {
    var key = key
    return key.withUTF8 { document.member($0, of: index) }.map { JSONSlice(document, at: $0) }
  }

  /// The element of an array, counted from 0; nil if out of range or this is not an array. The cost
  /// grows with `position`: to visit all elements, iterate over ``elements``.
  public subscript(position: Int) -> JSONSlice? {
    guard kind == .array, position >= 0, position < count else { return nil }
    var at = index + 2
    for _ in 0..<position { at += document[at].span }
    return JSONSlice(document, at: at)
  }

  /// The number of members or elements; 0 for a scalar.
  public var count: Int { document[index].isContainer ? document[index + 1].count : 0 }

  /// The elements of an array in order; empty if this is not an array.
  public var elements: JSONElements { JSONElements(self) }

  /// The members of an object as written; empty if this is not an object.
  public var members: JSONMembers { JSONMembers(self) }

  /// The text as written.
  public var description: String { String(decoding: utf8, as: UTF8.self) }

  /// The text without whitespace between its tokens; numbers, strings and the order of members stay
  /// as written.
  public var compactText: String {
    var bytes: [UInt8] = []
    withText { JSONText.appendCompact($0, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Two slices are equal if their texts are, byte for byte. Compare ``value`` to compare what
  /// they mean.
  public static func == (left: JSONSlice, right: JSONSlice) -> Bool {
    if left.document === right.document, left.index == right.index { return true }
    return left.withText { one in
      right.withText { other in
        guard one.count == other.count, let a = one.baseAddress, let b = other.baseAddress else {
          return false
        }
        return JSONScan.equal(a, b, one.count)
      }
    }
  }
}

/// The elements of an array, created one at a time.
public struct JSONElements: Sequence, Sendable {
  private let array: JSONSlice

  init(_ array: JSONSlice) { self.array = array }

  /// The number of elements.
  public var underestimatedCount: Int { array.kind == .array ? array.count : 0 }

  /// Starts from the first element.
  public func makeIterator() -> Iterator { Iterator(array) }

  /// Walks through an array.
  public struct Iterator: IteratorProtocol, Sendable {
    private let document: JSONDocument
    private var at: Int
    private let end: Int

    init(_ array: JSONSlice) {
      document = array.document
      at = array.index + 2
      end = array.kind == .array ? array.index + document[array.index].length : at
    }

    /// Returns the next element, or nil at the end.
    public mutating func next() -> JSONSlice? {
      guard at < end else { return nil }
      defer { at += document[at].span }
      return JSONSlice(document, at: at)
    }
  }
}

/// The members of an object, created one at a time.
public struct JSONMembers: Sequence, Sendable {
  private let object: JSONSlice

  init(_ object: JSONSlice) { self.object = object }

  /// The number of members.
  public var underestimatedCount: Int { object.kind == .object ? object.count : 0 }

  /// Starts from the first member.
  public func makeIterator() -> Iterator { Iterator(object) }

  /// Walks through an object.
  public struct Iterator: IteratorProtocol, Sendable {
    private let document: JSONDocument
    private var at: Int
    private let end: Int

    init(_ object: JSONSlice) {
      document = object.document
      at = object.index + 2
      end = object.kind == .object ? object.index + document[object.index].length : at
    }

    /// Returns the next member, or nil at the end.
    public mutating func next() -> (key: String, value: JSONSlice)? {
      guard at < end else { return nil }
      defer { at += 1 + document[at + 1].span }
      return (document.string(at: at), JSONSlice(document, at: at + 1))
    }
  }
}
