import ArgumentParser
import SalesforceSDKCommon
import SmartStore

/// `fieldforce store verify`: is every page, index and full-text row what it should be?
struct StoreVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every page's tag, SQLite's structures, and indexes against the elements.",
    discussion: """
      Prints what is wrong and where, and ends with 1 if anything is. What is wrong stays as it is.
      Example: fieldforce store verify --store orders
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await store.state.withWorkspace { try await $0.verify(store) }
    output.print(report.json) {
      report.findings.map(\.description) + [report.summary]
    }
    if !report.isClean { throw ExitCode.failure }
  }
}

extension StoreReport {
  /// The form that `--json` prints.
  fileprivate var json: JSONValue {
    let findings: [JSONValue] = findings.map { finding in
      var members: JSONObject = ["kind": .string(finding.kind.rawValue)]
      if let page = finding.page { members["page"] = .integer(Int64(page)) }
      if let soup = finding.soup { members["soup"] = .string(soup) }
      if let entryId = finding.entryId { members["entryId"] = .integer(entryId) }
      if let path = finding.path { members["path"] = .string(path) }
      members["detail"] = .string(finding.detail)
      return .object(members)
    }
    return [
      "clean": .bool(isClean), "pages": .integer(Int64(pages)), "soups": .integer(Int64(soups)),
      "elements": .integer(Int64(elements)), "findingCount": .integer(Int64(findingCount)),
      "findings": .array(findings),
    ]
  }

  fileprivate var summary: String {
    let checked = "\(pages) pages, \(soups) soups, \(elements) elements"
    if isClean { return "nothing is wrong in \(checked)" }
    let remedy =
      findings.allSatisfy { $0.kind == .notIndexed }
      ? "nothing is damaged" : "restore the store from a backup or sync it anew"
    return "\(findingCount) findings in \(checked); \(remedy)"
  }
}
