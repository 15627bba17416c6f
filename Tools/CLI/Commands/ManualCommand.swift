import ArgumentParser
import Foundation
import SalesforceSDKCore

/// `fieldforce man`: manual pages, made from what `--help` shows.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "man", abstract: "Print a manual page, or write those of all commands.",
    discussion: """
      Examples:
        fieldforce man sync down | man -l -
        fieldforce man --output ~/.local/share/man/man1
      """)

  @Argument(help: "The command, such as: sync down. Default: the whole program.")
  var command: [String] = []
  @Option(
    help: "A folder for the pages of all commands, such as fieldforce-sync-down.1.",
    completion: .directory)
  var output: String?

  func validate() throws {
    let called = CalledCommand(command)
    if let word = called.rest.first {
      let meant = Misspelling.closest(to: word, among: called.subcommands)
      throw ValidationError(
        "Unknown command '\(command.joined(separator: " "))'. "
          + (meant.map { "Did you mean '\(called.words) \($0)'?" }
            ?? "'fieldforce --help' lists the commands."))
    }
    if output != nil, !command.isEmpty {
      throw ValidationError("Give either a command or --output, which writes all pages.")
    }
  }

  func run() throws {
    guard let output else {
      print(ManualPage(try CalledCommand(command).described()).text, terminator: "")
      return
    }
    let folder = URL(filePath: output, directoryHint: .isDirectory)
    var pages: [(String, String)] = []
    func collect(_ command: CommandTable) {
      pages.append((command.path.joined(separator: "-") + ".1", ManualPage(command).text))
      command.subcommands.forEach(collect)
    }
    collect(try CommandTable.program())
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, text) in pages {
        try Data(text.utf8).write(to: folder.appending(path: name), options: .atomic)
      }
    } catch {
      throw CommandFailure(
        "file", "Cannot write the manual pages to \(output). Check that the folder may be written.")
    }
    print("\(counted(pages.count, "page")) written to \(output)")
  }
}
