import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce managed`: prints the organization's requirements for this device.
struct ManagedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "managed", abstract: "Show and check the managed configuration.",
    subcommands: [Status.self, Check.self], defaultSubcommand: Status.self)

  /// The file of this machine: root's `/etc/fieldforce/managed.json`, or the one that `FIELDFORCE_MANAGED` names. Where
  /// there is the former the latter does not count, and it has to belong to root, too.
  static func file() -> ManagedConfigurationFile {
    var files = [
      URL(filePath: "/etc/fieldforce/managed.json"),
      URL(filePath: "/etc/salesforce-mobilesdk/managed/fieldforce.json"),
    ]
    if let path = ProcessInfo.processInfo.environment["FIELDFORCE_MANAGED"], path.hasPrefix("/") {
      files.append(URL(filePath: path))
    }
    return ManagedConfigurationFile(files: files)
  }

  /// `fieldforce managed status`.
  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Show what counts on this machine.",
      discussion: "Example: fieldforce managed --json")

    @OptionGroup var output: OutputOptions

    func run() async throws {
      let configuration = try ManagedCommand.file().current
      output.print(configuration.document) { configuration.lines }
    }
  }

  /// `fieldforce managed check`.
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check a file before it is installed.",
      discussion: """
        Ends with 3 if a value cannot be used, a key is unknown, or users other than
        root could change the file.
        Example: fieldforce managed check /etc/fieldforce/managed.json
        """)

    @Argument(help: "The JSON document.", completion: .file()) var file: String
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let bytes = try InputFile.read(URL(filePath: file))
      let configuration = try ManagedConfiguration(parsing: bytes)
      var problems = configuration.problems.map { ($0.key, $0.message) }
      let keys = (try JSONSlice(parsing: bytes)).value.object?.keys.map { $0 } ?? []
      for key in keys where !ManagedConfiguration.knownKeys.contains(key) {
        problems.append((key, "it is no key that is known, and has no effect"))
      }
      if let doubt = ManagedConfigurationFile.doubt(about: URL(filePath: file)) {
        problems.append(("file", "it would be ignored: \(doubt)"))
      }
      do {
        _ = try configuration.hostList()
      } catch {
        problems.append(("OnlyShowAuthorizedHosts", error.message))
      }
      var document = configuration.document.object ?? [:]
      document["problems"] = .array(
        problems.map { ["key": .string($0.0), "message": .string($0.1)] })
      output.print(.object(document)) {
        configuration.lines + problems.map { "problem: \($0.0): \($0.1)" }
      }
      if !problems.isEmpty {
        throw PartialSuccess(message: "\(counted(problems.count, "problem")) in \(file)")
      }
    }
  }
}

extension Workspace {
  /// Picks up changes of the managed configuration, and reports them on standard error, until the task is cancelled.
  func followManaged() async throws {
    // First the stream, so that no change is missed.
    let changes = managed.changes()
    async let watching: Void = managed.watch(every: .seconds(2))
    for await configuration in changes {
      let first = configuration.lines.first ?? ""
      Console.say("the managed configuration has changed: \(first)")
    }
    try await watching
  }
}

extension ManagedConfiguration {
  /// The result as `{"managed", "keys", "hosts", "onlyItsHosts", "requiresCertificate", ...}`; keys
  /// without a value are omitted.
  var document: JSONValue {
    var object: JSONObject = [
      "managed": .bool(isManaged), "keys": .array(keys.map { .string($0) }),
    ]
    object["hosts"] = .array(
      hosts.map { ["name": .string($0.name), "url": .string($0.server.url.absoluteString)] })
    object["onlyItsHosts"] = .bool(allowsOnlyItsHosts)
    object["requiresCertificate"] = .bool(requiresCertificate)
    object["clearsClipboardOnBackground"] = .bool(clearsClipboardOnBackground)
    for (key, text) in [
      ("clientId", clientId), ("redirectUri", redirectURI), ("certificateAlias", certificateAlias),
      ("identityProviderScheme", identityProviderScheme),
      ("identityProviderPackage", identityProviderPackage),
    ] {
      if let text { object[key] = .string(text) }
    }
    return .object(object)
  }

  /// The same for people.
  var lines: [String] {
    guard isManaged else { return ["this device is not managed"] }
    var lines = ["managed by \(keys.joined(separator: ", "))"]
    lines += hosts.map { "login server \($0.name): \($0.server)" }
    if allowsOnlyItsHosts { lines.append("other login servers are refused") }
    if requiresCertificate { lines.append("logins need the browser, which has the certificate") }
    if let clientId { lines.append("consumer key \(clientId)") }
    if let redirectURI { lines.append("callback \(redirectURI)") }
    if clearsClipboardOnBackground {
      lines.append("the clipboard is to be cleared in the background; this program has none")
    }
    return lines
  }
}
