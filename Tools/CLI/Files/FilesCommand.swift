import ArgumentParser
import FileSync
import Foundation
import SalesforceSDKCommon
import SmartStore

/// `fieldforce files`: files of synced records, with their content.
struct FilesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files",
    abstract: "List, add, upload and download the files of synced records.",
    discussion: """
      New files are queued in the store, encrypted, and uploaded by 'files sync' after their records.
      Example: fieldforce files add photo.jpg --record 001000000000001AAA
      """,
    subcommands: [
      FilesListCommand.self, FilesAddCommand.self, FilesSyncCommand.self,
      FilesDownloadCommand.self, FilesRemoveCommand.self, FilesResolveCommand.self,
    ])
}

/// The store and the soups whose records have files.
struct FilesOptions: ParsableArguments {
  @Option(
    name: .customLong("source"),
    help: ArgumentHelp(
      "A soup and its object type: SOUP:TYPE or SOUP:TYPE:IDFIELD.",
      discussion:
        "Default: each soup with an index on Id, with the object type of its first record."))
  var sources: [String] = []
  @Flag(help: "Include attachments, which older orgs have.") var attachments = false
  @Option(help: "The most bytes of content that are kept.") var quota: Int64?
  @OptionGroup var store: StoreOptions

  func validate() throws {
    for source in sources where !(2...3 ~= source.split(separator: ":").count) {
      throw ValidationError("--source needs SOUP:TYPE, not '\(source)'.")
    }
    if let quota, quota < 0 { throw ValidationError("--quota needs a number of bytes.") }
  }

  /// Opens the files of the store, calls a closure with them, and closes them.
  func withFiles<Result>(
    rules: [FileRule] = [], _ body: (FileSyncManager, SmartStore) async throws -> Result
  ) async throws -> Result {
    try await store.state.withWorkspace { workspace in
      let opened = try await workspace.store(store)
      let options = FileSyncOptions(
        sources: try await sources(of: opened), rules: rules, quota: quota,
        includesAttachments: attachments)
      let files = try await FileSyncManager(
        store: opened, client: try await workspace.client(), options: options)
      do {
        let result = try await body(files, opened)
        await files.close()
        return result
      } catch {
        await files.close()
        throw error
      }
    }
  }

  private func sources(of store: SmartStore) async throws -> [FileSource] {
    if !sources.isEmpty {
      return sources.map { source in
        let parts = source.split(separator: ":").map(String.init)
        return FileSource(
          soupName: parts[0], objectType: parts[1], idField: parts.count > 2 ? parts[2] : "Id")
      }
    }
    var found: [FileSource] = []
    for soup in try await store.allSoupNames() where !soup.hasPrefix("syncs_") {
      guard try await store.indices(forSoupNamed: soup).contains(where: { $0.path == "Id" })
      else { continue }
      let rows = try await store.query(
        using: .buildSmartQuerySpec(
          smartSql: "SELECT {\(soup):_soup} FROM {\(soup)}", pageSize: 1))
      if let type = rows.first?[0]?["attributes"]?["type"]?.string {
        found.append(FileSource(soupName: soup, objectType: type))
      }
    }
    return found
  }
}

extension FileSyncManager {
  /// The record with an id, with the object type of the source whose soup has it.
  func record(_ id: String, in store: SmartStore) async throws -> FileRecord {
    for source in options.sources {
      let (soup, path) = (source.soupName, source.idField)
      let rows = try await store.query(
        using: .buildSmartQuerySpec(
          smartSql: "SELECT {\(soup):_soup} FROM {\(soup)} WHERE {\(soup):\(path)} = ?",
          pageSize: 1), whereArgs: [.string(id)])
      guard let entry = rows.first?[0] else { continue }
      return FileRecord(
        id: id, objectType: entry["attributes"]?["type"]?.string ?? source.objectType)
    }
    throw CommandFailure(
      "unknownRecord", "No soup of the store has the record \(id). Sync it down, or name --source.")
  }
}

/// `fieldforce files list`.
struct FilesListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the files of synced records, and those that are queued.",
    discussion: "Without a network, too. Example: fieldforce files list --record 001...")

  @Option(help: "Only the files of this record.") var record: String?
  @OptionGroup var options: FilesOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await options.withFiles { files, _ in
      let listed =
        if let record { try await files.files(ofRecord: record) } else { try await files.files() }
      let queued =
        if let record {
          try await files.queuedFiles(ofRecord: record)
        } else { try await files.queuedFiles() }
      output.print(
        [
          "files": .array(listed.map { .object($0.json) }),
          "queued": .array(queued.map { .object($0.json) }),
        ], empty: Terminal.output.isTerminal ? "no files" : nil
      ) {
        Table(
          ["id", "title", "bytes", "state", "record"],
          listed.map {
            [
              $0.id, $0.title, "\($0.version.size)", "\($0.state)",
              $0.records.map(\.id).joined(separator: " "),
            ]
          }
            + queued.map {
              [$0.id, $0.title, "\($0.size)", "\($0.state)", $0.record?.id ?? $0.versionOf ?? ""]
            })
      }
    }
  }
}

extension SyncedFile {
  var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "title": .string(title), "size": .integer(version.size),
      "state": .string("\(state)"), "receivedBytes": .integer(receivedBytes),
      "records": .array(records.map { .string($0.id) }), "attachment": .bool(isAttachment),
    ]
    if let fileExtension { object["fileExtension"] = .string(fileExtension) }
    if let problem { object["problem"] = .string(problem) }
    return object
  }
}

extension QueuedFile {
  var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "name": .string(name), "title": .string(title), "size": .integer(size),
      "state": .string("\(state)"), "sentBytes": .integer(sentBytes),
      "attachment": .bool(isAttachment),
    ]
    if let record { object["record"] = .string(record.id) }
    if let versionOf { object["versionOf"] = .string(versionOf) }
    if let problem { object["problem"] = .string(problem) }
    if let errorCode { object["errorCode"] = .string(errorCode) }
    if !candidates.isEmpty { object["candidates"] = .array(candidates.map { .string($0.id) }) }
    return object
  }
}
