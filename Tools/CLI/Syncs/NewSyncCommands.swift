import ArgumentParser
import Foundation
import MobileSync
import SalesforceSDKCommon
import SoqlSyncDown

/// A merge mode as an argument, in capitals or not.
struct MergeModeArgument: ExpressibleByArgument {
  let mode: SyncMergeMode

  init?(argument: String) {
    guard let mode = SyncMergeMode(rawValue: argument.uppercased()) else { return nil }
    self.mode = mode
  }

  static var allValueStrings: [String] {
    [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields].map(\.rawValue)
  }

  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// The options of all commands that create a sync.
struct NewSyncOptions: ParsableArguments {
  @Option(help: "The soup.") var soup: String
  @Option(help: "OVERWRITE (the default), LEAVE_IF_CHANGED or MERGE_FIELDS.") var mergeMode:
    MergeModeArgument?
  @Option(help: "The name of the sync, to run it again.") var name: String?

  /// The requested mode, or the default.
  var mode: SyncMergeMode { mergeMode?.mode ?? .overwrite }
}

/// A target in JSON, as the argument itself or in a file.
struct TargetArgument: ExpressibleByArgument {
  let json: JSONObject

  init?(argument: String) {
    let text = argument.hasPrefix("@") ? try? Self.text(ofFile: argument.dropFirst()) : argument
    guard let json = text.flatMap({ try? JSONValue(parsing: $0).object }) else { return nil }
    self.json = json
  }

  private static func text(ofFile path: Substring) throws -> String {
    String(decoding: try InputFile.read(URL(filePath: String(path))), as: UTF8.self)
  }
}

/// The records that a sync down downloads.
struct DownTargetOptions: ParsableArguments {
  @Option(help: "A SOQL query.") var query: String?
  @Option(
    help: ArgumentHelp(
      "Any target, as in a sync configuration file: JSON, or @FILE.",
      discussion: #"Such as '{"type": "briefcase", "infos": [...]}'."#)) var target: TargetArgument?
  @Flag(help: "Download the records with a job of the Bulk API: for 50,000 and more.")
  var bulk = false

  func validate() throws {
    guard !bulk || query != nil else { throw ValidationError("Give a --query with --bulk.") }
    guard [query != nil, target != nil].count(where: { $0 }) == 1 else {
      throw ValidationError("Give one of --query and --target.")
    }
  }

  /// The target in JSON.
  func json() throws -> JSONObject {
    if let target { return target.json }
    if bulk { return ["type": "bulk", "query": .string(query ?? "")] }
    return try SoqlSyncDownTarget(query: query ?? "").json
  }
}

/// `fieldforce sync down`: makes a sync down and runs it.
struct SyncDownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "down",
    abstract: "Download the records of a query, or of any other target, into a soup.",
    discussion: """
      The soup needs indexes on Id and __local__; an index on __sync_id__ (integer)
      is recommended. The same command runs the same sync again. A sync that ended
      before it downloaded a record is replaced by the next sync of its name.
      Example:
        fieldforce sync down --soup accounts --query 'SELECT Name FROM Account' \\
          --name accounts
      """)

  @OptionGroup var target: DownTargetOptions
  @Option(
    help:
      "Seconds before the last download that each run requests again, for late commits. Default: 0."
  )
  var lateWindow: Double = 0
  @OptionGroup var sync: NewSyncOptions
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard lateWindow >= 0, lateWindow <= 1_000_000_000 else {
      throw ValidationError("--late-window must be a number of seconds, 0 or more.")
    }
  }

  func run() async throws {
    let target = try target.json()
    try await store.withSyncManager { manager in
      let new = try manager.newDown(
        target, SyncOptions(mergeMode: sync.mode, lateCommitWindow: .seconds(lateWindow)),
        sync.soup, sync.name)
      try await manager.followNew(try await manager.startOrResume(new), output)
    }
  }
}

/// `fieldforce sync up`: makes a sync up and runs it.
struct SyncUpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up", abstract: "Upload the changed records of a soup.",
    discussion: """
      Ends with 3 if some records were refused, are in conflict or wait; 'sync
      outcomes' lists them. The same command runs the same sync again.
      Example:
        fieldforce sync up --soup accounts --fields Name Phone \\
          --merge-mode LEAVE_IF_CHANGED
      """)

  @Option(
    parsing: .upToNextOption,
    help: "The fields to upload, unless the target has its own field lists.")
  var fields: [String] = []
  @Option(
    help:
      "A target as in a sync configuration file: JSON, or @FILE. Default: the collection target.")
  var target: TargetArgument?
  @Flag(
    help: ArgumentHelp(
      "Send the records with jobs of the Bulk API: for 10,000 and more.",
      discussion: """
        Fewer than 2,000 records of one object and action are sent without a job. A line
        on standard error and "bulk" of --json say so.
        """)) var bulk = false
  @Flag(
    help:
      "Fetch the new modification dates of uploaded records, so their next edit is not a conflict."
  )
  var fetchDates = false
  @OptionGroup var sync: NewSyncOptions
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if fields.isEmpty, target == nil {
      throw ValidationError("Give --fields, or a --target with field lists.")
    }
    guard !bulk || target == nil else {
      throw ValidationError("Give either --bulk or --target.")
    }
  }

  func run() async throws {
    let list = fields.flatMap { $0.split(separator: ",").map(String.init) }
    try await store.withSyncManager { manager in
      let new = try manager.newUp(
        target?.json ?? (bulk ? ["type": "bulk"] : [:]),
        SyncOptions(
          mergeMode: sync.mode, fieldlist: list.isEmpty ? nil : list,
          fetchesModificationDates: fetchDates),
        sync.soup, sync.name)
      try await manager.followNew(try await manager.startOrResume(new), output)
    }
  }
}
