import SalesforceSDKCommon

/// A path as ``SoupValueFunction`` follows it: the names between the dots, as everywhere in a store, or, where they lead
/// to nothing, names followed by the positions of items, such as `lines[0].sku` or `lines[#-1]`.
final class SoupValuePath {
  private enum Step {
    case member(String)
    case item(Int)
    /// Counted from the end: 1 is the last item.
    case itemFromEnd(Int)
  }

  private let keys: [String]
  /// The steps with items; nil if the path names none.
  private let steps: [Step]?

  init(_ path: String) {
    keys = JSONPath(path).keys
    steps = path.utf8.contains(UInt8(ascii: "[")) ? Self.steps(keys) : nil
  }

  /// The value in an entry; nil if there is none or it is null.
  func value(in entry: JSONSlice) -> JSONSlice? {
    var found: JSONSlice? = entry
    for key in keys { found = found?[key] }
    if let found, !found.isNull { return found }
    guard let steps else { return nil }
    found = entry
    for step in steps {
      switch step {
      case .member(let name): found = found?[name]
      case .item(let position): found = found?[position]
      case .itemFromEnd(let position): found = found.flatMap { $0[$0.count - position] }
      }
    }
    return found
  }

  private static func steps(_ keys: [String]) -> [Step]? {
    var steps: [Step] = []
    for key in keys {
      guard let parts = key.wholeMatch(of: /([^\[]+)((?:\[(?:[0-9]+|#(?:-[0-9]+)?)\])*)/) else {
        return nil
      }
      steps.append(.member(String(parts.1)))
      for item in parts.2.matches(of: /\[(#-?)?([0-9]*)\]/) {
        let position = Int(item.2)
        switch (item.1, position) {
        case (nil, let position?): steps.append(.item(position))
        // `[#]` is the place behind the last item.
        case (_, let position): steps.append(.itemFromEnd(position ?? 0))
        }
      }
    }
    return steps
  }
}
