import SalesforceSDKCore

/// The manual page of a command in roff, with the macros of man(7).
struct ManualPage {
  private let command: CommandTable
  private var lines: [String] = []

  init(_ command: CommandTable) {
    self.command = command
    let title = command.path.joined(separator: "-")
    lines.append(
      ".TH \"\(Self.escaped(title.uppercased()))\" 1 \"\" \"fieldforce \(Self.escaped(SDKVersion.current))\""
    )
    lines += [".nh", ".ad l"]
    section("NAME")
    lines.append("\(Self.escaped(title)) \\- \(Self.escaped(command.abstract))")
    section("SYNOPSIS")
    addSynopsis()
    if !command.discussion.isEmpty {
      section("DESCRIPTION")
      addText(command.discussion)
    }
    addArguments()
    if !command.subcommands.isEmpty {
      section("COMMANDS")
      for subcommand in command.subcommands {
        add(".B \(Self.escaped(subcommand.name))", [subcommand.abstract])
      }
    }
    section("EXIT STATUS")
    for (status, meaning) in ExitStatus.meanings {
      add(".B \(status.rawValue)", [meaning])
    }
    let related =
      (command.parents.isEmpty ? [] : [command.parents]) + command.subcommands.map(\.path)
    if !related.isEmpty {
      section("SEE ALSO")
      lines.append(
        related.map { ".BR \(Self.escaped($0.joined(separator: "-"))) (1)" }
          .joined(separator: " ,\n"))
    }
  }

  /// The page with a line feed at its end.
  var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func section(_ name: String) { lines.append(".SH \(name)") }

  private mutating func add(_ tag: String, _ paragraphs: [String]) {
    lines += [".TP", tag]
    for (index, paragraph) in paragraphs.filter({ !$0.isEmpty }).enumerated() {
      if index > 0 { lines.append(".IP") }
      lines.append(Self.escaped(paragraph))
    }
  }

  private mutating func addSynopsis() {
    lines.append(".B \(Self.escaped(command.path.joined(separator: " ")))")
    if !command.subcommands.isEmpty { lines.append(".I command") }
    for argument in command.arguments where argument.names != ["-h", "--help"] {
      let value = "\\fI\(Self.escaped(argument.valueName))\\fR"
      let name = argument.names.last.map { "\\fB\(Self.escaped($0))\\fR" }
      let text =
        switch argument.kind {
        case .positional: value
        case .option: "\(name ?? "") \(value)"
        case .flag: name ?? ""
        }
      let repeated = text + (argument.isRepeating ? " ..." : "")
      lines.append(argument.isOptional ? "[\(repeated)]" : repeated)
    }
  }

  private mutating func addArguments() {
    let groups = [
      ("ARGUMENTS", command.arguments.filter { $0.kind == .positional }),
      ("OPTIONS", command.arguments.filter { $0.kind != .positional }),
    ]
    for (title, arguments) in groups where !arguments.isEmpty {
      section(title)
      for argument in arguments {
        let names = argument.names.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
        let value = argument.kind == .flag ? "" : "\\fI\(Self.escaped(argument.valueName))\\fR"
        add(
          [names, value].filter { !$0.isEmpty }.joined(separator: " "),
          [argument.abstract, argument.discussion])
      }
    }
  }

  /// Prose is filled; examples, which are lines with the program's name or indented ones, stay as they are.
  private mutating func addText(_ text: String) {
    var isExample = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let now = line.hasPrefix("  ") || line.contains("fieldforce ")
      if now != isExample { lines.append(now ? ".PP\n.nf" : ".fi\n.PP") }
      isExample = now
      lines.append(line.isEmpty ? ".PP" : Self.escaped(line))
    }
    if isExample { lines.append(".fi") }
  }

  /// Text in which roff finds no request, no escape and no typographic dash or quote.
  static func escaped(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let safe = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        .replacing("'", with: "\\(aq").replacing("`", with: "\\(ga").replacing("~", with: "\\(ti")
        .replacing("^", with: "\\(ha").replacing("\"", with: "\\(dq")
      return safe.hasPrefix(".") ? "\\&" + safe : String(safe)
    }
    return lines.joined(separator: "\n")
  }
}
