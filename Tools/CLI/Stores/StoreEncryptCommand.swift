import ArgumentParser
import SalesforceSDKCommon

/// `fieldforce store encrypt`: a plaintext state folder becomes an encrypted one.
struct StoreEncryptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "encrypt", abstract: "Encrypt all stores of a plaintext state folder.",
    discussion: """
      What is encrypted is checked first: schema, entries and indexes. Interrupted, repeat it.
      Example: fieldforce store encrypt --state notes
      """)

  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let count = try await Workspace.encrypt(state.folder)
    output.print(["encrypted": .integer(Int64(count))]) {
      ["\(counted(count, "store")) encrypted; later commands need no --plaintext"]
    }
  }
}
