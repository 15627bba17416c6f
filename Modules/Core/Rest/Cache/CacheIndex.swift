import SalesforceSDKCommon

/// The sizes of a user's stored responses, in the order of their last use: decides what has to go.
///
/// JSON: `[["https://…", 512], …]`, least recently used first.
struct CacheIndex: Equatable {
  /// The largest size that is read, 1 TiB: the sum of all sizes then never overflows.
  private static let maxSize: Int64 = 1 << 40
  private var sizes: [String: Int] = [:]
  private var order: [String] = []

  init() {}

  /// Reads the JSON form; elements of another shape are left out.
  init(_ bytes: [UInt8]) {
    guard let json = try? JSONSlice(parsing: bytes) else { return }
    for element in json.elements {
      guard let key = element[0]?.string, let size = element[1]?.int64,
        (0...Self.maxSize).contains(size)
      else { continue }
      insert(key, size: Int(clamping: size))
    }
  }

  var bytes: [UInt8] {
    let list: [JSONValue] = order.map { [.string($0), .integer(Int64(sizes[$0] ?? 0))] }
    return Array(JSONValue.array(list).text.utf8)
  }

  /// The addresses, least recently used first.
  var keys: [String] { order }

  /// The sum of all sizes in bytes.
  var totalBytes: Int { sizes.values.reduce(0, +) }

  /// Adds or replaces an address, as the one that was used last.
  mutating func insert(_ key: String, size: Int) {
    remove(key)
    sizes[key] = size
    order.append(key)
  }

  mutating func remove(_ key: String) {
    guard sizes.removeValue(forKey: key) != nil else { return }
    order.removeAll { $0 == key }
  }

  /// Notes a use.
  mutating func touch(_ key: String) {
    guard let size = sizes[key] else { return }
    insert(key, size: size)
  }

  /// Removes the least recently used addresses until the sum of the sizes is at most `limit`, and returns them.
  mutating func evict(to limit: Int) -> [String] {
    var total = totalBytes
    var removed: [String] = []
    while total > limit, let first = order.first {
      total -= sizes[first] ?? 0
      remove(first)
      removed.append(first)
    }
    return removed
  }
}
