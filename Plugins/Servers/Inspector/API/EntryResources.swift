import MobileSync
import SalesforceSDKCommon
import SmartStore

// One entry, its texts, and the undoing of its edits. Pages of entries are in EntryPages.swift.
extension InspectorResources {
  static let entryRoutes: [InspectorRoute] = [
    ("GET", "stores/*/soups/*/entries", { me, call, ids in try await me.entries(ids, call) }),
    ("GET", "stores/*/soups/*/entries/*", { me, _, ids in try await me.entry(ids) }),
    ("GET", "stores/*/soups/*/entries/*/json", { me, _, ids in try await me.wholeEntry(ids) }),
    (
      "GET", "stores/*/soups/*/entries/*/text",
      { me, call, ids in .json(try await me.textPart(ids, call)) }
    ),
    ("POST", "stores/*/soups/*/entries/*/undo", { me, _, ids in .json(try await me.undo(ids)) }),
  ]

  /// An entry with its place.
  private struct Found: Sendable {
    let opened: InspectedStores.Opened
    let soupName: String
    let entry: InspectedEntry

    /// - Throws: `SmartStoreError` `corrupt`.
    func parsed() throws -> JSONSlice {
      do {
        return try JSONSlice(
          parsing: entry.text, limits: JSONLimits(maxDepth: JSONLimits.greatestDepth))
      } catch {
        throw SmartStoreError(
          .corrupt,
          "Entry \(entry.id) of soup '\(soupName)' is no JSON. 'Download' gives its bytes.",
          cause: error)
      }
    }
  }

  /// - Parameter ids: Of the store, the soup and the entry.
  private func found(_ ids: [String]) async throws -> Found {
    let opened = try await stores.open(ids[0])
    let (name, entry) = try await opened.store.read { reader in
      let name = try Self.soupName(ids[1], in: reader)
      let digits = ids[2].utf8.allSatisfy { (0x30...0x39).contains($0) }
      let id = digits ? Int64(ids[2]) : nil
      return (name, try id.flatMap { try reader.inspectedEntry($0, ofSoupNamed: name) })
    }
    guard let entry else {
      throw InspectorFailure(
        "noSuchEntry", "Soup '\(name)' has no entry \(ids[2].prefix(20)). Reload the soup.")
    }
    return Found(opened: opened, soupName: name, entry: entry)
  }

  private func entry(_ ids: [String]) async throws -> InspectorReply {
    let found = try await found(ids)
    let parsed = try found.parsed()
    let recordId = parsed["Id"]?.string
    let record = try await found.opened.store.inspectedRecord(
      entryId: found.entry.id, recordId: recordId, in: found.soupName)
    var cutter = TextCutter(limit: limits.textCharacters)
    let text = cutter.cut(found.entry.text, at: "/entry")
    let isTooLarge = text.count > limits.entryBytes
    if isTooLarge { cutter = TextCutter(limit: limits.textCharacters) }
    let base = record.base.map { cutter.cut(Array($0.utf8), at: "/base") }
    var writer = JSONWriter(capacity: text.count + 1024)
    writer.beginObject()
    try writer.member("id", .integer(found.entry.id))
    try writer.member("bytes", .integer(Int64(found.entry.text.count)))
    try writer.member("state", parsed.inspectedState.map { .string($0.rawValue) } ?? .null)
    try writer.member("recordId", recordId.map { .string($0) } ?? .null)
    writer.key("entry")
    if isTooLarge { writer.null() } else { writer.raw(JSONSlice(trusting: text)) }
    if isTooLarge { try writer.member("tooLarge", true) }
    writer.key("base")
    if let base { writer.raw(JSONSlice(trusting: base)) } else { writer.null() }
    try writer.member("conflict", record.conflict.map { Self.document(of: $0) } ?? .null)
    try writer.member("outcome", record.outcome.map { Self.document(of: $0) } ?? .null)
    try writer.member("cut", cutter.cuts.document)
    writer.endObject()
    return .document(status: 200, headers: [], bytes: writer.bytes)
  }

  private func wholeEntry(_ ids: [String]) async throws -> InspectorReply {
    let entry = try await found(ids).entry
    let name = "attachment; filename=\"entry-\(entry.id).json\""
    return .document(status: 200, headers: [("Content-Disposition", name)], bytes: entry.text)
  }

  private func textPart(_ ids: [String], _ call: InspectorCall) async throws -> JSONValue {
    try call.parameters.check("pointer", "from", "length")
    let from = try call.parameters.number("from", in: 0...Int(Int32.max), default: 0)
    let length = try call.parameters.number("length", in: 0...Int(Int32.max), default: 65_536)
    var value: JSONSlice? = try await found(ids).parsed()
    let steps = (call.parameters["pointer"] ?? "").split(
      separator: "/", omittingEmptySubsequences: false)
    for step in steps.dropFirst() {
      let name = step.replacing("~1", with: "/").replacing("~0", with: "~")
      value =
        value?.kind == .array ? Int(name).flatMap { value?[$0] } : value?[String(name)]
    }
    guard let text = value?.string else {
      throw InspectorFailure("notFound", "There is no text at this pointer. Reload the entry.")
    }
    let scalars = text.unicodeScalars
    let part = scalars.dropFirst(from).prefix(min(length, 1 << 18))
    return [
      "from": .integer(Int64(from)), "text": .string(String(String.UnicodeScalarView(part))),
      "characters": .integer(Int64(scalars.count)),
    ]
  }

  private func undo(_ ids: [String]) async throws -> JSONValue {
    try checkWritable()
    let found = try await found(ids)
    guard let recordId = try found.parsed()["Id"]?.string else {
      throw InspectorFailure(
        "cannotUndo",
        "Cannot undo the edit of entry \(found.entry.id) in soup '\(found.soupName)': it has no Id."
      )
    }
    try await stores.write(to: ids[0]) { store in
      try await store.undoEdit(id: recordId, in: found.soupName)
    }
    hub.sendChange(store: found.opened.id, soups: [found.soupName])
    return ["undone": .integer(found.entry.id)]
  }

  /// The form of an outcome in lists.
  static func document(of outcome: SyncRecordOutcome) -> JSONValue {
    var document = outcome.document
    document["time"] = .integer(outcome.time)
    document["syncId"] = .integer(outcome.syncId)
    return document
  }
}
