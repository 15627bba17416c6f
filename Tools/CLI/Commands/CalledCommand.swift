import ArgumentParser

/// The command that the words of a command line call.
///
/// It is found without a description of the whole program, which takes long to make.
struct CalledCommand {
  let type: any ParsableCommand.Type
  /// The names of the command and of those above it, from the program's on.
  let path: [String]
  /// The words that follow the command's name.
  let rest: [String]

  /// - Parameter words: The words after the program's name. Those from the first one on that names no command are ``rest``.
  init(_ words: [String]) {
    var type: any ParsableCommand.Type = Fieldforce.self
    var path = [type._commandName]
    var rest = words[...]
    while let word = rest.first,
      let next = type.configuration.subcommands.first(where: { $0._commandName == word })
    {
      type = next
      path.append(word)
      rest.removeFirst()
    }
    self.type = type
    self.path = path
    self.rest = Array(rest)
  }

  /// The words that call the command, as a person writes them.
  var words: String { path.joined(separator: " ") }

  /// The names of the subcommands, without hidden ones.
  var subcommands: [String] {
    // Key paths of a metatype that is an existential crash the compiler (Swift 6.3.1).
    type.configuration.subcommands.filter { $0.configuration.shouldDisplay }
      .map { $0._commandName }
  }

  /// The command, its arguments and subcommands.
  func described() throws -> CommandTable {
    try CommandTable(type, parents: path.dropLast())
  }
}
