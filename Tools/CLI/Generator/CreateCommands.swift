import ArgumentParser
import Foundation
import SalesforceSDKCommon

/// `fieldforce create`: a project of a kind.
struct CreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a project of a kind, from a template of the program.",
    discussion: """
      Missing values are prompted for at a terminal. Kinds: native_swift,
      sync_target, server_job, hybrid_local, hybrid_remote, ios_swiftui.
      Examples:
        fieldforce create --apptype=native_swift --appname=Notes \\
          --packagename=com.acme.notes --organization=Acme
        fieldforce create -t hybrid_remote -n Shop -k com.acme.shop -o Acme \\
          -s apex/Shop
      """)

  @Option(
    name: [.customLong("apptype"), .customShort("t")],
    help: ArgumentHelp("The kind. Default: native_swift.", valueName: "kind"),
    completion: .list(AppType.allCases.map(\.rawValue)))
  var appType: String?
  @OptionGroup var options: ProjectOptions

  func run() async throws {
    let prompt = ParameterPrompt(isNonInteractive: options.isNonInteractive)
    let kinds = AppType.allCases.map(\.rawValue)
    let kind = try prompt.value(
      "apptype", "Kind of app (\(kinds.joined(separator: ", ")))", given: appType,
      standard: AppType.nativeSwift.rawValue
    ) { text in
      kinds.contains(text)
        ? nil : "'\(text)' is not a kind of app. Write one of \(kinds.joined(separator: ", "))"
    }
    try await ProjectCreation(source: .builtIn(kind), options: options, prompt: prompt).run()
  }
}

/// `fieldforce createwithtemplate`: a project from any template.
struct CreateWithTemplateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "createwithtemplate",
    abstract: "Create a project from a template: of the program, in a folder or in a repository.",
    discussion: """
      A template is a folder with a template.json, which says what is replaced; no
      program of it is run. Missing values are prompted for at a terminal.
      'fieldforce listtemplates' lists the program's own templates.
      Examples:
        fieldforce createwithtemplate --templaterepouri=server_job \\
          --appname=Nightly --packagename=com.acme.nightly --organization=Acme
        fieldforce createwithtemplate \\
          --templaterepouri=https://github.com/acme/templates/notes#v2 \\
          --appname=Notes
        fieldforce createwithtemplate -r ../templates/notes -n Notes \\
          -k com.acme.notes -o Acme
      """)

  @Option(
    name: [.customLong("templaterepouri"), .customLong("templatereouri"), .customShort("r")],
    help: ArgumentHelp(
      "A name, a folder, or https://HOST/OWNER/REPOSITORY/FOLDER#BRANCH.", valueName: "template"),
    completion: .directory)
  var template: String?
  @OptionGroup var options: ProjectOptions

  func run() async throws {
    let prompt = ParameterPrompt(isNonInteractive: options.isNonInteractive)
    let name = try prompt.value("templaterepouri", "Template", given: template) { text in
      do throws(TemplateSourceError) {
        _ = try TemplateSource(text)
        return nil
      } catch {
        return error.reason
      }
    }
    let source: TemplateSource
    do throws(TemplateSourceError) {
      source = try TemplateSource(name)
    } catch {
      throw ValidationError("The parameter --templaterepouri is wrong. \(error.reason).")
    }
    try await ProjectCreation(source: source, options: options, prompt: prompt).run()
  }
}

/// The part that both commands share once they know the template.
struct ProjectCreation {
  let source: TemplateSource
  let options: ProjectOptions
  let prompt: ParameterPrompt

  func run() async throws {
    try await source.withFolder { folder in
      let template = try TemplateDescriptor(of: folder)
      let platforms = try platforms(template)
      let parameters = try parameters(template)
      if !options.output.json { summary(template, parameters, platforms).forEach(Console.say) }
      try ProjectMaker(template, parameters).make(from: folder, isInstalled: source.isInstalled)
      let texts = ProjectTexts(template, parameters)
      let bootconfig = template.bootconfigFile.map(texts.replaced(inPath:))
      let nextSteps = template.nextSteps.map { texts.replaced(in: $0) }
      options.output.print([
        "path": .string(parameters.output.path), "apptype": .string(template.appType.rawValue),
        "appname": .string(parameters.appName),
        "bootconfig": bootconfig.map {
          .string(parameters.output.appending(path: $0).path)
        } ?? .null,
        "nextSteps": .array(nextSteps.map { .string($0) }),
      ]) { Self.lines(parameters, nextSteps, bootconfig) }
    }
  }

