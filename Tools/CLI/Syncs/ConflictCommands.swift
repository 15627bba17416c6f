import ArgumentParser
import MobileSync
import SalesforceSDKCommon

/// `fieldforce sync conflicts`: the records that wait for a decision.
struct SyncConflictsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List the records that were changed on both sides and wait for a decision.",
    discussion: "Example: fieldforce sync conflicts --soup accounts")

  @Option(help: "The soup; all soups unless one is named.") var soup: String?
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withStoreToRead { store in
      let conflicts = try await store.conflicts(in: soup)
      output.print(["conflicts": .array(conflicts.map { .object($0.json) })]) {
        conflicts.isEmpty ? ["no conflicts"] : conflicts.flatMap(\.lines)
      }
    }
  }
}

/// `fieldforce sync resolve`: decides a conflict.
struct SyncResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Resolve a conflict; the next sync up uploads the result.",
    discussion: """
      Examples: fieldforce sync resolve accounts/5 --mine
      fieldforce sync resolve accounts/5 --set Name='Both of them' Phone=null
      fieldforce sync resolve accounts/7 --record 001000000000001AAA fieldforce sync
      resolve contacts/3 --detach For a record in doubt, which was sent without a
      response: --record or --create. For a child of a tree, which cannot be
      uploaded without its parent: --detach, --recreate-parent or --theirs.
      """)

  @Argument(help: "The conflict, as 'sync conflicts' lists it: soup/entry id.") var conflict: String
  @Flag(help: "Upload the local values.") var mine = false
  @Flag(help: "Take the values of the server and drop the edit.") var theirs = false
  @Option(help: "For a create in doubt: the id of the record that it created on the server.")
  var record: String?
  @Flag(help: "For a create in doubt: create the record again.") var create = false
  @Flag(help: "For a child whose parent is missing: upload it without a parent.") var detach = false
  @Flag(help: "For a child whose parent is missing: create the parent again, with its children.")
  var recreateParent = false
  @Option(
    name: .customLong("set"), parsing: .upToNextOption,
    help: "Upload other values, FIELD=VALUE; a value is JSON or text.")
  var values: [String] = []
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let given = [mine, theirs, record != nil, create, detach, recreateParent, !values.isEmpty]
      .count { $0 }
    guard given == 1 else {
      throw ValidationError(
        "Give one of --mine, --theirs and --set FIELD=VALUE; for a record in doubt --record ID or --create; for a "
          + "child without its parent --detach, --recreate-parent or --theirs.")
    }
    _ = try FieldValues(values)
  }

  private func resolution() throws -> SyncResolution {
    if mine { return .mine }
    if theirs { return .theirs }
    if let record { return .record(record) }
    if create { return .create }
    if detach { return .detach }
    if recreateParent { return .recreateParent }
    return .values(try FieldValues(values).object)
  }

  func run() async throws {
    let resolution = try resolution()
    try await store.withStore { store in
      guard let found = try await store.conflicts().first(where: { $0.id == conflict }) else {
        throw CommandFailure(
          "noConflict",
          "\(conflict) is not in conflict. 'fieldforce sync conflicts' lists conflicts."
        )
      }
      try await store.resolve(found, resolution)
      output.print(["resolved": .string(conflict)]) { ["\(conflict) is decided"] }
    }
  }
}

extension SyncConflict {
  /// The conflict as text: a line for the record, then one for each field.
  var lines: [String] {
    let what =
      switch kind {
      case .deletedHere: "deleted locally, changed on the server"
      case .deletedThere: "changed locally, deleted on the server"
      case .changedThere: "changed on the server, whose values are not known"
      case .inDoubt where heldUntil != nil:
        "sent without a response; the server may still create it. The next 'sync up' searches again"
      case .inDoubt where candidates.isEmpty:
        "sent without a response; it is not known whether the server has it"
      case .inDoubt: "sent without a response; the server may have it"
      case .parentMissing:
        "not uploaded, because its parent \(missingParent?.recordId ?? "") "
          + (missingParent?.entryId == nil
            ? "is not in the soup \(missingParent?.soupName ?? "")" : "was deleted on the server")
      default: "changed on both sides"
      }
    if kind == .inDoubt {
      return ["\(id) (\(recordId)): \(what)"]
        + fields.map { field in
          "  \(field.name): sent \(field.base?.text ?? "-"), here \(field.mine?.text ?? "-")"
        } + candidates.map { "  may be \($0.id): \(JSONValue.object($0.values).text)" }
    }
    return ["\(id) (\(recordId)): \(what)"]
      + fields.map { field in
        func text(_ value: JSONValue?) -> String { value?.text ?? "-" }
        return "  \(field.name): was \(text(field.base)), here \(text(field.mine)), "
          + "server \(text(field.theirs))"
      }
  }
}
