/// One word of the index: what stands where in the text.
///
/// Bits 0-31 hold the offset of the first byte, bits 32-59 a length, bits 60-63 the tag. For a
/// scalar or a key the length counts bytes, quotes included. An array or object takes two words:
/// the first has, in place of the length, how many words it spans with everything inside (so the
/// next sibling is found by one addition), the second the offset behind its closing bracket and,
/// in bits 32-63, how many members or elements it has. A member is the word of its key followed
/// by its value.
struct JSONWord {
  /// The kind of a word.
  enum Tag: UInt64 {
    case null, yes, no, number, string, escapedString, array, object
  }

  var bits: UInt64

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  @inline(__always)
  init(tag: Tag, start: Int, length: Int) {
    bits =
      UInt64(truncatingIfNeeded: start) | UInt64(truncatingIfNeeded: length) << 32
      | tag.rawValue << 60
  }

  @inline(__always)
  init(end: Int, count: Int) {
    bits = UInt64(truncatingIfNeeded: end) | UInt64(truncatingIfNeeded: count) << 32
  }

  /// The offset of the first byte.
  @inline(__always)
  var start: Int { Int(truncatingIfNeeded: bits & 0xffff_ffff) }

  /// Bytes of a scalar, or words of a container.
  @inline(__always)
  var length: Int { Int(truncatingIfNeeded: (bits >> 32) & 0xfff_ffff) }

  /// In the second word of a container: the offset after its closing bracket.
  @inline(__always)
  var end: Int { Int(truncatingIfNeeded: bits & 0xffff_ffff) }

  /// In the second word of a container: its members or elements.
  @inline(__always)
  var count: Int { Int(truncatingIfNeeded: bits >> 32) }

  /// The tag as a number, for comparisons in loops.
  @inline(__always)
  var rawTag: UInt64 { bits >> 60 }

  @inline(__always)
  var tag: Tag { Tag(rawValue: rawTag) ?? .null }

  /// Whether this is the first word of an array or object.
  @inline(__always)
  var isContainer: Bool { rawTag >= Tag.array.rawValue }

  /// Whether a string or key holds a backslash.
  @inline(__always)
  var isEscaped: Bool { rawTag == Tag.escapedString.rawValue }

  /// The distance to the next sibling.
  @inline(__always)
  var span: Int { isContainer ? length : 1 }
}

/// The words while they are written: a buffer that grows.
struct JSONTape: ~Copyable {
  private(set) var words: UnsafeMutablePointer<UInt64>
  private(set) var count = 0
  private var capacity: Int

  /// A tape with room for the index of a typical text of this length.
  init(textLength: Int) {
    // Records take about a word for 14 bytes. Room that is never touched costs nothing.
    capacity = textLength / 8 + 8
    words = .allocate(capacity: capacity)
  }

  deinit { words.deallocate() }

  /// Makes room for the next member: a key and the two words of a container.
  @inline(__always)
  mutating func reserve() {
    if count &+ 3 > capacity { grow() }
  }

  /// Appends a word; ``reserve()`` came before.
  @inline(__always)
  mutating func append(_ word: JSONWord) {
    words[count] = word.bits
    count &+= 1
  }

  @inline(__always)
  subscript(index: Int) -> JSONWord {
    get { JSONWord(bits: words[index]) }
    nonmutating set { words[index] = newValue.bits }
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity * 2)
    larger.update(from: words, count: count)
    words.deallocate()
    words = larger
    capacity *= 2
  }

  /// The index of a text that cannot be read: one null of no length.
  static func null() -> UnsafePointer<UInt64> {
    var tape = JSONTape(textLength: 0)
    tape.append(JSONWord(tag: .null, start: 0, length: 0))
    return tape.finish()
  }

  /// Returns the words to an owner, who must deallocate them.
  consuming func finish() -> UnsafePointer<UInt64> {
    let result = UnsafePointer(words)
    discard self
    return result
  }
}
