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
  /// The names of the hidden options, with their dashes. They may be written, but are in no text.
  let hiddenNames: [String]
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
    try CommandTable(Fieldforce.self, parents: [])
  }

  init(_ type: any ParsableCommand.Type, parents: [String]) throws {
    let dump = try JSONSlice(parsing: type._dumpHelp())
    self.init(dump["command"] ?? dump, parents: parents)
  }

  private init(_ json: JSONSlice, parents: [String]) {
    let name = json["commandName"]?.string ?? ""
    self.name = name
    self.parents = parents
    abstract = json["abstract"]?.string ?? ""
    discussion = json["discussion"]?.string ?? ""
    arguments = json["arguments"].map { $0.elements.compactMap(Argument.init) } ?? []
    hiddenNames =
      json["arguments"].map { arguments in
        arguments.elements.filter { !Self.isShown($0) }.flatMap(Argument.names)
      } ?? []
    let shown = json["subcommands"].map { $0.elements.filter(Self.isShown) } ?? []
    subcommands = shown.map { CommandTable($0, parents: parents + [name]) }
  }

  private static func isShown(_ json: JSONSlice) -> Bool {
    json["shouldDisplay"]?.bool != false && json["commandName"]?.string != "help"
  }

  /// The words that call the command, from the program's name on.
  var path: [String] { parents + [name] }
}

extension CommandTable.Argument {
  fileprivate init?(_ json: JSONSlice) {
    guard let kind = Kind(rawValue: json["kind"]?.string ?? ""),
      json["shouldDisplay"]?.bool != false
    else { return nil }
    self.kind = kind
    names = Self.names(json)
    valueName = json["valueName"]?.string ?? ""
    abstract = json["abstract"]?.string ?? ""
    discussion = json["discussion"]?.string ?? ""
    isOptional = json["isOptional"]?.bool ?? false
    isRepeating = json["isRepeating"]?.bool ?? false
    values = json["allValues"].map { $0.elements.compactMap(\.string) } ?? []
  }

  fileprivate static func names(_ json: JSONSlice) -> [String] {
    json["names"].map {
      $0.elements.compactMap { name in
        name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 }
      }
    } ?? []
  }
}
