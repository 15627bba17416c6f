import SalesforceSDKCommon

extension StoreStatement {
  /// Binds the value at a path in the form that an index of `type` stores.
  @inline(__always)
  func bind(_ projection: JSONProjection, as type: SoupIndexType, at position: Int) {
    switch projection {
    case .missing:
      bindNull(at: position)
    case .value(let slice):
      switch type {
      case .integer: bindInteger(slice, at: position)
      case .floating: bindDouble(slice, at: position)
      default: bindText(slice, at: position)
      }
    case .gathered:
      switch type {
      case .integer, .floating: bindNull(at: position)
      default: bind(text: projection.normalizedText, at: position)
      }
    }
  }

  private func bindText(_ slice: JSONSlice, at position: Int) {
    switch slice.kind {
    case .null: bindNull(at: position)
    case .bool: bind(slice.bool == true ? "1" : "0", at: position)
    case .number: _ = slice.withNormalizedNumber { bind($0, at: position) }
    case .array, .object: bind(slice.normalizedText, at: position)
    case .string:
      let isPlain = slice.utf8.withUnsafeBytes { text in
        guard !text.contains(UInt8(ascii: "\\")) else { return false }
        bind(UnsafeRawBufferPointer(rebasing: text[1..<(text.count - 1)]), at: position)
        return true
      }
      if !isPlain { bind(slice.string ?? "", at: position) }
    }
  }

  private func bind(text: String?, at position: Int) {
    if let text { bind(text, at: position) } else { bindNull(at: position) }
  }

  /// Binds a number without its fraction, clamped to 64 bits; a Boolean as 1 or 0, so that a
  /// Boolean key finds it; any other value as null.
  private func bindInteger(_ slice: JSONSlice, at position: Int) {
    if let value = slice.clampedInt64 {
      bind(value, at: position)
    } else if let flag = slice.bool {
      bind(Int64(flag ? 1 : 0), at: position)
    } else {
      bindNull(at: position)
    }
  }

  private func bindDouble(_ slice: JSONSlice, at position: Int) {
    if let value = slice.double {
      bind(value, at: position)
    } else if let flag = slice.bool {
      bind(Double(flag ? 1 : 0), at: position)
    } else {
      bindNull(at: position)
    }
  }
}

extension JSONProjection {
  /// Whether an index of `type` stores nothing for this value, so that no look-up could find it.
  func isEmpty(as type: SoupIndexType) -> Bool {
    switch self {
    case .missing: return true
    case .gathered: return type != .string && type != .fullText || isNullOrMissing
    case .value(let slice):
      switch type {
      case .integer: return slice.kind != .number && slice.kind != .bool
      case .floating: return slice.double == nil && slice.kind != .bool
      default: return slice.isNull
      }
    }
  }
}

/// The source of the value of a path when an entry is written.
enum PathSource: Sendable {
  /// The given entry.
  case element
  /// A member that is set for the whole batch.
  case constant(JSONProjection)
  /// The members that the store sets.
  case entryId, lastModified

  init(
    _ path: JSONPath, setting: [(key: String, value: JSONValue)], removing: [String]
  ) throws(SmartStoreError) {
    switch path.text {
    case SmartStore.soupEntryId: self = .entryId
    case SmartStore.lastModifiedDate: self = .lastModified
    default:
      let first = path.keys.first ?? ""
      if let member = setting.last(where: { MemberKey.isSame($0.key, first) }) {
        do throws(JSONError) {
          let text = try JSONValue.object([first: member.value]).serialized()
          self = .constant(try JSONSlice(parsing: text, limits: .written).project(path))
        } catch {
          throw SmartStoreError(
            .invalidEntry, "Invalid entry: a member to set cannot be written as JSON.",
            cause: error)
        }
      } else if removing.contains(where: { MemberKey.isSame($0, first) }) {
        self = .constant(.missing)
      } else {
        self = .element
      }
    }
  }
}
