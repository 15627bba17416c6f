import ArgumentParser
import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon

/// `fieldforce demo`: a round trip in one run, against an embedded mock org.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Run a full round trip against an embedded mock org.",
    discussion: """
      Loads an org, logs in, syncs down into an encrypted store, edits offline,
      meets a conflict, syncs up, resolves the conflict, cleans ghosts, and compares
      both sides record by record. Exits with 0 only if they agree and the store's
      files show none of the records' text.

      Examples:
        fieldforce demo
        fieldforce demo --data sample-data-plan.json --keep /tmp/demo
      """)

  @Option(
    help: "An sObject tree plan; may be repeated. Default: a sample org.", completion: .file())
  var data: [String] = []

  @Option(help: "Keep the device's state in this new or empty folder.", completion: .directory)
  var keep: String?

  @OptionGroup var output: OutputOptions

  func run() async throws {
    let plans = data.isEmpty ? [MockOrg.samplePlan] : data.map { URL(filePath: $0) }
    try await withDeviceFolder { folder in
      let story = DemoStory(plans: plans, folder: folder) { line in
        // With --json, standard output is for the document alone.
        if output.json { Console.say(line) } else { Console.printRaw(line) }
      }
      let report = try await story.tell()
      if output.json { Console.printRaw(report.document.text) }
      guard report.agree else {
        throw CommandFailure("disagree", "The store and the org differ at the end of the demo.")
      }
    }
  }

  private func withDeviceFolder(_ body: (URL) async throws -> Void) async throws {
    let files = FileManager.default
    if let keep {
      let folder = URL(filePath: keep)
      if let contents = try? files.contentsOfDirectory(atPath: keep), !contents.isEmpty {
        throw CommandFailure("notEmpty", "\(keep) is not empty. Name a new folder with --keep.")
      }
      return try await body(folder)
    }
    let folder = files.temporaryDirectory.appending(path: "fieldforce-demo-\(UUID().uuidString)")
    defer { try? files.removeItem(at: folder) }
    try await body(folder)
  }
}
