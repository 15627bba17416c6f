package import SalesforceSDKCommon

/// A request of an inspector for a page of a soup's entries.
///
/// A page begins after the last entry of the previous page, not at a count of entries, so that
/// every page costs the same.
package struct InspectedEntriesRequest: Sendable {
  /// The position at which a page begins, in the direction of reading.
  package enum Start: Sendable {
    case edge
    /// After an entry.
    case after(InspectedEntryKey)
    /// At the first entry with this value of ``order``, or after it.
    case from(JSONValue)
  }

  /// The kind of an entry's local change.
  package enum State: String, Sendable {
    case created, updated, deleted
  }

  /// A condition that selects entries.
  package enum Filter: Sendable {
    case all
    /// The entries with local changes, or with one kind of local change.
    case unsynced(State?)
    /// The entries with these ids.
    case ids([Int64])
  }

  /// A text to search for.
  package struct Search: Sendable {
    package enum Match: String, Sendable { case contains, prefix, exact }

    package let text: String
    /// The path whose value is searched; nil for the whole stored text of the entry.
    package let path: String?
    package let match: Match

    package init(text: String, path: String?, match: Match) {
      self.text = text
      self.path = path
      self.match = match
    }
  }

  package var soupName: String
  /// The path to order by: `_soupEntryId`, `_soupLastModifiedDate`, `_soupCreatedDate` or an
  /// indexed path.
  package var order: String
  package var isDescending = false
  package var start = Start.edge
  package var filter = Filter.all
  package var search: Search?
  /// The maximum number of entries of the page.
  package var limit = 100
  /// The time for which entries that do not match may be read before the incomplete page is
  /// returned.
  package var patience: Duration = .milliseconds(80)

  package init(soupName: String, order: String = SmartStore.soupEntryId) {
    self.soupName = soupName
    self.order = order
  }
}

/// An entry's position in an order: the value in the order's index, and the entry id.
package struct InspectedEntryKey: Sendable, Equatable {
  let value: BoundValue
  package let id: Int64

  init(_ value: BoundValue, _ id: Int64) {
    self.value = value
    self.id = id
  }

  /// The value as a text with its kind.
  package var text: String {
    switch value {
    case .null: "n"
    case .integer(let integer): "i\(integer)"
    case .double(let double): "d\(double.bitPattern)"
    case .text(let text): "t\(text)"
    }
  }

  /// Parses a text of ``text``; nil for any other text.
  package init?(_ text: String, id: Int64) {
    let rest = text.dropFirst()
    switch text.first {
    case "n" where rest.isEmpty: value = .null
    case "i":
      guard let integer = Int64(rest) else { return nil }
      value = .integer(integer)
    case "d":
      guard let bits = UInt64(rest) else { return nil }
      value = .double(Double(bitPattern: bits))
    case "t": value = .text(String(rest))
    default: return nil
    }
    self.id = id
  }
}

/// An entry in its stored form.
package struct InspectedEntry: Sendable {
  package let id: Int64
  package let key: InspectedEntryKey
  /// The time of the last write, in milliseconds since 1970.
  package let lastModified: Int64
  /// The stored text, unparsed.
  package let text: [UInt8]
}

/// A page of entries, in the order of reading.
package struct InspectedEntries: Sendable {
  package internal(set) var entries: [InspectedEntry] = []
  /// The number of entries read, including those that do not match.
  package internal(set) var scanned = 0
  /// The position of the last entry read; nil if none was read.
  package internal(set) var last: InspectedEntryKey?
  /// Whether there are entries after ``last``.
  package internal(set) var hasMore = false
  /// Whether the page is full or the end was reached. Otherwise reading was stopped because of its
  /// duration.
  package internal(set) var isComplete = true
}

extension JSONSlice {
  /// The kind of the entry's local change; nil for a clean entry.
  package var inspectedState: InspectedEntriesRequest.State? {
    if LocalFlags.isTrue(self[LocalFlags.deleted]) { return .deleted }
    if LocalFlags.isTrue(self[LocalFlags.created]) { return .created }
    return LocalFlags.isUnsynced(self) ? .updated : nil
  }
}
