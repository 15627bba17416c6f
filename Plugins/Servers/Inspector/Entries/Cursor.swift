import SalesforceSDKCommon
import SmartStore

/// The last place of a page, with the query that it belongs to, as an opaque text.
struct Cursor {
  /// The longest value that stands in a cursor; a longer one is read from its entry again.
  private static let maxValueBytes = 500

  let place: String
  let number: Int64

  /// Creates the text of a cursor.
  static func text(_ query: String, place: String, number: Int64 = 0) -> String {
    let members: JSONObject = [
      "q": .string(mark(query)), "p": .string(place), "n": .integer(number),
    ]
    return Base64URL.encode(JSONValue.object(members).text.utf8)
  }

  /// Creates the text of a cursor behind an entry.
  static func text(_ query: String, _ key: InspectedEntryKey) -> String {
    let place = key.text
    return text(query, place: place.utf8.count > maxValueBytes ? "" : place, number: key.id)
  }

  /// - Throws: ``InspectorFailure`` `invalidCursor`.
  init(_ text: String, of query: String) throws(InspectorFailure) {
    guard let bytes = Base64URL.decode(text), let json = try? JSONSlice(parsing: bytes),
      json["q"]?.string == Self.mark(query), let place = json["p"]?.string,
      let number = json["n"]?.int64
    else { throw Self.foreign }
    self.place = place
    self.number = number
  }

  static var foreign: InspectorFailure {
    InspectorFailure(
      "invalidCursor", "The cursor belongs to another query. Begin at the first page.")
  }

  private static func mark(_ query: String) -> String {
    String(Digests.sha256Hex(query).prefix(16))
  }
}

/// A page of a list that is in memory.
struct ListPage<Item> {
  let items: [Item]
  let next: String?
  let previous: String?

  /// - Parameters:
  ///   - query: The query of the cursors.
  ///   - key: A text that is an item's own.
  init(
    _ all: [Item], _ parameters: Parameters, _ query: String, limits: InspectorLimits,
    key: (Item) -> String
  ) throws(InspectorFailure) {
    let limit = try parameters.number("limit", in: 1...limits.pageEntries, default: 100)
    var range = 0..<min(limit, all.count)
    if let after = parameters["after"] {
      let place = try Cursor(after, of: query).place
      guard let index = all.firstIndex(where: { key($0) == place }) else { throw Cursor.foreign }
      range = index + 1..<min(index + 1 + limit, all.count)
    } else if let before = parameters["before"] {
      let place = try Cursor(before, of: query).place
      guard let index = all.firstIndex(where: { key($0) == place }) else { throw Cursor.foreign }
      range = max(index - limit, 0)..<index
    }
    items = Array(all[range])
    next =
      range.upperBound < all.count ? items.last.map { Cursor.text(query, place: key($0)) } : nil
    previous = range.lowerBound > 0 ? items.first.map { Cursor.text(query, place: key($0)) } : nil
  }

  /// The members of a response besides the items.
  var cursors: JSONObject {
    [
      "next": next.map { .string($0) } ?? .null, "previous": previous.map { .string($0) } ?? .null,
    ]
  }
}
