import ArgumentParser
import FileSync
import Foundation
import SalesforceSDKCommon
import SmartStore

/// `fieldforce files add`.
struct FilesAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Queue a copy of a file for its upload.",
    discussion: """
      Works without a network; the record may be one that was created locally. Examples:
        fieldforce files add photo.jpg --record local_123 --title Roof
        fieldforce files add plan.pdf --version-of 069...
      """)

  @Argument(help: "The file to copy.") var file: String
  @Option(help: "The record to attach it to: its id, also a local one.") var record: String?
  @Option(help: "The file of which it is a new version.") var versionOf: String?
  @Option(help: "The title. Default: the name without its extension.") var title: String?
  @Option(help: "The name on the server. Default: the name of the file.") var name: String?
  @Flag(help: "Create an attachment, which older orgs have.") var asAttachment = false
  @OptionGroup var options: FilesOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (record == nil) != (versionOf == nil) else {
      throw ValidationError("Give either --record or --version-of.")
    }
  }

  func run() async throws {
    let url = URL(filePath: file)
    try await options.withFiles { files, store in
      let queued: QueuedFile
      if let versionOf {
        queued = try await files.addVersion(of: versionOf, at: url)
      } else {
        let target = try await files.record(record ?? "", in: store)
        queued = try await files.addFile(
          at: url,
          NewFile(
            name: name ?? url.lastPathComponent, title: title, record: target,
            isAttachment: asAttachment))
      }
      output.print(.object(queued.json)) { ["\(queued.id) \(queued.state)"] }
    }
  }
}

/// `fieldforce files sync`.
struct FilesSyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Upload queued files, list those of the server, and download.",
    discussion: """
      Without --all, --extension or --max-bytes nothing is downloaded. Ends with 3 if a file waits, was refused, is in
      doubt, or could not be downloaded. Examples:
        fieldforce files sync
        fieldforce files sync --extension pdf --max-bytes 5000000
      """)

  @Flag(help: "Only upload the queue.") var upOnly = false
  @Flag(help: "Download all files.") var all = false
  @Option(
    name: .customLong("extension"), help: "Download files with this extension; may be repeated.")
  var extensions: [String] = []
  @Option(help: "Download files up to this size.") var maxBytes: Int64?
  @OptionGroup var options: FilesOptions
  @OptionGroup var output: OutputOptions

  private var rules: [FileRule] {
    if all { return [FileRule()] }
    if extensions.isEmpty, maxBytes == nil { return [] }
    return [
      FileRule(fileExtensions: extensions.isEmpty ? nil : Set(extensions), maxBytes: maxBytes)
    ]
  }

  func run() async throws {
    try await options.withFiles(rules: rules) { files, _ in
      let line = ProgressLine(title: "files")
      defer { line.clear() }
      async let _ = files.show(on: line)
      let report = upOnly ? nil : try await files.sync()
      let uploads = if let report { report.uploads } else { try await files.upload() }
      var document = uploads.json
      for (key, value) in report?.json ?? [:] { document[key] = value }
      output.print(.object(document)) {
        var line = "\(counted(uploads.uploaded.count, "file")) uploaded"
        if let report { line += ", \(report.downloaded.count) downloaded, \(report.listed) listed" }
        return [line] + uploads.problems + (report?.problems ?? [])
      }
      let isComplete = report.map { $0.failed.isEmpty && $0.beyondQuota.isEmpty } ?? true
      if !uploads.isComplete || !isComplete {
        throw PartialSuccess(
          message:
            "Some files wait, were refused or are in doubt. 'fieldforce files list' shows them."
        )
      }
    }
  }
}

/// `fieldforce files download`.
struct FilesDownloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download", abstract: "Download the content of a file, and write it if wanted.",
    discussion: "Example: fieldforce files download 069... --output plan.pdf")

  @Argument(help: "The id of a file; that of a queued one needs no network.") var id: String
  @Option(name: .customLong("output"), help: "A new file for the content, in plaintext.")
  var target: String?
  @OptionGroup var options: FilesOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await options.withFiles { files, _ in
      let isQueued = try await files.queuedFiles().contains { $0.id == id }
      if !isQueued { try await files.download(id) }
      let content = try await files.content(of: id)
      if let target { try await content.copy(to: URL(filePath: target)) }
      output.print(["id": .string(id), "bytes": .integer(content.size)]) {
        ["\(id): \(counted(content.size, "byte"))" + (target.map { " in \($0)" } ?? "")]
      }
    }
  }
}

