import SmartStore

/// What an index keeps of a value, as the specification says, so that two can be compared.
enum KeptValue: Equatable {
  case text(String)
  case integer(Int64)
  case double(Double)

  static func == (left: KeptValue, right: KeptValue) -> Bool {
    switch (left, right) {
    case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)):
      Int64(exactly: b) == a
    default: false
    }
  }

  /// What an index of `type` keeps of the value at a path; with no type, what a path without an index
  /// gives.
  init?(_ element: SpelledValue, _ path: [String], _ type: SoupIndexType?) {
    switch type {
    case .string?, .fullText?:
      guard let value = element.projected(path[...]) else { return nil }
      self = .text(value.indexText)
    case .integer?:
      switch element.projected(path[...]) {
      case .number(let number): self = .integer(number.truncated)
      case .bool(let flag): self = .integer(flag ? 1 : 0)
      default: return nil
      }
    case .floating?:
      switch element.projected(path[...]) {
      case .number(let number) where number.double.isFinite: self = .double(number.double)
      case .bool(let flag): self = .double(flag ? 1 : 0)
      default: return nil
      }
    default:
      guard let value = element.extracted(path[...]) else { return nil }
      self.init(typed: value)
    }
  }

  /// A key for values of `type`; nil if it equals none of them.
  init?(key: SpelledValue, _ type: SoupIndexType?) {
    switch (type, key) {
    case (.string?, _), (.fullText?, _): self = .text(key.indexText)
    case (.floating?, .number(let number)): self = .double(number.double)
    case (.integer?, .number(let number)):
      guard let integer = number.int64 else { return nil }
      self = .integer(integer)
    default: self.init(typed: key)
    }
  }

  /// The value at a path of an element, whatever the index keeps of it; nil if the index keeps nothing.
  init?(whole element: SpelledValue, _ path: [String], _ type: SoupIndexType?) {
    guard KeptValue(element, path, type) != nil, let value = element.extracted(path[...]) else {
      return nil
    }
    self.init(typed: value)
  }

  /// Whether an index of `type` says too little about a key, so that the whole value decides.
  static func isWhole(_ key: SpelledValue, _ type: SoupIndexType?) -> Bool {
    guard case .number(let number) = key else { return false }
    let isWide = !(number.double.magnitude < 9_007_199_254_740_992)
    return type == .integer ? isWide || number.int64 == nil : type == .floating && isWide
  }

  /// A value that keeps its JSON type.
  init(typed value: SpelledValue) {
    switch value {
    case .bool(let flag): self = .integer(flag ? 1 : 0)
    case .number(let number):
      self = number.int64.map { .integer($0) } ?? .double(number.double)
    default: self = .text(value.indexText)
    }
  }
}

extension SpelledValue {
  /// The text that a string index keeps.
  var indexText: String {
    switch self {
    case .bool(let flag): flag ? "1" : "0"
    case .text(let text): text
    default: compactText
    }
  }
}

extension KeptValue {
  /// Whether this is the smaller one, as SQLite orders: numbers before texts, texts by their bytes.
  func precedes(_ other: KeptValue) -> Bool {
    switch (self, other) {
    case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.text, _): false
    case (_, .text): true
    case (.integer(let a), .integer(let b)): a < b
    case (.double(let a), .double(let b)): a < b
    case (.integer(let a), .double(let b)): Self.precedes(a, b)
    case (.double(let a), .integer(let b)):
      a != Double(b) ? a < Double(b) : Int64(exactly: a).map { $0 < b } ?? false
    }
  }

  private static func precedes(_ integer: Int64, _ double: Double) -> Bool {
    Double(integer) != double
      ? Double(integer) < double : Int64(exactly: double).map { integer < $0 } ?? true
  }
}
