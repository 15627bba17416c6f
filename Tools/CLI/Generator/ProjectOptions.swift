import ArgumentParser
import Foundation

/// The parameters of the commands that make a project.
///
/// Every value may be missing: at a terminal the user is prompted for it.
struct ProjectOptions: ParsableArguments {
  @Option(
    name: [.customLong("platform"), .customShort("p")],
    help: ArgumentHelp(
      "A list of platforms: linux, apple. Default: those of the template.", valueName: "list"))
  var platform: String?
  @Option(
    name: [.customLong("appname"), .customShort("n")],
    help: ArgumentHelp(
      "The name of the app: letters, digits, '_' and '-', without blanks.", valueName: "name"))
  var appName: String?
  @Option(
    name: [.customLong("packagename"), .customShort("k")],
    help: ArgumentHelp("A domain in reverse, such as com.acme.notes.", valueName: "name"))
  var packageName: String?
  @Option(
    name: [.customLong("organization"), .customShort("o")],
    help: ArgumentHelp("The name of the organization.", valueName: "name"))
  var organization: String?
  @Option(
    name: [.customLong("startpage"), .customShort("s")],
    help: ArgumentHelp(
      "The first page of a hybrid_remote app, such as apex/StartPage.", valueName: "path"))
  var startPage: String?
  @Option(
    name: [.customLong("outputdir"), .customShort("d")],
    help: ArgumentHelp(
      "The new or empty folder of the project. Default: ./APPNAME.", valueName: "folder"),
    completion: .directory)
  var outputDir: String?
  @Option(
    name: .customLong("consumerkey"),
    help: ArgumentHelp("The consumer key of the app's connected app.", valueName: "key"))
  var consumerKey: String?
  @Option(
    name: .customLong("callbackurl"),
    help: ArgumentHelp("The callback URL of the app's connected app.", valueName: "url"))
  var callbackURL: String?
  @Option(
    name: .customLong("loginserver"),
    help: ArgumentHelp(
      "The login server. Default: https://login.salesforce.com.", valueName: "url"))
  var loginServer: String?
  @Flag(
    name: .customLong("non-interactive"),
    help: "Never prompt; end with 2 if a value is missing or wrong.")
  var isNonInteractive = false
  @Option(
    name: .customLong("sdkdependencies"),
    help: ArgumentHelp(
      "Where the package is, as JSON: {\"Fieldforce\": \"path or URL\"}.", valueName: "json",
      visibility: .hidden))
  var dependencies: String?
  @Option(
    name: .customLong("pluginrepouri"),
    help: ArgumentHelp("Of the Mobile SDK's own tools; ignored.", visibility: .hidden))
  var pluginRepository: String?
  @OptionGroup var output: OutputOptions
}
