import ArgumentParser
import SalesforceSDKCommon

/// The commands and arguments of the program, as their types declare them.
///
/// Completions, manual pages and suggestions are made from it, so that a new command is in all of them.
struct CommandTable {
  let name: String
  /// The names of the commands above, from the program's on.
  let parents: [String]
  let abstract: String
  let discussion: String
  let arguments: [Argument]
  /// The subcommands, without hidden ones.
  let subcommands: [CommandTable]

  /// One argument, option or flag.
  struct Argument {
    enum Kind: String { case positional, option, flag }
    let kind: Kind
    /// With their dashes; empty for a positional argument.
    let names: [String]
    let valueName: String
    let abstract: String
    let discussion: String
    let isOptional: Bool
    let isRepeating: Bool
    let values: [String]
  }

  /// The whole program.
  static func program() throws -> CommandTable {
    let dump = try JSONSlice(parsing: Fieldforce._dumpHelp())
    return CommandTable(dump["command"] ?? dump, parents: [])
  }

  private init(_ json: JSONSlice, parents: [String]) {
    let name = json["commandName"]?.string ?? ""
    self.name = name
    self.parents = parents
    abstract = json["abstract"]?.string ?? ""
    discussion = json["discussion"]?.string ?? ""
    arguments = json["arguments"].map { $0.elements.compactMap(Argument.init) } ?? []
    let shown = json["subcommands"].map { $0.elements.filter(Self.isShown) } ?? []
    subcommands = shown.map { CommandTable($0, parents: parents + [name]) }
  }

  private static func isShown(_ json: JSONSlice) -> Bool {
    json["shouldDisplay"]?.bool != false && json["commandName"]?.string != "help"
  }

  /// The words that call the command, from the program's name on.
  var path: [String] { parents + [name] }

  /// The command that `words` name, below this one.
  ///
  /// - Returns: The last command that is known, and the words that follow it.
  func command(
    _ words: some Collection<String>
  ) -> (command: CommandTable, rest: [String]) {
    guard let word = words.first, let next = subcommands.first(where: { $0.name == word }) else {
      return (self, Array(words))
    }
    return next.command(words.dropFirst())
  }
}

extension CommandTable.Argument {
  fileprivate init?(_ json: JSONSlice) {
    guard let kind = Kind(rawValue: json["kind"]?.string ?? ""),
      json["shouldDisplay"]?.bool != false
    else { return nil }
    self.kind = kind
    names =
      json["names"].map {
        $0.elements.compactMap { name in
          name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 }
        }
      } ?? []
    valueName = json["valueName"]?.string ?? ""
    abstract = json["abstract"]?.string ?? ""
    discussion = json["discussion"]?.string ?? ""
    isOptional = json["isOptional"]?.bool ?? false
    isRepeating = json["isRepeating"]?.bool ?? false
    values = json["allValues"].map { $0.elements.compactMap(\.string) } ?? []
  }
}
