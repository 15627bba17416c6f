/// The arguments of the command line, as the parser needs them.
enum OptionText {
  /// Splits `--name=value` if the value begins with a mark that combines with the equals sign:
  /// the parser reads characters and finds no equals sign then.
  static func separated(_ arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    return arguments[..<end].flatMap { argument -> [String] in
      let scalars = argument.unicodeScalars
      guard argument.hasPrefix("--"), let equals = scalars.firstIndex(of: "="),
        argument.firstIndex(of: "=") != equals
      else { return [argument] }
      return [
        String(scalars[..<equals]), String(scalars[scalars.index(after: equals)...]),
      ]
    } + arguments[end...]
  }

  /// The commands whose arguments have the grammar of the Mobile SDK's generators (HT-50).
  private static let generators: Set<String> = [
    "create", "createwithtemplate", "listtemplates", "checkconfig", "version",
  ]
  private static let generatorFlags: Set<String> = [
    "--json", "--verbose", "--non-interactive", "--help",
  ]

  /// Whether the command line calls one of the commands with that grammar.
  static func callsGenerator(_ arguments: [String]) -> Bool {
    arguments.first.map { generators.contains($0.lowercased()) } ?? false
  }

  /// The arguments of such a command with its name and those of parameters in small letters; a name without a value
  /// has an empty one.
  static func generatorForm(_ arguments: [String]) -> [String] {
    guard callsGenerator(arguments), let command = arguments.first else { return arguments }
    var result = [command.lowercased()]
    let rest = Array(arguments.dropFirst())
    for (index, argument) in rest.enumerated() {
      guard argument.hasPrefix("--"), argument.count > 2 else {
        result.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].lowercased()
      let isFlag = generatorFlags.contains(name)
      let next = index + 1 < rest.count ? rest[index + 1] : nil
      if parts.count == 2, !parts[1].isEmpty {
        result.append("\(name)=\(parts[1])")
      } else if parts.count == 2 || !isFlag && next?.hasPrefix("-") != false {
        result += [name, ""]
      } else {
        result.append(name)
      }
    }
    return result
  }
}
