import ArgumentParser
import Foundation
import MobileSync
import SalesforceSDKCommon

/// `fieldforce sync load`: creates the syncs that a file defines, or checks the file.
struct SyncLoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load", abstract: "Create the syncs that a file defines, or check the file.",
    discussion: """
      A sync whose name is in use stays as it is; a warning says if the file has
      another definition: give it to the sync with 'sync change', or delete the sync
      and load the file again. An entry with an error is left out. With --check
      nothing is created, and no login or store is needed.
      Example: fieldforce sync load usersyncs.json --check
      """)

  @Argument(help: "The file, such as usersyncs.json.", completion: .file()) var file: String
  @Flag(help: "Check the file and create nothing.") var check = false
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let registry = try SyncTargetRegistry.standard()
    let config = SyncsConfig(
      parsing: try InputFile.read(URL(fileURLWithPath: file)), file: file, registry: registry)
    if check {
      show(
        config.problems,
        extra: [
          "usable": .integer(Int64(config.entries.count)), "leftOut": Self.names(config.leftOut),
        ]
      ) { [counted(config.entries.count, "sync", plural: "syncs") + " can be created"] }
      return try fail(config)
    }
    try await store.withSyncManager { manager in
      let loaded = try await manager.load(config)
      let created = loaded.created.compactMap(\.name)
      output.warn(loaded.warnings)
      show(
        loaded.problems,
        extra: [
          "created": Self.names(created), "existing": Self.names(loaded.existing),
          "differing": Self.names(loaded.differing), "leftOut": Self.names(loaded.leftOut),
          "warnings": .array(loaded.warnings.map { .object($0.json) }),
        ]
      ) { created.map { "made \($0)" } + loaded.existing.map { "\($0) exists already" } }
    }
    try fail(config)
  }

  private static func names(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }

  private func show(
    _ problems: [SyncsConfigProblem], extra: JSONObject, _ lines: () -> [String]
  ) {
    var document = extra
    document["problems"] = .array(
      problems.map { problem in
        [
          "code": .string("\(problem.code)"), "file": .string(problem.file),
          "line": .integer(Int64(problem.line)), "column": .integer(Int64(problem.column)),
          "path": .string(problem.path), "message": .string(problem.message),
          "warning": .bool(problem.isWarning),
        ]
      })
    output.print(.object(document)) { problems.map(\.description) + lines() }
  }

  private func fail(_ config: SyncsConfig) throws {
    let errors = config.problems.filter { !$0.isWarning }
    guard let first = errors.first else { return }
    throw CommandFailure(
      "\(first.code)",
      "\(file) has \(counted(errors.count, "error"))\(Self.leavingOut(config.leftOut)). Correct the file and load "
        + "it again."
    )
  }

  private static func leavingOut(_ names: [String]) -> String {
    names.isEmpty ? "" : ", and leaves out " + names.map { "'\($0)'" }.joined(separator: ", ")
  }
}
