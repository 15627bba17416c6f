import Synchronization

/// A text that was checked, and its index. Slices share it and keep it alive.
///
/// `@unchecked Sendable` because nothing in it changes after `init`, except that the index of a
/// trusted text is made once, under the lock, before anybody has a place in it.
final class JSONDocument: @unchecked Sendable {
  let bytes: [UInt8]
  private var tape: UnsafePointer<UInt64>
  /// Whether the name of a member holds a backslash. Known once ``root()`` was called.
  private(set) var hasEscapedNames: Bool
  private let isIndexed: Atomic<Bool>
  private let lock = Mutex(())

  init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    self.bytes = bytes
    do throws(JSONFault) {
      let index = try JSONDocument.index(bytes, limits: limits).get()
      (tape, hasEscapedNames) = (index.tape, index.hasEscapedNames)
    } catch {
      throw JSONError(error.code, error.message.description, byteOffset: error.offset)
    }
    isIndexed = Atomic(true)
  }

  /// A text that is checked and indexed on first access.
  init(trusting bytes: [UInt8]) {
    self.bytes = bytes
    tape = JSONDocument.unread
    hasEscapedNames = false
    isIndexed = Atomic(false)
  }

  /// The placeholder for an index that is not built yet.
  private nonisolated(unsafe) static let unread = JSONTape.null()

  deinit {
    if isIndexed.load(ordering: .acquiring) { tape.deallocate() }
  }

  private static func index(
    _ bytes: [UInt8], limits: JSONLimits
  ) -> Result<JSONIndexer.Index, JSONFault> {
    bytes.withUnsafeBufferPointer { text in
      do throws(JSONFault) {
        return .success(try JSONIndexer.index(text, limits: limits))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Creates the index of a trusted text at its first use. A text that is not JSON becomes null.
  ///
  /// - Returns: The word of the whole value.
  @inline(never)
  func root() -> Int {
    if isIndexed.load(ordering: .acquiring) { return 0 }
    lock.withLock { _ in
      if isIndexed.load(ordering: .relaxed) { return }
      let limits = JSONLimits(maxDepth: JSONLimits.greatestDepth)
      let index = try? JSONDocument.index(bytes, limits: limits).get()
      tape = index?.tape ?? JSONTape.null()
      hasEscapedNames = index?.hasEscapedNames == true
      isIndexed.store(true, ordering: .releasing)
    }
    return 0
  }

  /// Only for words that ``root()`` or a look-up gave.
  @inline(__always)
  subscript(index: Int) -> JSONWord { JSONWord(bits: tape[index]) }

  /// The position of a word's value (or key) in the text.
  func range(of index: Int) -> Range<Int> {
    let word = self[index]
    return word.start..<(word.isContainer ? self[index + 1].end : word.start + word.length)
  }

  /// The bytes of the value (or key) of a word, for the duration of the call.
  @inline(__always)
  func withText<R, E: Error>(
    of index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    let range = range(of: index)
    return try bytes.withUnsafeBufferPointer { text throws(E) in
      try body(UnsafeBufferPointer(rebasing: text[range]))
    }
  }

  /// The last member of the object at `index` whose key has these bytes: the word of its value.
  func member(_ key: UnsafeBufferPointer<UInt8>, of index: Int) -> Int? {
    var count = 0
    return member(key, of: index, count: &count)
  }

  /// As ``member(_:of:)``, with the number of members that have the key.
  @inline(__always)
  func member(_ key: UnsafeBufferPointer<UInt8>, of index: Int, count: inout Int) -> Int? {
    let object = self[index]
    guard object.rawTag == JSONWord.Tag.object.rawValue else { return nil }
    let end = index &+ object.length
    let quoted = key.count &+ 2
    var at = index &+ 2
    var found: Int?
    bytes.withUnsafeBufferPointer { text in
      guard let base = text.baseAddress else { return }
      // The address of an empty key's bytes is never used: no bytes are compared.
      let wanted = key.baseAddress ?? base
      while at < end {
        let word = self[at]
        if word.isEscaped {
          if JSONText.unescaped(base + word.start, word.length).elementsEqual(key) {
            found = at &+ 1
            count &+= 1
          }
        } else if word.length == quoted, JSONScan.equal(base + word.start + 1, wanted, key.count) {
          found = at &+ 1
          count &+= 1
        }
        at &+= 1 &+ self[at &+ 1].span
      }
    }
    return found
  }

  /// The text of the string or key at `index`, escapes resolved.
  func string(at index: Int) -> String {
    let word = self[index]
    return bytes.withUnsafeBufferPointer { text in
      guard let base = text.baseAddress else { return "" }
      if word.isEscaped {
        return String(decoding: JSONText.unescaped(base + word.start, word.length), as: UTF8.self)
      }
      return String(
        decoding: UnsafeBufferPointer(start: base + word.start + 1, count: word.length - 2),
        as: UTF8.self)
    }
  }
}
