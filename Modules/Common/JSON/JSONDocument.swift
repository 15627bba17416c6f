/// A text that was checked, and its index. Slices share it and keep it alive.
///
/// `@unchecked Sendable` because nothing in it changes after `init`.
final class JSONDocument: @unchecked Sendable {
  let bytes: [UInt8]
  private let tape: UnsafePointer<UInt64>

  init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    self.bytes = bytes
    do throws(JSONFault) {
      let indexed = bytes.withUnsafeBufferPointer {
        text -> Result<UnsafePointer<UInt64>, JSONFault> in
        do throws(JSONFault) {
          return .success(try JSONIndexer.index(text, limits: limits))
        } catch {
          return .failure(error)
        }
      }
      tape = try indexed.get()
    } catch {
      throw JSONError(error.code, error.message.description, byteOffset: error.offset)
    }
  }

  deinit { tape.deallocate() }

  @inline(__always)
  subscript(index: Int) -> JSONWord { JSONWord(bits: tape[index]) }

  /// Where the value (or key) of a word stands in the text.
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
          }
        } else if word.length == quoted, JSONScan.equal(base + word.start + 1, wanted, key.count) {
          found = at &+ 1
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
