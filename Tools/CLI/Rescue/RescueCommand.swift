import ArgumentParser
import FileSync
import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// `fieldforce rescue`: saves unsynced records in one encrypted file.
struct RescueCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rescue",
    abstract: "Save unsynced records into an encrypted file, and merge them into another store.",
    discussion: "Example: fieldforce rescue export unsynced.rescue --passphrase @passphrase.txt",
    subcommands: [
      RescueExportCommand.self, RescueImportCommand.self, RescueShowCommand.self,
      RescueKeysCommand.self,
    ])
}

/// The options of commands that open a bundle.
struct RescueKeyOptions: ParsableArguments {
  @Option(help: "The passphrase: @FILE, or - for a line of standard input.")
  var passphrase: String?
  @Option(help: "The private key of 'rescue keys': @FILE, or - for a line of standard input.")
  var privateKey: String?

  func validate() throws {
    guard (passphrase == nil) != (privateKey == nil) else {
      throw ValidationError("Give either --passphrase or --private-key.")
    }
    try SecretArgument.check(passphrase, option: "--passphrase")
    try SecretArgument.check(privateKey, option: "--private-key")
  }

  func key() throws -> RescueKey {
    if let passphrase { return .passphrase(try SecretArgument.read(passphrase, "passphrase")) }
    return try .privateKey(try SecretArgument.read(privateKey ?? "", "private key"))
  }
}

/// `fieldforce rescue export`.
struct RescueExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Save the unsynced records of a store into a file.",
    discussion: """
      The store stays as it is. The contents of queued files go into the folder FILE.files, encrypted. Examples:
        fieldforce rescue export unsynced.rescue --passphrase @passphrase.txt
        fieldforce rescue export unsynced.rescue --recipient KEY
      """)

  @Argument(help: "The file to write; it must not exist.") var file: String
  @Option(help: "A passphrase of at least 8 characters: @FILE, or - for a line of standard input.")
  var passphrase: String?
  @Option(help: "The public key of 'rescue keys'. Only its owner can open the file.")
  var recipient: String?
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (passphrase == nil) != (recipient == nil) else {
      throw ValidationError("Give either --passphrase or --recipient.")
    }
    try SecretArgument.check(passphrase, option: "--passphrase")
  }

  func run() async throws {
    let recipient =
      if let passphrase {
        try RescueRecipient.passphrase(try SecretArgument.read(passphrase, "passphrase"))
      } else { try RescueRecipient.publicKey(recipient ?? "") }
    try await store.state.withWorkspace { workspace in
      let opened = try await workspace.storeToRead(store)
      let (bundle, entries) = try await opened.exportRescue(
        for: recipient, of: try await workspace.rescueUser(store), registry: workspace.registry)
      try Self.write(bundle, to: URL(filePath: file))
      let files = try await FileSyncManager.exportQueuedContents(
        of: opened, to: RescueFiles.folder(of: file))
      let queued = RescueFiles.count(in: try await opened.unsyncedEntries())
      output.print([
        "entries": .integer(Int64(entries - queued)), "files": .integer(Int64(files)),
        "conflicts": 0,
      ]) {
        ["\(counted(entries - queued, "unsynced record")) saved into \(file)"]
          + (files > 0
            ? ["\(counted(files, "file")) saved into \(RescueFiles.folder(of: file).path)"] : [])
      }
    }
  }

  /// Writes a file that only this user can read, and never over another.
  private static func write(_ bytes: [UInt8], to url: URL) throws {
    let partial = url.appendingPathExtension("partial-\(UUID().uuidString)")
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw CommandFailure(
        "fileExists", "\(url.path) exists. Name another file, or move this file.")
    }
    guard
      FileManager.default.createFile(
        atPath: partial.path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
    else {
      throw CommandFailure("unwritable", "Cannot write \(url.path). Does its folder exist?")
    }
    do {
      try FileManager.default.moveItem(at: partial, to: url)
    } catch {
      try? FileManager.default.removeItem(at: partial)
      throw CommandFailure("unwritable", "Cannot write \(url.path). Check whether it exists now.")
    }
  }
}

