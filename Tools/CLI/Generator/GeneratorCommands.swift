import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce listtemplates`: the templates of the program, with the command for each.
struct ListTemplatesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listtemplates",
    abstract: "List the program's templates, with the command for each.",
    discussion: "Example: fieldforce listtemplates")

  @OptionGroup var output: OutputOptions

  func run() throws {
    let templates = try BuiltInTemplates.names.map { name in
      (name, try TemplateDescriptor(of: try BuiltInTemplates.folder(name)))
    }
    output.print([
      "templates": .array(
        templates.map { name, template in
          [
            "path": .string(name), "description": .string(template.description),
            "appType": .string(template.appType.rawValue),
            "platforms": .array(template.platforms.map(\.rawValue).sorted().map { .string($0) }),
            "command": .string(Self.command(name, template)),
          ]
        })
    ]) {
      templates.enumerated().flatMap { index, entry in
        [
          "\(index + 1)) \(entry.1.description)",
          "   \(Self.command(entry.0, entry.1))",
        ]
      }
    }
  }

  private static func command(_ name: String, _ template: TemplateDescriptor) -> String {
    "fieldforce createwithtemplate --templaterepouri=\(name) --appname=NAME "
      + "--packagename=com.example.name --organization=ORGANIZATION"
      + (template.appType == .hybridRemote ? " --startpage=apex/PAGE" : "")
  }
}

/// `fieldforce version`: the version, which is also the one in the user agent of requests.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Print the version.",
    discussion: "Example: fieldforce version --json")

  @OptionGroup var output: OutputOptions

  func run() {
    output.print(["name": "fieldforce", "version": .string(SDKVersion.current)]) {
      ["fieldforce \(SDKVersion.current)"]
    }
  }
}

/// `fieldforce checkconfig`: checks a file of soups or syncs.
struct CheckConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkconfig", abstract: "Check a configuration file of stores or syncs.",
    discussion: """
      Prints everything that is wrong, with line and path, and ends with 1 if the
      file cannot be used as it is.
      Examples:
        fieldforce checkconfig --configpath=userstore.json --configtype=store
        fieldforce checkconfig -p usersyncs.json -t syncs
      """)

  enum ConfigType: String, CaseIterable { case store, syncs }

  @Option(
    name: [.customLong("configpath"), .customShort("p")],
    help: ArgumentHelp("The file.", valueName: "file"), completion: .file())
  var path: String?
  @Option(
    name: [.customLong("configtype"), .customShort("t")],
    help: ArgumentHelp("store or syncs.", valueName: "type"),
    completion: .list(ConfigType.allCases.map(\.rawValue)))
  var type: String?
  @Flag(
    name: .customLong("non-interactive"), help: "Never prompt; end with 2 if a value is missing.")
  var isNonInteractive = false
  @OptionGroup var output: OutputOptions

  func run() throws {
    let prompt = ParameterPrompt(isNonInteractive: isNonInteractive)
    let path = try prompt.value("configpath", "Configuration file", given: path) { text in
      var isFolder: ObjCBool = false
      let exists = FileManager.default.fileExists(atPath: text, isDirectory: &isFolder)
      return exists && !isFolder.boolValue ? nil : "There is no file '\(text)'"
    }
    let name = try prompt.value("configtype", "Type (store or syncs)", given: type) { text in
      ConfigType(rawValue: text.lowercased()) == nil
        ? "'\(text)' is not a type of configuration. Write store or syncs" : nil
    }
    let content = try InputFile.read(URL(filePath: path))
    let problems: [ConfigProblem] =
      ConfigType(rawValue: name.lowercased()) == .store
      ? SoupsFile.problems(in: content, file: path)
      : try SyncsFile.problems(in: content, file: path)
    let errors = problems.count { !$0.isWarning }
    output.print([
      "file": .string(path), "valid": .bool(errors == 0),
      "problems": .array(problems.map(\.document)),
    ]) {
      problems.map(\.text) + [
        errors == 0 ? "\(path) is valid" : "\(path): \(counted(errors, "error"))"
      ]
    }
    if errors > 0 { throw ExitCode.failure }
  }
}
