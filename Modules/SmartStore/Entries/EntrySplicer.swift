import SalesforceSDKCommon

/// A writer of the stored text of entries: the given text, with some members set or removed.
///
/// One splicer is created for a batch. Most records have none of these members; their bytes are
/// copied and the members appended, without parsing.
struct EntrySplicer {
  private let setting: [(key: String, value: JSONValue)]
  private let removing: [String]
  /// `,"key":value` for each member to set.
  private let tail: [UInt8]
  /// The keys that must not occur twice in the text.
  private let keys: [String]
  /// Whether every key begins with an underscore, so that a text without `"_` contains none of
  /// them.
  private let keysBeginWithUnderscore: Bool

  /// Prepares to set and remove members in addition to the two that the store itself writes.
  init(
    setting: [(key: String, value: JSONValue)], removing: [String]
  ) throws(SmartStoreError) {
    let own = [SmartStore.soupEntryId, SmartStore.lastModifiedDate]
    // Of two values for one key the last counts; callers cannot set the store's own members.
    var unique: [(key: String, value: JSONValue)] = []
    for member in setting where !own.contains(member.key) {
      unique.removeAll { MemberKey.isSame($0.key, member.key) }
      unique.append(member)
    }
    self.setting = unique
    self.removing = removing.filter { key in
      !own.contains(key) && !unique.contains { MemberKey.isSame($0.key, key) }
    }
    var tail: [UInt8] = []
    do throws(JSONError) {
      for member in unique {
        tail.append(UInt8(ascii: ","))
        tail += try JSONValue.string(member.key).serialized()
        tail.append(UInt8(ascii: ":"))
        let value = try member.value.serialized()
        // Most values are scalars, which have no depth to check. The entry itself is one level.
        if member.value.array != nil || member.value.object != nil {
          _ = try JSONSlice(
            parsing: value, limits: JSONLimits(maxDepth: JSONLimits.written.maxDepth - 1))
        }
        tail += value
      }
    } catch {
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: a member to set cannot be written as JSON.", cause: error)
    }
    self.tail = tail
    self.keys = own + unique.map(\.key) + self.removing
    self.keysBeginWithUnderscore = keys.allSatisfy { $0.utf8.first == UInt8(ascii: "_") }
  }

  /// Appends the stored text of `element` to `buffer`.
  ///
  /// - Parameter mayHoldUnderscoreKey: The result of ``mayHoldUnderscoreKey(_:)-(JSONSlice)``.
  func splice(
    _ element: JSONSlice, mayHoldUnderscoreKey: Bool, entryId: Int64, lastModified: Int64,
    into buffer: inout [UInt8]
  ) throws(SmartStoreError) {
    if holdsAnyKey(element, mayHoldUnderscoreKey: mayHoldUnderscoreKey) {
      try rebuild(element, entryId: entryId, lastModified: lastModified, into: &buffer)
      return
    }
    // The text without its closing brace.
    buffer.append(contentsOf: element.utf8.dropLast())
    let isEmpty = element.count == 0
    let start = buffer.count
    buffer.append(contentsOf: tail)
    buffer.append(contentsOf: #","_soupEntryId":"#.utf8)
    append(entryId, to: &buffer)
    buffer.append(contentsOf: #","_soupLastModifiedDate":"#.utf8)
    append(lastModified, to: &buffer)
    buffer.append(UInt8(ascii: "}"))
    // The text before is `{` and whitespace: the first member has no comma.
    if isEmpty { buffer[start] = UInt8(ascii: " ") }
  }

  private func holdsAnyKey(_ element: JSONSlice, mayHoldUnderscoreKey: Bool) -> Bool {
    if keysBeginWithUnderscore, !mayHoldUnderscoreKey { return false }
    return keys.contains { element[$0] != nil }
  }

  /// Whether the entry may have a member whose name begins with an underscore.
  static func mayHoldUnderscoreKey(_ element: JSONSlice) -> Bool {
    element.utf8.withUnsafeBytes { mayHoldUnderscoreKey($0) }
  }

  /// Whether a string in the text begins with an underscore, or with an escape that may be one.
  static func mayHoldUnderscoreKey(_ text: UnsafeRawBufferPointer) -> Bool {
    let quote = UInt8(ascii: "\"")
    let underscore = UInt8(ascii: "_")
    let backslash = UInt8(ascii: "\\")
    let quotes = SIMD16<UInt8>(repeating: quote)
    let underscores = SIMD16<UInt8>(repeating: underscore)
    let backslashes = SIMD16<UInt8>(repeating: backslash)
    var position = 0
    // This loop reads every byte of every entry. Comparing sixteen bytes at a time, each with its
    // successor, takes a fifth of the time.
    while position &+ 16 < text.count {
      let bytes = text.loadUnaligned(fromByteOffset: position, as: SIMD16<UInt8>.self)
      let next = text.loadUnaligned(fromByteOffset: position &+ 1, as: SIMD16<UInt8>.self)
      let found = (bytes .== quotes) .& ((next .== underscores) .| (next .== backslashes))
      if any(found) { return true }
      position &+= 16
    }
    while position &+ 1 < text.count {
      let next = text[position &+ 1]
      if text[position] == quote, next == underscore || next == backslash { return true }
      position &+= 1
    }
    return false
  }

  /// Writes entries that contain one of the members, such as those read from a store earlier.
  private func rebuild(
    _ element: JSONSlice, entryId: Int64, lastModified: Int64, into buffer: inout [UInt8]
  ) throws(SmartStoreError) {
    do throws(JSONError) {
      var writer = JSONWriter()
      try writer.object(
        element,
        setting: setting + [
          (key: SmartStore.soupEntryId, value: .integer(entryId)),
          (key: SmartStore.lastModifiedDate, value: .integer(lastModified)),
        ], removing: removing)
      buffer.append(contentsOf: writer.bytes)
    } catch {
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: its members cannot be set.", cause: error)
    }
  }

  private func append(_ value: Int64, to buffer: inout [UInt8]) {
    var digits: (UInt64, UInt64, UInt32) = (0, 0, 0)
    withUnsafeMutableBytes(of: &digits) { room in
      var position = room.count
      var rest = value.magnitude
      repeat {
        position -= 1
        room[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if value < 0 {
        position -= 1
        room[position] = UInt8(ascii: "-")
      }
      buffer.append(contentsOf: room[position...])
    }
  }
}
