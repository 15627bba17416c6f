private import OrderedCollections

/// The members of a JSON object in their order, each key once.
///
/// Keys are compared byte for byte, as everywhere in JSON: an `é` written as one scalar and one
/// written as two are different keys. Equality and hash ignore the order, as JSON does. Finding a key
/// takes constant time.
public struct JSONObject: Sendable, Hashable {
  private var storage: OrderedDictionary<MemberKey, JSONValue>

  /// An object without members.
  public init() { storage = [:] }

  /// Creates an object from members in order. A duplicate key keeps its first position and its last
  /// value.
  public init(_ members: some Sequence<(key: String, value: JSONValue)>) {
    storage = OrderedDictionary(
      members.lazy.map { (MemberKey($0.key), $0.value) }, uniquingKeysWith: { _, last in last })
  }

  /// The value of a key. A new key goes to the end; setting nil removes the member.
  public subscript(key: String) -> JSONValue? {
    get { storage[MemberKey(key)] }
    set { storage[MemberKey(key)] = newValue }
  }

  /// The keys in order.
  public var keys: [String] { storage.keys.map(\.text) }

  /// The values in order.
  public var values: [JSONValue] { Array(storage.values) }

  /// Removes a member and returns its value, or nil if there was none. The other members keep their
  /// order; the cost grows with their number.
  @discardableResult
  public mutating func removeValue(forKey key: String) -> JSONValue? {
    storage.removeValue(forKey: MemberKey(key))
  }

  /// Reserves memory for `count` members.
  public mutating func reserveCapacity(_ count: Int) { storage.reserveCapacity(count) }

  /// Whether both have the same members, in any order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    guard left.count == right.count else { return false }
    return left.allSatisfy { right[$0.key] == $0.value }
  }

  /// Feeds the members to the hasher so that their order does not matter.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for (key, value) in self {
      var member = Hasher()
      member.combine(key)
      member.combine(value)
      sum ^= member.finalize()
    }
    hasher.combine(sum)
  }
}

extension JSONObject: RandomAccessCollection {
  /// 0.
  public var startIndex: Int { 0 }
  /// The number of members.
  public var endIndex: Int { storage.count }
  /// The member at a position in the order.
  public subscript(position: Int) -> (key: String, value: JSONValue) {
    let element = storage.elements[position]
    return (element.key.text, element.value)
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Creates an object from members in order, as `init(_:)` does.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements.lazy.map { (key: $0.0, value: $0.1) })
  }
}

/// A key of an object, compared by its bytes. `String` compares by Unicode equivalence, and would
/// treat some keys of different bytes as equal.
package struct MemberKey: Sendable, Hashable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: MemberKey, right: MemberKey) -> Bool {
    isSame(left.text, right.text)
  }

  /// Whether two keys have the same bytes.
  package static func isSame(_ left: String, _ right: String) -> Bool {
    // Every query asks this: compared where the bytes lie, not through the strings' views.
    let isSame = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in
        left.count == right.count && left.elementsEqual(right)
      }
    }
    return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension JSONObject: CustomStringConvertible {
  /// The object's compact JSON text.
  public var description: String { JSONValue.object(self).text }
}
