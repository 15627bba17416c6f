import SalesforceSDKCommon

/// The interpretation of a path by SQLite's JSON functions.
enum SQLitePath: Equatable {
  /// The names between the dots, as everywhere in a store.
  case names
  /// Names, some of them followed by the position of an array's item, such as `lines[0].sku`.
  case items
  /// Something other than those names, or an error.
  case unreadable

  init(_ path: String) {
    var isPlain = true
    for byte in path.utf8 where byte < 0x20 || byte == 0x22 || byte == 0x5b || byte == 0x5c {
      isPlain = false
      if byte != 0x5b {
        self = .unreadable
        return
      }
    }
    let keys = path.split(separator: ".", omittingEmptySubsequences: false)
    if keys.contains(where: \.isEmpty) {
      self = .unreadable
    } else if isPlain {
      self = .names
    } else {
      self =
        keys.allSatisfy { $0.wholeMatch(of: /[^\[]+(\[(\d+|#(-\d+)?)\])*/) != nil }
        ? .items : .unreadable
    }
  }
}

extension JSONValue {
  /// Whether SQLite up to 3.44 reads such a value in an entry's text differently: it ends a text at
  /// a NUL, has no replacement for half of a surrogate pair, and returns arrays and objects as they
  /// are written.
  var isUnreadableForSQLite: Bool {
    switch self {
    case .array, .object: true
    case .string(let text):
      text.utf8.contains { $0 == 0 || $0 == 0xef }
        && text.unicodeScalars.contains { $0 == "\0" || $0 == "\u{fffd}" }
    default: false
    }
  }
}
