/// The arguments of the command line, as the parser needs them.
enum OptionText {
  /// Takes `--name=value` apart where the value begins with a mark that combines with the equals sign:
  /// to the parser, which reads characters, there is no equals sign then.
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
}