  private func platforms(_ template: TemplateDescriptor) throws -> Set<Platform> {
    let known = template.platforms.map(\.rawValue).sorted().joined(separator: ", ")
    let text = try prompt.value(
      "platform", "Platforms", given: options.platform,
      standard: template.platforms.map(\.rawValue).sorted().joined(separator: ",")
    ) { text in
      for name in text.split(separator: ",", omittingEmptySubsequences: false) {
        if ["ios", "android"].contains(name.lowercased()) {
          return
            "Projects for \(name) are made by the Mobile SDK's own tools, forceios, forcedroid and forcehybrid. "
            + "The platforms of this template: \(known)"
        }
        guard let platform = Platform(rawValue: name.lowercased()) else {
          return "'\(name)' is not a platform. The platforms of this template: \(known)"
        }
        guard template.platforms.contains(platform) else {
          return "The template is not for \(name). Its platforms: \(known)"
        }
      }
      return nil
    }
    return Set(text.split(separator: ",").compactMap { Platform(rawValue: $0.lowercased()) })
  }

  private func parameters(
    _ template: TemplateDescriptor
  ) throws -> ProjectParameters {
    let appName = try prompt.value("appname", "Name of the app", given: options.appName) {
      ParameterRule.appName($0, template.appType)
    }
    let packageName = try prompt.value(
      "packagename", "Package name, such as com.acme.notes", given: options.packageName,
      rule: ParameterRule.packageName)
    let organization = try prompt.value(
      "organization", "Organization", given: options.organization, rule: ParameterRule.organization)
    var startPage = ""
    if template.appType == .hybridRemote {
      startPage = try prompt.value(
        "startpage", "Start page, such as apex/StartPage", given: options.startPage,
        rule: ParameterRule.startPage)
    } else if options.startPage != nil {
      Console.warn("--startpage is ignored: only a hybrid_remote app has one.")
    }
    let output = try prompt.value(
      "outputdir", "Folder", given: options.outputDir, standard: "./\(appName)"
    ) {
      ParameterRule.outputFolder(URL(filePath: $0, directoryHint: .isDirectory))
    }
    return ProjectParameters(
      appName: appName, packageName: packageName, organization: organization,
      startPage: startPage, output: URL(filePath: output, directoryHint: .isDirectory),
      consumerKey: options.consumerKey, callbackURL: options.callbackURL,
      loginServer: options.loginServer, dependency: try dependency(template))
  }

  private func dependency(_ template: TemplateDescriptor) throws -> FieldforcePackage {
    if let text = options.dependencies {
      guard let place = try? JSONSlice(parsing: text)["Fieldforce"]?.string else {
        throw ValidationError(
          "The parameter --sdkdependencies is wrong. Write {\"Fieldforce\": \"path or URL\"}.")
      }
      return FieldforcePackage(place)
    }
    if let found = FieldforcePackage.ofProgram() { return found }
    if template.appType.isSwift {
      Console.warn(
        "The checkout of Fieldforce that this program was built from is gone: put its address into the project's "
          + "Package.swift.")
    }
    return .url("__INSERT_FIELDFORCE_URL_HERE__")
  }

  private func summary(
    _ template: TemplateDescriptor, _ parameters: ProjectParameters, _ platforms: Set<Platform>
  ) -> [String] {
    let lines = [
      ("kind", template.appType.rawValue),
      ("platforms", platforms.map(\.rawValue).sorted().joined(separator: ", ")),
      ("name", parameters.appName), ("package", parameters.packageName),
      ("organization", parameters.organization), ("folder", parameters.output.path),
      ("template", source.description),
    ]
    return lines.map { $0.0.padded(to: 14) + $0.1 }
  }

  /// The location of the project, and the next steps.
  private static func lines(
    _ parameters: ProjectParameters, _ nextSteps: [String], _ bootconfig: String?
  ) -> [String] {
    let path = parameters.output.path
    var lines = ["created \(path)", "", "cd '\(path)'"] + nextSteps
    if let bootconfig, parameters.consumerKey == nil || parameters.callbackURL == nil {
      lines += [
        "",
        "Before you ship it, put the consumer key and callback URL of your connected app into \(bootconfig).",
      ]
    }
    return lines
  }
}

extension TemplateSource: CustomStringConvertible {
  var description: String {
    switch self {
    case .builtIn(let name): "\(name) of fieldforce"
    case .folder(let url): url.path
    case .repository(let url, let path, let reference):
      url + (path.isEmpty ? "" : "/\(path)") + (reference.map { "#\($0)" } ?? "")
    }
  }
}
