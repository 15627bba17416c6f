/// Normalised text: one spelling for each value, so that two texts can be compared instead of what
/// they mean. Without blanks; strings with the escapes that RFC 8259 requires and no others;
/// numbers as `JSONDecimal.normalizedText`. The order of members stays; of a name that stands
/// twice in an object the last member stays.
extension JSONSlice {
  /// The normalised text of this value.
  package var normalizedText: String {
    var bytes: [UInt8] = []
    document.appendNormalized(index, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Calls `body` with the normalised text of a number, which must not leave the call; nil if this is
  /// no number.
  package func withNormalizedNumber<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R? {
    guard kind == .number else { return nil }
    return withText { text in
      if JSONDecimal.isNormalized(text) { return body(UnsafeRawBufferPointer(text)) }
      var normalized = JSONDecimal(text).normalizedText
      return normalized.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
  }

  /// This value with each member's name in its plain spelling, where it has another one, and without
  /// members whose name occurs again after them. Everything else stays byte for byte. Nil if that
  /// changes nothing, which takes no time for a text without a backslash in a name.
  ///
  /// SQLite compares names as they are written (up to version 3.44) and takes the first of two.
  ///
  /// - Parameter paths: Where to look for a name that occurs again; elsewhere such names stay if no name has a backslash.
  package func normalizingNames(along paths: [JSONPath] = []) -> JSONSlice? {
    let index = index
    guard
      document.hasEscapedNames
        || paths.contains(where: { document.hasDoubledName(along: $0.keyBytes, from: index) })
    else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    document.appendNormalizingNames(index, to: &bytes)
    guard !withText({ $0.elementsEqual(bytes) }) else { return nil }
    // What is written is as deep as what was read.
    return JSONSlice(trusting: bytes)
  }
}

extension JSONProjection {
  /// The normalised text; nil if the path leads to nothing but null. Of what was gathered from an
  /// array, nulls are left out like items that lack the path (SS-76 d, SS-79).
  package var normalizedText: String? {
    switch self {
    case .missing: return nil
    case .value(let slice): return slice.isNull ? nil : slice.normalizedText
    case .gathered(let parts):
      let texts = parts.compactMap(\.normalizedText)
      return texts.isEmpty ? nil : "[\(texts.joined(separator: ","))]"
    }
  }

  /// Whether the path leads to nothing but null.
  package var isNullOrMissing: Bool {
    switch self {
    case .missing: true
    case .value(let slice): slice.isNull
    case .gathered(let parts): parts.allSatisfy(\.isNullOrMissing)
    }
  }
}

extension JSONValue {
  /// The normalised text; nil for a value that JSON cannot write.
  package var normalizedText: String? {
    guard let text = try? serialized(),
      let slice = try? JSONSlice(
        parsing: text, limits: JSONLimits(maxDepth: JSONLimits.greatestDepth))
    else { return nil }
    return slice.normalizedText
  }
}

extension JSONDocument {
  fileprivate func appendNormalized(_ index: Int, to bytes: inout [UInt8]) {
    let word = self[index]
    switch word.tag {
    case .null, .yes, .no, .string:
      withText(of: index) { bytes.append(contentsOf: $0) }
    case .escapedString:
      appendString(index, to: &bytes)
    case .number:
      withText(of: index) { text in
        if JSONDecimal.isNormalized(text) {
          bytes.append(contentsOf: text)
        } else {
          bytes.append(contentsOf: JSONDecimal(text).normalizedText.utf8)
        }
      }
    case .array:
      bytes.append(0x5b)
      var isFirst = true
      var at = index + 2
      while at < index + word.length {
        if !isFirst { bytes.append(0x2c) }
        isFirst = false
        appendNormalized(at, to: &bytes)
        at += self[at].span
      }
      bytes.append(0x5d)
    case .object:
      bytes.append(0x7b)
      var isFirst = true
      for name in lastMembers(of: index) {
        if !isFirst { bytes.append(0x2c) }
        isFirst = false
        appendString(name, to: &bytes)
        bytes.append(0x3a)
        appendNormalized(name + 1, to: &bytes)
      }
      bytes.append(0x7d)
    }
  }

  /// Appends a value as written, but for the names in it.
  fileprivate func appendNormalizingNames(_ index: Int, to bytes: inout [UInt8]) {
    let word = self[index]
    guard word.isContainer else {
      withText(of: index) { bytes.append(contentsOf: $0) }
      return
    }
    // What stands between the parts (brackets, commas, blanks) is copied with the part before it.
    var plain = word.start
    func copy(to end: Int) {
      bytes.append(contentsOf: self.bytes[plain..<end])
      plain = end
    }
    if word.rawTag == JSONWord.Tag.array.rawValue {
      var at = index + 2
      while at < index + word.length {
        copy(to: self[at].start)
        appendNormalizingNames(at, to: &bytes)
        plain = range(of: at).upperBound
        at += self[at].span
      }
    } else {
      let kept = lastMembers(of: index)
      if kept.count < self[index + 1].count {
        // With a member less the commas are no longer where they were.
        bytes.append(0x7b)
        for (position, name) in kept.enumerated() {
          if position > 0 { bytes.append(0x2c) }
          appendString(name, to: &bytes)
          bytes.append(0x3a)
          appendNormalizingNames(name + 1, to: &bytes)
        }
        bytes.append(0x7d)
        return
      }
      for name in kept {
        copy(to: self[name].start)
        appendString(name, to: &bytes)
        plain = range(of: name).upperBound
        copy(to: self[name + 1].start)
        appendNormalizingNames(name + 1, to: &bytes)
        plain = range(of: name + 1).upperBound
      }
    }
    copy(to: self[index + 1].end)
  }

  /// Appends a string or name with the escapes that RFC 8259 requires. One that holds half of a surrogate
  /// pair has no other spelling and stays as it is.
  private func appendString(_ index: Int, to bytes: inout [UInt8]) {
    guard self[index].isEscaped, let text = meaning(of: index) else {
      withText(of: index) { bytes.append(contentsOf: $0) }
      return
    }
    text.withUnsafeBufferPointer { JSONText.append(utf8: $0, to: &bytes) }
  }

  /// The UTF-8 of an escaped string; nil if it holds half of a surrogate pair.
  private func meaning(of index: Int) -> [UInt8]? {
    withText(of: index) { text in
      guard let quote = text.baseAddress, !JSONText.holdsHalfPair(text) else { return nil }
      return JSONText.unescaped(quote, text.count)
    }
  }

  /// Whether an object on the way of a path has the path's next name more than once.
  fileprivate func hasDoubledName(along keys: [[UInt8]], from index: Int) -> Bool {
    var object = index
    for key in keys {
      var count = 0
      guard let value = key.withUnsafeBufferPointer({ member($0, of: object, count: &count) })
      else { return false }
      if count > 1 { return true }
      object = value
    }
    return false
  }

  /// The words of the names in an object, in order, without those that occur again after them.
  private func lastMembers(of object: Int) -> [Int] {
    var places: [[UInt8]: Int] = [:]
    var names: [Int?] = []
    var at = object + 2
    while at < object + self[object].length {
      let key =
        self[at].isEscaped
        ? meaning(of: at) : withText(of: at) { Array($0.dropFirst().dropLast()) }
      if let key, let earlier = places.updateValue(names.count, forKey: key) {
        names[earlier] = nil
      }
      names.append(at)
      at += 1 + self[at + 1].span
    }
    return names.compactMap(\.self)
  }
}
