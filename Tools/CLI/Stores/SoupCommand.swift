import ArgumentParser
import MobileSync
import SalesforceSDKCommon
import SmartStore

/// `fieldforce soup`: the soups of a store.
struct SoupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soup", abstract: "Register, list, alter and remove soups.",
    subcommands: [Register.self, List.self, Info.self, Alter.self, Clear.self, Remove.self])

  struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Register a soup.",
      discussion: """
        Types: string, integer, floating, full_text, json1.
        Example:
          fieldforce soup register accounts --index Id:string --index Name:string \\
            --index __local__:string --index __sync_id__:integer
        """)

    @Argument(help: "The soup's name.") var name: String
    @Option(name: .customLong("index"), help: ArgumentHelp("An index.", valueName: "path:type"))
    var indexes: [IndexArgument]
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await store.withStore { store in
        try await store.registerSoup(withName: name, withIndices: indexes.map(\.index))
        output.print(["soup": .string(name)]) { ["soup \(name) is registered"] }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the soups.",
      discussion: """
        The soups in which sync keeps its own records, such as syncs_soup, are listed
        with --all.
        Example: fieldforce soup list --json
        """)

    @Flag(help: "Also list the metadata soups of sync.") var all = false
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await store.withStoreToRead { store in
        let names = try await store.allSoupNames().filter {
          all || !SyncManager.ownsSoup(named: $0)
        }
        output.print(["soups": .array(names.map { .string($0) })], empty: "no soups") {
          Table(["SOUP"], names.map { [$0] })
        }
      }
    }
  }

  struct Info: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the number of entries and the indexes of a soup.",
      discussion: "Example: fieldforce soup info accounts")

    @Argument(help: "The soup's name.") var name: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await store.withStoreToRead { store in
        let indexes = try await store.indices(forSoupNamed: name)
        let count = try await store.count(
          using: try .buildAllQuerySpec(soupName: name, pageSize: 1))
        let documents: [JSONValue] = indexes.map {
          [
            "path": .string($0.path), "type": .string($0.type.rawValue),
            "columnName": $0.columnName.map { .string($0) } ?? .null,
          ]
        }
        output.printStyled([
          "name": .string(name), "count": .integer(count), "indexes": .array(documents),
        ]) {
          [TerminalText.escaped(name) + ": \(counted(count, "entry", plural: "entries"))"]
            + Table(["INDEX", "TYPE"], indexes.map { [$0.path, "\($0.type)"] }).lines(for: .output)
            .map { Terminal.output.isTerminal ? $0 : "  \($0.replacing("\t", with: "  "))" }
        }
      }
    }
  }

  struct Alter: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Replace the indexes of a soup; its entries stay.",
      discussion: """
        A path that keeps its type keeps its values. The others are indexed for the
        entries that are there, unless --no-reindex is given: then those are not found
        by them.
        Example: fieldforce soup alter accounts --index Id:string --index Name:full_text
        """)

    @Argument(help: "The soup's name.") var name: String
    @Option(
      name: .customLong("index"),
      help: ArgumentHelp("An index of the altered soup.", valueName: "path:type"))
    var indexes: [IndexArgument]
    @Flag(
      name: .customLong("no-reindex"), help: "Do not index existing entries.")
    var keepsValues = false
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await store.withStore { store in
        try await store.alterSoup(
          named: name, indexSpecs: indexes.map(\.index), reIndexData: !keepsValues)
        output.print(["soup": .string(name)]) { ["soup \(name) has new indexes"] }
      }
    }
  }

  struct Clear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete all entries of a soup.",
      discussion: "Example: fieldforce soup clear accounts")

    @Argument(help: "The soup's name.") var name: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await store.withStore { store in
        try await store.clearSoup(name)
        output.print(["soup": .string(name)]) { ["soup \(name) is empty"] }
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove a soup with its entries. A missing soup is no error.",
      discussion: "Example: fieldforce soup remove accounts")

    @Argument(help: "The soup's name.") var name: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await store.withStore { store in
        let existed = try await store.soupExists(forName: name)
        try await store.removeSoup(name)
        output.print(["soup": .string(name), "removed": .bool(existed)]) {
          [existed ? "soup \(name) is removed" : "there is no soup \(name), so nothing was removed"]
        }
      }
    }
  }
}

/// `Name:string`: a path and a type. The store validates the type, so the user sees the store's error.
struct IndexArgument: ExpressibleByArgument {
  let index: SoupIndex

  init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"), colon != argument.startIndex else { return nil }
    index = SoupIndex(
      path: String(argument[..<colon]),
      type: SoupIndexType(rawValue: String(argument[argument.index(after: colon)...])))
  }
}
