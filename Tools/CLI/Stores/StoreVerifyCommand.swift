import ArgumentParser
import MobileSync
import SalesforceSDKCommon
import SmartStore

/// `fieldforce store verify`: checks every page, index and full-text row.
struct StoreVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract:
      "Check every page's tag, SQLite's structures, indexes, and that a record has one entry.",
    discussion: """
      Prints what is wrong and where, and ends with 1 if anything is. What is wrong
      stays as it is. Several entries of one server record become one with the next
      sync of their soup.
      Example: fieldforce store verify --store orders
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (report, doubles) = try await store.state.withWorkspace { workspace in
      let report = try await workspace.verify(store)
      // If the structure of a store is damaged, its entries are not read.
      let isReadable = report.findings.allSatisfy {
        ![.page, .log, .structure, .soup].contains($0.kind)
      }
      return (report, isReadable ? try await workspace.doubledRecords(store) : [])
    }
    output.print(report.document(with: doubles)) {
      report.findings.map(\.description) + doubles.map(\.line) + [report.summary(with: doubles)]
    }
    if !report.isClean || !doubles.isEmpty { throw ExitCode.failure }
  }
}

/// `fieldforce store accept-loss`: makes a store usable again whose WAL lacks transactions.
struct StoreAcceptLossCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-loss",
    abstract:
      "Accept the loss of transactions in a store whose write-ahead log is missing, cut or replaced.",
    discussion: """
      The transactions that the log held are lost for good. What is found of it is
      kept next to the database, and each check names it until it is removed. A
      store whose log is whole stays as it is. Prints what a check finds afterwards;
      ends with 1 if a page, index or entry is damaged.
      Example: fieldforce store accept-loss --store orders
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await store.state.withWorkspace { try await $0.acceptLostLog(store) }
    output.print(report.document(with: [])) {
      report.findings.map(\.description) + [report.summary(with: [])]
    }
    // The command keeps a copy of the WAL.
    if report.findings.contains(where: { $0.kind != .log }) { throw ExitCode.failure }
  }
}

extension DoubledRecord {
  fileprivate var line: String { "soup \(soupName), path \(idField): \(detail)" }
}

extension StoreReport {
  fileprivate func summary(with doubles: [DoubledRecord]) -> String {
    let checked = [
      counted(pages, "page"), counted(soups, "soup"),
      counted(elements, "entry", plural: "entries"),
    ].joined(separator: ", ")
    if isClean, doubles.isEmpty { return "nothing is wrong in \(checked)" }
    let remedy =
      if !findings.allSatisfy({ $0.kind == .notIndexed }) {
        "restore the store from a backup or sync it again"
      } else if doubles.isEmpty {
        "nothing is damaged"
      } else {
        "nothing is damaged; the next sync of the soup makes one entry of each record"
      }
    return "\(counted(findingCount + doubles.count, "finding")) in \(checked); \(remedy)"
  }
}
