import ArgumentParser
import MobileSync
import SalesforceSDKCommon
import SmartStore

/// `fieldforce sync diff`: what a sync up would send.
struct SyncDiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show the local changes that were not uploaded, field by field.",
    discussion: """
      Compares each unsynced record with its base version: the last one that entry
      and server had in common. Base versions are kept for soups with a sync in mode
      LEAVE_IF_CHANGED or MERGE_FIELDS; of other records, and of new ones, all
      fields are listed; of a record in conflict, only the fields in conflict. Sends
      no request. With a sync up, shows only the soup and the fields that it sends.
      Examples:
        fieldforce sync diff
        fieldforce sync diff accounts-up --json
        fieldforce sync diff --soup accounts --limit 1000
      """)

  @Argument(help: "A sync up, by name or id. Default: all soups.") var sync: String?
  @Option(help: "A soup.") var soup: String?
  @Option(help: "The most records to show.") var limit = 100
  @OptionGroup var id: IdFieldOption
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard sync == nil || soup == nil else {
      throw ValidationError("Give either a sync or --soup.")
    }
    guard (1...1_000_000).contains(limit) else {
      throw ValidationError("The limit is a number from 1 to 1000000.")
    }
  }

  func run() async throws {
    try await store.withStore { store in
      let (soups, fields) = try await scope(in: store)
      var changes: [LocalChange] = []
      for soup in soups where changes.count <= limit {
        // One more than is shown, to find out whether there are more.
        changes += try await store.localChanges(
          in: soup, limit: limit + 1 - changes.count, idField: id.idField)
      }
      let isCut = changes.count > limit
      let shown = changes.prefix(limit).map { change in
        (change, change.fields.filter { fields(change.action)?.contains($0.name) ?? true })
      }.filter { change, fields in
        // Entries that another sync uploads are not shown.
        sync == nil || change.action != .update || !change.hasBaseVersion || !fields.isEmpty
      }
      output.printStyled([
        "changes": .array(shown.map { $0.0.document(fields: $0.1) }), "more": .bool(isCut),
      ]) {
        shown.isEmpty
          ? ["nothing to upload"] : shown.flatMap { $0.0.lines(fields: $0.1, for: .output) }
      }
      if isCut, !output.json {
        Console.say("Showed the first \(counted(limit, "record")). --limit shows more.")
      }
    }
  }

  /// The soups to compare, and the fields that an action sends; nil for all.
  private func scope(
    in store: SmartStore
  ) async throws -> ([String], (SyncUpAction) -> Set<String>?) {
    guard let sync else {
      if let soup { return ([soup], { _ in nil }) }
      return (try await store.dataSoups(), { _ in nil })
    }
    let state = try await store.existingSync(sync)
    guard state.type == .syncUp else {
      throw CommandFailure(
        "notASyncUp",
        "\(sync) is a sync down and sends nothing. 'fieldforce sync list' lists the sync ups.")
    }
    let fields = { (name: String) -> Set<String>? in
      let list = state.target[name]?.array?.compactMap(\.string) ?? state.options.fieldlist
      return list.map(Set.init)
    }
    let (created, updated) = (fields("createFieldlist"), fields("updateFieldlist"))
    return ([state.soupName], { $0 == .create ? created : updated })
  }
}

extension LocalChange {
  /// `{"id", "soup", "entryId", "recordId", "action", "hasBaseVersion", "conflict", "fields": [{"name", "base",
  /// "mine"}]}`; a field without a base value has no `base`.
  fileprivate func document(fields: [Field]) -> JSONValue {
    [
      "id": .string(id), "soup": .string(soupName), "entryId": .integer(entryId),
      "recordId": recordId.map { .string($0) } ?? .null, "action": .string(action.rawValue),
      "hasBaseVersion": .bool(hasBaseVersion), "conflict": .bool(conflict != nil),
      "fields": .array(
        fields.map { field in
          var object: JSONObject = ["name": .string(field.name)]
          if let base = field.base { object["base"] = base }
          object["mine"] = field.mine
          return .object(object)
        }),
    ]
  }

  /// A line for the record, then one or two for each field, as in a unified diff.
  fileprivate func lines(fields: [Field], for terminal: Terminal) -> [String] {
    func safe(_ text: String) -> String { TerminalText.escaped(text, keepsLines: false) }
    let note =
      conflict != nil
      ? ", in conflict" : action == .update && !hasBaseVersion ? ", no base version" : ""
    let title = "\(action.rawValue) \(id) (\(recordId ?? "no id"))\(note)"
    return [terminal.styled(safe(title), .heading)]
      + fields.flatMap { field in
        (field.base.map {
          [terminal.styled(safe("  - \(field.name): \($0.text)"), .failure)]
        } ?? [])
          + [terminal.styled(safe("  + \(field.name): \(field.mine.text)"), .success)]
      }
  }
}
