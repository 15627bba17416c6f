import MobileSync
import SalesforceSDKCommon
import SmartStore

// Pages of entries.
extension InspectorResources {
  /// A request for a page, as its parameters say.
  private struct Query: Sendable {
    var request: InspectedEntriesRequest
    /// Whether the page is read against the order.
    var isBackwards = false
    var wantsConflicts = false
    var part: Double?
    let columns: [String]
    /// The query that the page's cursors belong to.
    let text: String
    private let cursor: Cursor?

    init(
      _ parameters: Parameters, soupName: String, _ limits: InspectorLimits,
      in reader: borrowing StoreReader
    ) throws {
      try parameters.check(
        "order", "direction", "edge", "at", "from", "columns", "state", "search", "path", "match",
        "limit", "after", "before")
      request = InspectedEntriesRequest(
        soupName: soupName, order: parameters["order"] ?? SmartStore.soupEntryId)
      request.limit = try parameters.number("limit", in: 1...limits.pageEntries, default: 100)
      request.patience = limits.searchTime
      let direction = try parameters.word("direction", of: ["ascending", "descending"])
      let state = try parameters.word(
        "state", of: ["unsynced", "created", "updated", "deleted", "conflict"])
      let match = try parameters.word("match", of: ["contains", "prefix", "exact"]) ?? "contains"
      let edge = try parameters.word("edge", of: ["start", "end"])
      if let search = parameters["search"] {
        request.search = .init(
          text: search, path: parameters["path"],
          match: InspectedEntriesRequest.Search.Match(rawValue: match) ?? .contains)
      }
      switch state {
      case nil: break
      case "conflict": wantsConflicts = true
      case let state?:
        request.filter = .unsynced(InspectedEntriesRequest.State(rawValue: state))
      }
      let indexed = try reader.indices(forSoupNamed: soupName).map(\.path)
      columns = parameters["columns"].map(Self.paths) ?? Array(indexed.prefix(20))
      guard columns.count <= 20 else {
        throw InspectorFailure("invalidRequest", "At most 20 columns can be requested.")
      }
      text =
        JSONValue.array(
          [
            soupName, request.order, direction ?? "ascending", state ?? "",
            parameters["search"] ?? "", parameters["path"] ?? "", match,
          ].map { .string($0) }
        ).text
      let after = parameters["after"]
      isBackwards = after == nil && (parameters["before"] != nil || edge == "end")
      request.isDescending = (direction == "descending") != isBackwards
      let query = text
      cursor = try (after ?? parameters["before"]).map { try Cursor($0, of: query) }
      if cursor != nil { return }
      if let from = parameters["from"] {
        request.start = .from(try Self.value(from, of: request.order, soupName, in: reader))
      }
      if let at = parameters["at"] {
        guard let part = Double(at), (0...1).contains(part), state == nil, request.search == nil,
          request.order == SmartStore.soupEntryId
        else {
          throw InspectorFailure(
            "invalidRequest",
            "The parameter 'at' is a number from 0 to 1, in the order of entry ids and without a filter."
          )
        }
        self.part = part
      }
    }

    /// The paths of a comma-separated list in which a backslash precedes commas and backslashes.
    private static func paths(_ text: String) -> [String] {
      var paths = [""]
      var isEscaped = false
      for character in text {
        if isEscaped || (character != "\\" && character != ",") {
          paths[paths.count - 1].append(character)
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else {
          paths.append("")
        }
      }
      return paths.filter { !$0.isEmpty }
    }

    /// A text as a value of the order's index.
    private static func value(
      _ text: String, of order: String, _ soupName: String, in reader: borrowing StoreReader
    ) throws -> JSONValue {
      let type = try reader.indices(forSoupNamed: soupName).last { $0.path == order }?.type
      let isNumber = order.hasPrefix("_soup") || type == .integer || type == .floating
      guard isNumber else { return .string(text) }
      guard let number = try? JSONSlice(parsing: text), number.kind == .number else {
        throw InspectorFailure("invalidRequest", "'\(order)' holds numbers. Give a number.")
      }
      return number.value
    }

    /// Whether the page may lie inside of the soup.
    var isInside: Bool {
      if case .edge = request.start { return false }
      return true
    }

    /// Sets the place where the page begins, which stands in the soup.
    mutating func start(in reader: borrowing StoreReader) throws {
      if let cursor {
        let name = request.soupName
        let key =
          cursor.place.isEmpty
          ? try reader.inspectedKey(ofEntry: cursor.number, ofSoupNamed: name, order: request.order)
          : InspectedEntryKey(cursor.place, id: cursor.number)
        guard let key else { throw Cursor.foreign }
        request.start = .after(key)
      } else if let part {
        guard let id = try reader.inspectedId(at: part, ofSoupNamed: request.soupName) else {
          return
        }
        request.start = .from(.integer(id))
      }
    }
  }

