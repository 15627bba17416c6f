package import SalesforceSDKCommon

/// A page of a soup's entries that an inspector requests.
///
/// A page begins behind the last entry of another, never at a count of entries, so that it costs the same
/// at any depth.
package struct InspectedEntriesRequest: Sendable {
  /// Where the page begins, in the direction of reading.
  package enum Start: Sendable {
    case edge
    /// Behind an entry.
    case after(InspectedEntryKey)
    /// At the first entry with this value of ``order``, or one behind it.
    case from(JSONValue)
  }

  /// What an entry says of its own local changes.
  package enum State: String, Sendable {
    case created, updated, deleted
  }

  /// Which entries are wanted.
  package enum Filter: Sendable {
    case all
    /// Those with local changes, or with one kind of these.
    case unsynced(State?)
    /// Those with these ids.
    case ids([Int64])
  }

  /// A text that is searched for.
  package struct Search: Sendable {
    package enum Match: String, Sendable { case contains, prefix, exact }

    package let text: String
    /// The path whose value is searched; nil: the whole entry, as it is stored.
    package let path: String?
    package let match: Match

    package init(text: String, path: String?, match: Match) {
      self.text = text
      self.path = path
      self.match = match
    }
  }

  package var soupName: String
  /// `_soupEntryId`, `_soupLastModifiedDate`, `_soupCreatedDate` or an indexed path.
  package var order: String
  package var isDescending = false
  package var start = Start.edge
  package var filter = Filter.all
  package var search: Search?
  /// The most entries of the page.
  package var limit = 100
  /// How long entries that do not match may be read before the page is given as it is.
  package var patience: Duration = .milliseconds(80)

  package init(soupName: String, order: String = SmartStore.soupEntryId) {
    self.soupName = soupName
    self.order = order
  }
}

/// An entry's place in an order: the value that the order's index has of it, and its id.
package struct InspectedEntryKey: Sendable, Equatable {
  let value: BoundValue
  package let id: Int64

  init(_ value: BoundValue, _ id: Int64) {
    self.value = value
    self.id = id
  }

  /// The value as a text: its kind and itself.
  package var text: String {
    switch value {
    case .null: "n"
    case .integer(let integer): "i\(integer)"
    case .double(let double): "d\(double.bitPattern)"
    case .text(let text): "t\(text)"
    }
  }

  /// Reads a text that ``text`` gave; nil if it is none.
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

/// An entry as it is stored.
package struct InspectedEntry: Sendable {
  package let id: Int64
  package let key: InspectedEntryKey
  /// Milliseconds since 1970.
  package let lastModified: Int64
  /// The stored text, unparsed.
  package let text: [UInt8]
}

/// A page of entries, in the order of reading.
package struct InspectedEntries: Sendable {
  package internal(set) var entries: [InspectedEntry] = []
  /// The number of entries read, those that do not match included.
  package internal(set) var scanned = 0
  /// The place of the last entry read; nil if none was.
  package internal(set) var last: InspectedEntryKey?
  /// Whether there are entries behind ``last``.
  package internal(set) var hasMore = false
  /// Whether the page is full or the end was reached. Otherwise reading was ended because it took too long.
  package internal(set) var isComplete = true
}

extension JSONSlice {
  /// What the entry says of its own local changes; nil for a clean one.
  package var inspectedState: InspectedEntriesRequest.State? {
    if LocalFlags.isTrue(self[LocalFlags.deleted]) { return .deleted }
    if LocalFlags.isTrue(self[LocalFlags.created]) { return .created }
    return LocalFlags.isUnsynced(self) ? .updated : nil
  }
}
