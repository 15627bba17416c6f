/// The one pass over a text: checks every byte against RFC 8259 and writes the index.
///
/// It does not recurse: while a container is open, its first word holds the position of the one
/// around it, so the index is its own stack.
struct JSONIndexer: ~Copyable {
  private typealias Address = JSONScan.Address

  private let base: Address
  private let end: Address
  private let maxDepth: Int
  private var tape: JSONTape
  /// The next byte.
  private var at: Address
  /// The index of the tape word of the innermost open container; undefined while `depth` is 0.
  private var open = 0
  /// The members or elements of it so far, with the one being read.
  private var count = 0
  private var inObject = false
  private var depth = 0
  private var hasEscapedNames = false

  /// The index of a text.
  struct Index {
    let tape: UnsafePointer<UInt64>
    /// Whether the name of a member holds a backslash.
    let hasEscapedNames: Bool
  }

  /// Reads the whole of `text` and returns its index.
  static func index(
    _ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits
  ) throws(JSONFault) -> Index {
    guard text.count <= limits.maxBytes else {
      throw JSONFault(
        code: .tooLarge, message: "The text is longer than the limit.", offset: limits.maxBytes)
    }
    guard let base = text.baseAddress, !text.isEmpty else {
      throw JSONFault(code: .malformed, message: "The text is empty.", offset: 0)
    }
    var indexer = JSONIndexer(base: base, count: text.count, maxDepth: limits.maxDepth)
    try indexer.run()
    return indexer.finish()
  }

  private init(base: Address, count: Int, maxDepth: Int) {
    self.base = base
    self.end = base + count
    self.maxDepth = maxDepth
    self.tape = JSONTape(textLength: count)
    self.at = base
  }

  private consuming func finish() -> Index {
    let hasEscapedNames = hasEscapedNames
    return Index(tape: tape.finish(), hasEscapedNames: hasEscapedNames)
  }

  private mutating func run() throws(JSONFault) {
    repeat {
      try value()
      try closeFinished()
    } while depth > 0
    at = JSONScan.blanks(at, end)
    if at < end { throw fault("Something follows the end of the value.") }
  }

  /// Reads a scalar, or opens a container (and closes it if it is empty).
  @inline(__always)
  private mutating func value() throws(JSONFault) {
    while true {
      at = JSONScan.blanks(at, end)
      guard at < end else { throw fault("The text ends where a value was expected.") }
      tape.reserve()
      let start = at
      switch at.pointee {
      case 0x22:
        try string()
      case 0x2d, 0x30...0x39:
        at = try JSONScan.number(start, end, base: base)
        append(.number, from: start)
      case 0x7b:
        try enter(.object)
        if at < end, at.pointee == 0x7d { return }
        try key()
        continue
      case 0x5b:
        try enter(.array)
        if at < end, at.pointee == 0x5d { return }
        count = 1
        continue
      case 0x74:
        try literal("true", .yes)
      case 0x66:
        try literal("false", .no)
      case 0x6e:
        try literal("null", .null)
      default:
        throw fault("A value was expected.")
      }
      return
    }
  }

  /// After a value: closes the containers that end here, then steps to the next value.
  @inline(__always)
  private mutating func closeFinished() throws(JSONFault) {
    while depth > 0 {
      at = JSONScan.blanks(at, end)
      guard at < end else { throw fault("The text ends inside an array or object.") }
      let byte = at.pointee
      if byte == 0x2c {
        at += 1
        if inObject {
          tape.reserve()
          at = JSONScan.blanks(at, end)
          try key()
        } else {
          count &+= 1
        }
        return
      }
      guard byte == (inObject ? 0x7d : 0x5d) else {
        throw fault("A comma or a closing bracket was expected.")
      }
      at += 1
      leave()
    }
  }

  @inline(__always)
  private mutating func append(_ tag: JSONWord.Tag, from start: Address) {
    tape.append(JSONWord(tag: tag, start: start - base, length: at - start))
  }

  /// Reads a string from its opening quote.
  ///
  /// - Returns: Whether it holds a backslash.
  @inline(__always)
  @discardableResult
  private mutating func string() throws(JSONFault) -> Bool {
    let start = at
    var escaped = false
    at = try JSONScan.string(start + 1, end, base: base, escaped: &escaped)
    append(escaped ? .escapedString : .string, from: start)
    return escaped
  }

  /// Reads a key and its colon.
  @inline(__always)
  private mutating func key() throws(JSONFault) {
    guard at < end, at.pointee == 0x22 else { throw fault("A key in quotes was expected.") }
    count &+= 1
    if try string() { hasEscapedNames = true }
    at = JSONScan.blanks(at, end)
    guard at < end, at.pointee == 0x3a else { throw fault("A colon was expected.") }
    at += 1
  }

  private mutating func literal(
    _ text: StaticString, _ tag: JSONWord.Tag
  ) throws(JSONFault) {
    let length = text.utf8CodeUnitCount
    guard end - at >= length, JSONScan.equal(at, text.utf8Start, length) else {
      throw fault("A value was expected.")
    }
    tape.append(JSONWord(tag: tag, start: at - base, length: length))
    at += length
  }

  /// Opens a container at its bracket and skips the whitespace after it.
  @inline(__always)
  private mutating func enter(_ tag: JSONWord.Tag) throws(JSONFault) {
    if depth == maxDepth {
      throw JSONFault(
        code: .tooDeep, message: "Arrays and objects nest deeper than the limit.",
        offset: at - base)
    }
    if depth > 0 { tape[open + 1] = JSONWord(end: 0, count: count) }
    let index = tape.count
    tape.append(JSONWord(tag: tag, start: at - base, length: open))
    tape.append(JSONWord(bits: 0))
    open = index
    depth &+= 1
    count = 0
    inObject = tag == .object
    at = JSONScan.blanks(at + 1, end)
  }

  /// Closes the innermost container, whose bracket is the byte before.
  @inline(__always)
  private mutating func leave() {
    let word = tape[open]
    let outer = word.length
    tape[open] = JSONWord(
      tag: inObject ? .object : .array, start: word.start, length: tape.count &- open)
    tape[open + 1] = JSONWord(end: at - base, count: count)
    depth &-= 1
    open = outer
    if depth > 0 {
      inObject = tape[outer].rawTag == JSONWord.Tag.object.rawValue
      count = tape[outer + 1].count
    }
  }

  @inline(never)
  private func fault(_ message: StaticString) -> JSONFault {
    JSONFault(code: .malformed, message: message, offset: at - base)
  }
}

extension JSONScan {
  /// Whether two runs of `count` bytes are the same.
  @inline(__always)
  static func equal(_ left: Address, _ right: Address, _ count: Int) -> Bool {
    var at = 0
    while at &+ 8 <= count {
      if load(left + at) != load(right + at) { return false }
      at &+= 8
    }
    while at < count {
      if left[at] != right[at] { return false }
      at &+= 1
    }
    return true
  }
}