/// `fieldforce rescue import`.
struct RescueImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Merge the records of a file into a store of the same user.",
    discussion: """
      The next sync up uploads them. A second import of the same file changes
      nothing. Examples:
        fieldforce rescue import unsynced.rescue --passphrase @passphrase.txt \\
          --dry-run
        fieldforce rescue import unsynced.rescue --private-key @key.txt
      """)

  @Argument(help: "The file.") var file: String
  @Flag(help: "Report what would happen, and change nothing.") var dryRun = false
  @OptionGroup var key: RescueKeyOptions
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let key = try key.key()
    let bundle = try InputFile.read(URL(filePath: file))
    try await store.state.withWorkspace { workspace in
      let opened = try await workspace.store(store)
      let report = try await opened.importRescue(
        bundle, with: key, of: try await workspace.rescueUser(store), registry: workspace.registry,
        isDryRun: dryRun)
      var files = (taken: 0, missing: 0)
      let folder = RescueFiles.folder(of: file)
      if !dryRun, report.records.contains(where: { $0.soupName == RescueFiles.soupName }) {
        let manager = try await FileSyncManager(
          store: opened, client: try await workspace.client(),
          options: FileSyncOptions(sources: []))
        do {
          files = try await manager.importQueuedContents(from: folder)
          await manager.close()
        } catch {
          await manager.close()
          throw error
        }
      }
      let (taken, missing) = files
      var document = report.json
      document["files"] = .integer(Int64(taken))
      output.print(.object(document)) {
        report.lines + (taken > 0 ? ["\(counted(taken, "file")) taken from \(folder.path)"] : [])
          + (missing > 0 ? ["\(counted(missing, "file")) missing in \(folder.path)"] : [])
      }
      if missing > 0 {
        throw PartialSuccess(
          message:
            "\(counted(missing, "file")) missing in \(folder.path). Copy them, then import again.")
      }
      let conflicts = report.count(.conflict)
      if conflicts > 0, !dryRun {
        throw PartialSuccess(
          message:
            "\(counted(conflicts, "record")) in conflict. 'fieldforce sync conflicts' lists them.")
      }
    }
  }
}

/// `fieldforce rescue show`.
struct RescueShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show whose records a file has, and how many.",
    discussion: "Example: fieldforce rescue show unsynced.rescue --passphrase @passphrase.txt")

  @Argument(help: "The file.") var file: String
  @OptionGroup var key: RescueKeyOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let contents = try SmartStore.rescueContents(
      try InputFile.read(URL(filePath: file)), with: try key.key())
    let files = RescueFiles.count(in: contents.entries)
    let soups = contents.entries.filter { $0.key != RescueFiles.soupName }.sorted {
      $0.key < $1.key
    }
    let time = SalesforceDate(milliseconds: contents.time).text
    output.print([
      "organizationId": .string(contents.user.organizationId),
      "userId": .string(contents.user.userId), "time": .string(time),
      "entries": .integer(Int64(soups.reduce(0) { $0 + $1.value })),
      "files": .integer(Int64(files)),
      "soups": .object(
        JSONObject(soups.map { (key: $0.key, value: JSONValue.integer(Int64($0.value))) })),
    ]) {
      ["user \(contents.user.userId) of org \(contents.user.organizationId), written \(time)"]
        + soups.map { "\($0.key): \(counted($0.value, "unsynced record"))" }
        + (files > 0 ? [counted(files, "queued file")] : [])
    }
  }
}

/// `fieldforce rescue keys`.
struct RescueKeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Make a pair of keys for files that only their owner can open.",
    discussion: "Example: fieldforce rescue keys --json")

  @OptionGroup var output: OutputOptions

  func run() async throws {
    let pair = RescueKeyPair()
    output.print([
      "publicKey": .string(pair.publicKey), "privateKey": .string(pair.privateKey),
    ]) {
      [
        "public key (for --recipient):     \(pair.publicKey)",
        "private key (keep it secret): \(pair.privateKey)",
      ]
    }
  }
}

/// Queued files in a bundle.
private enum RescueFiles {
  /// The soup of the queue, whose entries are in the bundle.
  static let soupName = FileSyncManager.queueSoupName

  /// The folder with the contents that belong to a bundle.
  static func folder(of file: String) -> URL { URL(filePath: file + ".files") }

  static func count(in entries: [String: Int]) -> Int { entries[soupName] ?? 0 }
}

extension RescueReport {
  /// A line for each record, then the counts.
  fileprivate var lines: [String] {
    let all: [Record.Outcome] = [
      .added, .edited, .merged, .conflict, .unchanged, .imported, .uploaded,
    ]
    let counts = all.compactMap { outcome in
      count(outcome) > 0 ? "\(count(outcome)) \(outcome)" : nil
    }
    return records.map { "\($0.soupName) \($0.id ?? "-"): \($0.outcome)" } + [
      (isDryRun ? "dry run, nothing changed: " : "")
        + "\(counted(records.count, "record"))"
        + (counts.isEmpty ? "" : " (\(counts.joined(separator: ", ")))")
    ]
  }
}

extension Workspace {
  /// The user to whom the store that the options name belongs.
  fileprivate func rescueUser(_ options: StoreOptions) async throws -> RescueUser {
    if options.global { return RescueUser(organizationId: "", userId: "") }
    let account = try await currentAccount()
    return RescueUser(organizationId: account.organizationId, userId: account.userId)
  }
}
