import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce doctor`: finds problems and names remedies.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check installation, accounts, servers and stores, and say what helps.",
    discussion: """
      Reports what is installed, who is logged in, which servers respond, which
      stores are in use by another process or cannot be opened, and what is unsynced
      or in conflict. The state folder stays as it is, byte for byte. Ends with 1 if
      something fails.
      Examples: fieldforce doctor
      fieldforce doctor --offline --json
      """)

  @Flag(help: "Send no request to a server.") var offline = false
  @Flag(help: "Add the developer information.") var information = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    var findings = Installation.findings()
    var report: DeveloperInfo?
    let folder = StateFolder(state.folder)
    findings += folder.findings()
    if folder.exists {
      do {
        let (found, info) = try await state.withWorkspace(isReadOnly: true) { workspace in
          (
            try await look(at: workspace), information ? try await workspace.developerInfo() : nil
          )
        }
        findings += found
        report = info
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        findings.append(Finding("state folder", error))
      }
    }
    try Task.checkCancellation()
    let failed = findings.count { $0.status == .failed }
    let warnings = findings.count { $0.status == .warning }
    var document: JSONObject = [
      "failed": .integer(Int64(failed)), "warnings": .integer(Int64(warnings)),
      "findings": .array(findings.map(\.document)),
    ]
    if let report { document["information"] = .object(report.json) }
    output.printStyled(.object(document)) {
      findings.flatMap { $0.lines(for: .output) } + [
        failed == 0
          ? warnings == 0 ? "nothing is wrong" : "nothing is wrong, \(counted(warnings, "note"))"
          : "\(counted(failed, "check")) failed, \(counted(warnings, "note"))"
      ] + (report.map(Self.lines) ?? [])
    }
    if failed > 0 { throw ExitCode.failure }
  }

  /// The report as lines: its values may hold control characters of names.
  private static func lines(of report: DeveloperInfo) -> [String] {
    [""]
      + report.text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { TerminalText.escaped(String($0), keepsLines: false) }
  }

  private func look(at workspace: Workspace) async throws -> [Finding] {
    var findings = await workspace.accountFindings()
    if !offline { findings += await workspace.serverFindings() }
    try Task.checkCancellation()
    findings += await workspace.storeFindings()
    return findings
  }
}
