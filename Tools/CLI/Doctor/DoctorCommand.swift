import ArgumentParser
import Foundation
import SalesforceSDKCommon

/// `fieldforce doctor`: finds problems and names remedies.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check installation, accounts, servers and stores, and say what helps.",
    discussion: """
      Reports what is installed, who is logged in, which servers respond, which stores are in use by another \
      process or cannot be opened, and what is unsynced or in conflict. Nothing is repaired. Ends with 1 if \
      something fails.
      Examples: fieldforce doctor
      fieldforce doctor --offline --json
      """)

  @Flag(help: "Send no request to a server.") var offline = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    var findings = Installation.findings()
    let folder = StateFolder(state.folder)
    findings += folder.findings()
    if folder.exists {
      do {
        findings += try await state.withWorkspace { try await look(at: $0) }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        findings.append(Finding("state folder", error))
      }
    }
    try Task.checkCancellation()
    let failed = findings.count { $0.status == .failed }
    let warnings = findings.count { $0.status == .warning }
    output.printStyled([
      "failed": .integer(Int64(failed)), "warnings": .integer(Int64(warnings)),
      "findings": .array(findings.map(\.document)),
    ]) {
      findings.flatMap { $0.lines(for: .output) } + [
        failed == 0
          ? warnings == 0 ? "nothing is wrong" : "nothing is wrong, \(counted(warnings, "note"))"
          : "\(counted(failed, "check")) failed, \(counted(warnings, "note"))"
      ]
    }
    if failed > 0 { throw ExitCode.failure }
  }

  private func look(at workspace: Workspace) async throws -> [Finding] {
    var findings = await workspace.accountFindings()
    if !offline { findings += await workspace.serverFindings() }
    try Task.checkCancellation()
    findings += await workspace.storeFindings()
    return findings
  }
}
