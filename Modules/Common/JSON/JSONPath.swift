/// A path to a value inside an object: keys separated by dots, such as `Owner.Name` (SS-75).
///
/// Keys are case-sensitive, and a key that contains a dot cannot be escaped. The empty path leads
/// to the whole object.
public struct JSONPath: Sendable, Hashable, CustomStringConvertible {
  /// The path as written.
  public let text: String
  /// The keys from the outside in.
  public let keys: [String]
  /// The keys as UTF-8, so that look-ups need not convert them.
  let keyBytes: [[UInt8]]

  /// Splits a path at its dots.
  public init(_ text: String) {
    self.text = text
    keys =
      text.isEmpty
      ? [] : text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    keyBytes = keys.map { Array($0.utf8) }
  }

  /// The path as written.
  public var description: String { text }

  /// Two paths are equal if their texts are.
  public static func == (left: JSONPath, right: JSONPath) -> Bool { left.text == right.text }

  /// Feeds the text to the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension JSONPath: ExpressibleByStringLiteral {
  /// Splits a path at its dots.
  public init(stringLiteral text: String) { self.init(text) }
}

/// The result of looking up a path.
public enum JSONProjection: Sendable, Equatable {
  /// Nothing: a key on the way is absent (SS-76 c).
  case missing
  /// One value, JSON null included: the key is present (SS-79).
  case value(JSONSlice)
  /// The results in each element of an array on the way, without elements that have none (SS-76 d);
  /// never empty.
  case gathered([JSONProjection])

  /// The value copied; nil if missing.
  public var value: JSONValue? {
    switch self {
    case .missing: nil
    case .value(let slice): slice.value
    case .gathered(let parts): .array(parts.compactMap(\.value))
    }
  }

  /// The compact JSON text, numbers and strings as written; nil if missing.
  public var compactText: String? {
    if case .missing = self { return nil }
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .missing:
      break
    case .value(let slice):
      slice.withText { JSONText.appendCompact($0, to: &bytes) }
    case .gathered(let parts):
      bytes.append(0x5b)
      for (position, part) in parts.enumerated() {
        if position > 0 { bytes.append(0x2c) }
        part.append(to: &bytes)
      }
      bytes.append(0x5d)
    }
  }
}

extension JSONSlice {
  /// Looks up `path` in this value, by the rules SS-76 to SS-79 and CA-22: in an object, the next
  /// key selects a member; for an array, the result gathers those of the rest of the path in each
  /// of its elements, and nested arrays do the same. A value at the end of the path stays as it is.
  ///
  /// Without arrays on the way, nothing is allocated.
  public func project(_ path: JSONPath) -> JSONProjection {
    document.project(path.keyBytes[...], from: index)
  }
}

extension JSONDocument {
  fileprivate func project(_ keys: ArraySlice<[UInt8]>, from start: Int) -> JSONProjection {
    var at = start
    for position in keys.indices {
      let word = self[at]
      if word.rawTag == JSONWord.Tag.array.rawValue {
        return gather(keys[position...], from: at)
      }
      guard let next = keys[position].withUnsafeBufferPointer({ member($0, of: at) }) else {
        return .missing
      }
      at = next
    }
    return .value(JSONSlice(self, at: at))
  }

  private func gather(_ keys: ArraySlice<[UInt8]>, from array: Int) -> JSONProjection {
    var parts: [JSONProjection] = []
    var at = array + 2
    let end = array + self[array].length
    while at < end {
      let part = project(keys, from: at)
      if case .missing = part {} else { parts.append(part) }
      at += self[at].span
    }
    return parts.isEmpty ? .missing : .gathered(parts)
  }
}

extension JSONValue {
  /// Returns the result of looking up `path`, by the same rules as ``JSONSlice/project(_:)``; nil
  /// if missing.
  public func project(_ path: JSONPath) -> JSONValue? { project(path.keys[...]) }

  private func project(_ keys: ArraySlice<String>) -> JSONValue? {
    guard let key = keys.first else { return self }
    switch self {
    case .object(let members):
      return members[key]?.project(keys.dropFirst())
    case .array(let elements):
      let parts = elements.compactMap { $0.project(keys) }
      return parts.isEmpty ? nil : .array(parts)
    default:
      return nil
    }
  }
}
