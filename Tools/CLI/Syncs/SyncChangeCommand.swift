import ArgumentParser
import MobileSync
import SalesforceSDKCommon
import SoqlSyncDown

/// `fieldforce sync change`: gives a sync another definition.
struct SyncChangeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "change",
    abstract: "Change the query or the target of a sync, or the fields that a sync up sends.",
    discussion: """
      Sync down: if the change only adds fields, the next run fetches only these;
      otherwise it downloads everything again. Sync up: the next run sends the
      fields of the new list, and edits that were left out before.
      Examples:
        fieldforce sync change accounts \\
          --query 'SELECT Name, Phone, Rating FROM Account'
        fieldforce sync change accounts-up --fields Name Phone Rating
      """)

  @Argument(help: "The sync's name or id.") var sync: String
  @Option(help: "A SOQL query, for a sync down.") var query: String?
  @Option(help: "Any target, as in a sync configuration file: JSON, or @FILE.")
  var target: TargetArgument?
  @Flag(help: "Move the records with jobs of the Bulk API.") var bulk = false
  @Option(parsing: .upToNextOption, help: "The fields to upload, for a sync up.")
  var fields: [String] = []
  @Option(help: "OVERWRITE, LEAVE_IF_CHANGED or MERGE_FIELDS, for a sync up.") var mergeMode:
    MergeModeArgument?
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard query == nil || target == nil else {
      throw ValidationError("Give one of --query and --target.")
    }
    guard !bulk || target == nil else {
      throw ValidationError("Give either --bulk or --target.")
    }
    guard query == nil || (fields.isEmpty && mergeMode == nil) else {
      throw ValidationError(
        "--query is for a sync down, --fields and --merge-mode are for a sync up. Change one sync at a time."
      )
    }
    guard query != nil || target != nil || bulk || !fields.isEmpty || mergeMode != nil else {
      throw ValidationError("Give --query or --target, or --fields for a sync up.")
    }
  }

  func run() async throws {
    try await store.withSyncManager { manager in
      let known = try await manager.store.existingSync(sync)
      let state =
        switch known.type {
        case .syncDown: try await changeDown(known, manager)
        case .syncUp: try await changeUp(known, manager)
        }
      output.warn(state.warnings)
      output.print(.object(state.json)) {
        let fields = state.fieldsToBackfill
        return [
          fields.isEmpty
            ? "\(sync) is changed"
            : "\(sync) is changed; the next run adds \(fields.joined(separator: ", "))"
        ]
      }
    }
  }

  private func changeDown(_ known: SyncState, _ manager: SyncManager) async throws -> SyncState {
    guard fields.isEmpty, mergeMode == nil, query != nil || target != nil else {
      throw SyncError(
        .invalidTarget,
        "\(sync) is a sync down, which has no list of fields to upload and keeps its merge mode. Give --query or "
          + "--target.")
    }
    let json =
      if let target {
        target.json
      } else if bulk {
        ["type": "bulk", "query": .string(query ?? "")] as JSONObject
      } else {
        try SoqlSyncDownTarget(query: query ?? "").json
      }
    return try await manager.changeSyncDown(forId: known.id, toTargetJSON: json)
  }

  private func changeUp(_ known: SyncState, _ manager: SyncManager) async throws -> SyncState {
    guard query == nil else {
      throw SyncError(
        .invalidTarget, "\(sync) is a sync up, which has no query. Give --fields or --target.")
    }
    var options = known.options
    let list = fields.flatMap { $0.split(separator: ",").map(String.init) }
    if !list.isEmpty { options.fieldlist = list }
    if let mergeMode { options.mergeMode = mergeMode.mode }
    return try await manager.changeSyncUp(
      forId: known.id, toTargetJSON: target?.json ?? (bulk ? ["type": "bulk"] : nil),
      options: options)
  }
}