/// `fieldforce files remove`.
struct FilesRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take a file out of the queue, or the content of a listed one from this device.",
    discussion: "The server keeps its files. Example: fieldforce files remove file_...")

  @Argument(help: "The id of a queued or a listed file.") var id: String
  @OptionGroup var options: FilesOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await options.withFiles { files, _ in
      let isQueued = try await files.queuedFiles().contains { $0.id == id }
      if isQueued { try await files.removeQueued(id) } else { try await files.evict(id) }
      output.print(["removed": .string(id), "queued": .bool(isQueued)]) {
        [isQueued ? "\(id) left the queue" : "\(id) has no content on this device"]
      }
    }
  }
}

/// `fieldforce files resolve`.
struct FilesResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Decide about a queued file that is held.",
    discussion: """
      Examples:
        fieldforce files resolve file_... --retry
        fieldforce files resolve file_... --candidate 068...
      """)

  @Argument(help: "The id of the queued file.") var id: String
  @Flag(help: "Queue a file again that was refused.") var retry = false
  @Flag(help: "The server does not have a file in doubt: send it again.") var missing = false
  @Option(help: "The server has a file in doubt, as this version or attachment.")
  var candidate: String?
  @Option(help: "Attach the file to another record.") var record: String?
  @OptionGroup var options: FilesOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let choices = [retry, missing, candidate != nil, record != nil].filter { $0 }
    guard choices.count == 1 else {
      throw ValidationError("Give one of --retry, --missing, --candidate and --record.")
    }
  }

  func run() async throws {
    try await options.withFiles { files, store in
      if let candidate {
        try await files.resolve(id, as: .isCandidate(candidate))
      } else if let record {
        try await files.move(id, to: try await files.record(record, in: store))
      } else if missing {
        try await files.resolve(id, as: .isMissing)
      } else {
        try await files.retry(id)
      }
      let queued = try await files.queuedFile(id)
      output.print(.object(queued.json)) { ["\(id) \(queued.state)"] }
    }
  }
}

extension FileSyncManager {
  /// Shows the progress of uploads and downloads until the task is cancelled.
  fileprivate nonisolated func show(on line: ProgressLine) async {
    async let up: Void = showUploads(on: line)
    for await file in changedFiles() where file.state == .downloading {
      line.show(Int(file.receivedBytes), of: Int(file.version.size), "bytes of \(file.title)")
    }
    await up
  }

  private nonisolated func showUploads(on line: ProgressLine) async {
    for await file in changedQueuedFiles() where file.state == .uploading {
      line.show(Int(file.sentBytes), of: Int(file.size), "bytes of \(file.title)")
    }
  }
}

extension FileUploadReport {
  fileprivate var json: JSONObject {
    [
      "uploaded": object(uploaded), "waiting": .array(waiting.map { .string($0) }),
      "unacknowledged": .array(unacknowledged.map { .string($0) }),
      "inDoubt": .array(inDoubt.map { .string($0) }), "rejected": object(rejected),
      "orphaned": object(orphaned), "delayed": object(delayed),
    ]
  }

  /// A line for each file that is still queued.
  fileprivate var problems: [String] {
    waiting.map { "\($0): waits for its record or an earlier version" }
      + unacknowledged.map { "\($0): sent, not acknowledged" }
      + inDoubt.map { "\($0): in doubt, see 'files resolve'" }
      + [rejected, orphaned, delayed].flatMap(lines)
  }
}

extension FileSyncReport {
  fileprivate var json: JSONObject {
    [
      "listed": .integer(Int64(listed)), "removed": .integer(Int64(removed)),
      "downloaded": .array(downloaded.map { .string($0) }),
      "beyondQuota": .array(beyondQuota.map { .string($0) }),
      "failed": object(failed.mapValues(\.message)),
    ]
  }

  /// A line for each file that could not be downloaded.
  fileprivate var problems: [String] {
    lines(failed.mapValues(\.message)) + beyondQuota.map { "\($0): no room in the quota" }
  }
}

private func object(_ texts: [String: String]) -> JSONValue {
  .object(
    JSONObject(
      texts.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSONValue.string($0.value)) }))
}

private func lines(_ reasons: [String: String]) -> [String] {
  reasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
}
