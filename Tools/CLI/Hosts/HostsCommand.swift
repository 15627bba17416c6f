import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce hosts`: the login servers to choose from (HT-75).
struct HostsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hosts", abstract: "List, add, remove and select login servers.",
    subcommands: [List.self, Add.self, Remove.self, Select.self], defaultSubcommand: List.self)

  /// The list of a state folder, with the servers that the organisation demands.
  static func storage(_ state: StateOptions) throws -> LoginHostStorage {
    try WorkspaceSettings.checkNotLost(in: state.folder)
    return try LoginHostStorage(
      try ManagedCommand.file().current.hostList(),
      in: state.folder.appending(path: LoginHostStorage.fileName),
      secrets: try Workspace.secrets(in: state.folder, try state.keepers))
  }

  /// Prints the list.
  static func show(_ storage: LoginHostStorage, _ output: OutputOptions) {
    let list = storage.list
    output.print([
      "hosts": .array(
        list.hosts.map { host in
          [
            "name": .string(host.name), "url": .string(host.server.url.absoluteString),
            "selected": .bool(host == list.selected), "deletable": .bool(host.isDeletable),
          ]
        })
    ]) {
      list.hosts.map { "\($0 == list.selected ? "*" : " ") \($0.name)  \($0.server)" }
    }
  }

  /// `fieldforce hosts list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the login servers.",
      discussion: "Example: fieldforce hosts list")

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      HostsCommand.show(try HostsCommand.storage(state), output)
    }
  }

  /// `fieldforce hosts add`.
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add a login server and select it.",
      discussion: "Example: fieldforce hosts add acme.my.salesforce.com --name Acme")

    @Argument(help: "The address.") var address: String
    @Option(help: "What a person reads. Default: the address.") var name: String?
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let host = try LoginHost(typed: address, name: name)
      let storage = try HostsCommand.storage(state)
      try storage.update { _ = $0.add(host) }
      guard storage.selected.server == host.server else {
        throw CommandFailure(
          "managedHosts",
          "The organisation that manages this device allows its own login servers alone.")
      }
      HostsCommand.show(storage, output)
    }
  }

  /// `fieldforce hosts remove`.
  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a login server that was added.",
      discussion: "Example: fieldforce hosts remove acme.my.salesforce.com")

    @Argument(help: "The address.") var address: String
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let server = try LoginHost(typed: address).server
      let storage = try HostsCommand.storage(state)
      guard let host = storage.list.hosts.first(where: { $0.server == server }) else {
        throw CommandFailure(
          "unknownHost", "\(server) is not in the list. 'fieldforce hosts' shows it.")
      }
      guard host.isDeletable else {
        throw CommandFailure("fixedHost", "\(host.name) was not added here, and cannot be removed.")
      }
      try storage.update { $0.remove(server) }
      HostsCommand.show(storage, output)
    }
  }

  /// `fieldforce hosts select`.
  struct Select: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "select", abstract: "Select the server that 'login' without --url uses.",
      discussion: "Example: fieldforce hosts select test.salesforce.com")

    @Argument(help: "The address.") var address: String
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let server = try LoginHost(typed: address).server
      let storage = try HostsCommand.storage(state)
      guard storage.list.hosts.contains(where: { $0.server == server }) else {
        throw CommandFailure(
          "unknownHost", "\(server) is not in the list. Add it with 'fieldforce hosts add'.")
      }
      try storage.update { _ = $0.select(server) }
      HostsCommand.show(storage, output)
    }
  }
}

extension LoginHostStorage {
  /// The name of the list's file in a state folder.
  static let fileName = "login-hosts.json"

  /// Whether the list of a file can be read, or there is no file. A damaged one would be set aside.
  static func isReadable(_ file: URL) -> Bool {
    guard DurableFile(file).exists else { return true }
    let bytes = (try? DurableFile(file).read(maxBytes: 1 << 20)) ?? nil
    return bytes.flatMap { try? JSONSlice(parsing: $0) }?["version"]?.int64 == 1
  }
}