  private struct Page: Sendable {
    var found: InspectedEntries
    var hasEntriesBefore: Bool
    let total: Int64?
    let query: Query
  }

  func entries(_ ids: [String], _ call: InspectorCall) async throws -> InspectorReply {
    let opened = try await stores.open(ids[0])
    let store = opened.store
    var conflicts: [Int64]?
    if call.parameters["state"] == "conflict" {
      let name = try await store.read { try Self.soupName(ids[1], in: $0) }
      conflicts = try await store.conflicts(in: name).map(\.entryId)
    }
    let page = try await withTimeLimit(limits.queryTime) { [limits, conflicts] in
      try await store.read { reader in
        let name = try Self.soupName(ids[1], in: reader)
        var query = try Query(call.parameters, soupName: name, limits, in: reader)
        if query.wantsConflicts { query.request.filter = .ids(conflicts ?? []) }
        try query.start(in: reader)
        return try self.page(query, store: opened.id, in: reader)
      }
    }
    let kinds = try await store.conflictKinds(
      of: page.found.entries.map(\.id), in: page.query.request.soupName)
    return .document(status: 200, headers: [], bytes: try write(page, kinds))
  }

  private func page(
    _ query: Query, store: String, in reader: borrowing StoreReader
  ) throws -> Page {
    let found = try reader.inspectedEntries(query.request)
    // Behind a cursor there is an entry at least when it was made.
    var hasEntriesBefore = query.isInside
    if case .from = query.request.start {
      var back = query.request
      back.isDescending.toggle()
      back.limit = 1
      back.search = nil
      if let first = found.entries.first {
        back.start = .after(first.key)
        hasEntriesBefore = try !reader.inspectedEntries(back).entries.isEmpty
      }
    }
    return Page(
      found: found, hasEntriesBefore: hasEntriesBefore,
      total: try total(query, store: store, in: reader),
      query: query)
  }

  /// The number of entries that match; nil where they would have to be read.
  private func total(
    _ query: Query, store: String, in reader: borrowing StoreReader
  ) throws -> Int64? {
    guard query.request.search == nil else { return nil }
    switch query.request.filter {
    case .ids(let ids): return Int64(ids.count)
    case .all:
      return try counts.count(
        of: query.request.soupName, store: store, isFirst: !query.isInside, in: reader)
    case .unsynced(nil):
      return try reader.inspectedUnsynced(ofSoupNamed: query.request.soupName, limit: Self.maxRead)
        .map { Int64($0) }
    case .unsynced: return nil
    }
  }

  private func write(_ page: Page, _ kinds: [Int64: SyncConflict.Kind]) throws -> [UInt8] {
    let query = page.query
    let entries = query.isBackwards ? page.found.entries.reversed() : page.found.entries
    // Reading continues behind the last entry read, which a search may not have shown.
    let onward =
      page.found.hasMore ? page.found.last.map { Cursor.text(query.text, $0) } : nil
    let first = page.found.entries.first
    let back =
      page.hasEntriesBefore ? first.map { Cursor.text(query.text, $0.key) } : nil
    let (next, previous) = query.isBackwards ? (back, onward) : (onward, back)
    let paths = query.columns.map { JSONPath($0) }
    var cutter = TextCutter(limit: limits.cellCharacters)
    var writer = JSONWriter(capacity: 64 << 10)
    writer.beginObject()
    try writer.member("columns", .array(query.columns.map { .string($0) }))
    try writer.member("total", page.total.map { .integer($0) } ?? .null)
    try writer.member("scanned", .integer(Int64(page.found.scanned)))
    try writer.member("complete", .bool(page.found.isComplete))
    try writer.member("next", next.map { .string($0) } ?? .null)
    try writer.member("previous", previous.map { .string($0) } ?? .null)
    writer.key("entries")
    writer.beginArray()
    for (position, entry) in entries.enumerated() {
      // One that is not JSON has no values.
      let parsed = try? JSONSlice(
        parsing: entry.text, limits: JSONLimits(maxDepth: JSONLimits.greatestDepth))
      writer.beginObject()
      try writer.member("id", .integer(entry.id))
      try writer.member("bytes", .integer(Int64(entry.text.count)))
      try writer.member("lastModified", .integer(entry.lastModified))
      try writer.member("state", parsed?.inspectedState.map { .string($0.rawValue) } ?? .null)
      try writer.member("conflict", kinds[entry.id].map { .string($0.rawValue) } ?? .null)
      writer.key("values")
      writer.beginArray()
      for (column, path) in paths.enumerated() {
        let value = parsed?.project(path) ?? .missing
        let text = cutter.cell(value, at: "/entries/\(position)/values/\(column)")
        writer.raw(JSONSlice(trusting: text))
      }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
    try writer.member("cut", cutter.cuts.document)
    writer.endObject()
    return writer.bytes
  }
}
