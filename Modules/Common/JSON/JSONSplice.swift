extension JSONSlice {
  /// This object with some of its top-level members set or removed and everything else byte for
  /// byte as written.
  ///
  /// An existing member is replaced in its position; of a duplicate key, the last member is
  /// replaced and the others are removed. New members are appended in the given order. A key that
  /// is both set and removed is set.
  ///
  /// - Throws: ``JSONError`` `typeMismatch` if this is not an object, `notRepresentable` if a value has
  ///   no JSON form.
  public func setting(
    _ members: [(key: String, value: JSONValue)], removing removed: [String] = []
  ) throws(JSONError) -> JSONSlice {
    var writer = JSONWriter(capacity: utf8.count + 32 * members.count)
    try writer.object(self, setting: members, removing: removed)
    return try JSONSlice(parsing: writer.bytes)
  }
}

extension JSONWriter {
  /// Writes an object with some of its top-level members set or removed, as
  /// ``JSONSlice/setting(_:removing:)`` does, without checking or indexing the result again.
  ///
  /// - Throws: ``JSONError`` `typeMismatch` if `object` is none, `notRepresentable` if a value has
  ///   no JSON form; discard the writer's bytes then.
  public mutating func object(
    _ object: JSONSlice, setting members: [(key: String, value: JSONValue)],
    removing removed: [String] = []
  ) throws(JSONError) {
    guard object.kind == .object else {
      throw JSONError(.typeMismatch, "Members can be set in a JSON object only.")
    }
    let document = object.document
    let places = members.map { member in object[member.key]?.index }
    if removed.isEmpty, places.allSatisfy({ $0 == nil }) {
      // The common case: everything stays and new members go to the end.
      beginValue()
      let text = object.utf8
      var end = text.endIndex - 1
      while JSONScan.isBlank(text[end - 1]) { end -= 1 }
      bytes.append(contentsOf: text[text.startIndex..<end])
      return try close(
        appending: members, where: places, isEmpty: object.count == 0)
    }

    beginValue()
    bytes.append(0x7b)
    var isEmpty = true
    var at = object.index + 2
    let end = object.index + document[object.index].length
    while at < end {
      let value = at + 1
      let key = document.string(at: at)
      let replacement = members.lastIndex { MemberKey.isSame($0.key, key) }
      let keep =
        if let replacement { places[replacement] == value } else {
          !removed.contains { MemberKey.isSame($0, key) }
        }
      if keep {
        if !isEmpty { bytes.append(0x2c) }
        isEmpty = false
        document.withText(of: at) { bytes.append(contentsOf: $0) }
        bytes.append(0x3a)
        if let replacement {
          try appendValue(members[replacement].value)
        } else {
          document.withText(of: value) { bytes.append(contentsOf: $0) }
        }
      }
      at = value + document[value].span
    }
    try close(appending: members, where: places, isEmpty: isEmpty)
  }

  /// Adds the members that have no place yet, and the closing brace.
  private mutating func close(
    appending members: [(key: String, value: JSONValue)], where places: [Int?], isEmpty: Bool
  ) throws(JSONError) {
    var isEmpty = isEmpty
    for (position, member) in members.enumerated() where places[position] == nil {
      // Of a key that is given twice, the last value counts.
      if members[(position + 1)...].contains(where: { MemberKey.isSame($0.key, member.key) }) {
        continue
      }
      if !isEmpty { bytes.append(0x2c) }
      isEmpty = false
      JSONText.append(member.key, to: &bytes)
      bytes.append(0x3a)
      try appendValue(member.value)
    }
    bytes.append(0x7d)
  }

  /// Appends a value where the splice has written what stands before it.
  private mutating func appendValue(_ value: JSONValue) throws(JSONError) {
    var writer = JSONWriter(capacity: 64)
    try writer.value(value)
    bytes.append(contentsOf: writer.bytes)
  }
}
