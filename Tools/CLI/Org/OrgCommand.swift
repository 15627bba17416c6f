import ArgumentParser
import Foundation
import SalesforceMockOrg

/// `fieldforce org`: the mock org.
struct OrgCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "org", abstract: "Run a mock org.", subcommands: [OrgServeCommand.self])
}

/// `fieldforce org serve`: serves a mock org until a signal stops it.
struct OrgServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve a mock org on this machine.",
    discussion: """
      The first line of output is one JSON object with the address and everything
      that a client needs to log in. SIGINT or SIGTERM ends the server.

      Examples:
        fieldforce org serve --port 8080 --data plan.json
        fieldforce org serve --generate Account=10000 --seed 7
        fieldforce org serve --source my-project --setup users.json \\
          --redirect https://app.example/done
        fieldforce org serve --port 8080 --instance-url https://org.example
        fieldforce org serve --random-secrets
      """)

  @Option(help: "The address to listen on: a loopback address.") var host = "127.0.0.1"
  @Option(help: "The port; 0 takes a free one.") var port = 0
  @Option(help: "A file of fault injection rules.", completion: .file())
  var faults: String?
  @Option(
    help: ArgumentHelp(
      "An address that logins may return to, besides loopback and apps' own schemes; may be repeated.",
      valueName: "url"))
  var redirect: [String] = []

  @Option(
    help: ArgumentHelp(
      "The address that login responses and identity URLs name, for clients behind a proxy.",
      valueName: "url"),
    transform: OrgServeCommand.instanceURL)
  var instanceURL: URL?

  @Option(
    name: .customLong("client-id"),
    help: ArgumentHelp(
      "A further consumer key that the org knows; may be repeated.", valueName: "key"))
  var clientIds: [String] = []

  @Flag(help: "Serve clients with any consumer key; a real org refuses unknown ones.")
  var anyClient = false

  @Option(
    name: .customLong("allow-host"),
    help: ArgumentHelp(
      "A further host name by which clients may call the org; may be repeated.", valueName: "name"))
  var hosts: [String] = []

  @Flag(
    help: """
      Make a random password and client secret, and refuse unsigned assertions, so that other users of this \
      machine cannot log in.
      """)
  var randomSecrets = false

  @Option(
    help: "A folder of pages: NAME.html is served at /apex/NAME to users with a session cookie.",
    completion: .directory)
  var pages: String?

  @Flag(help: "Accept ALL ROWS and WITH SECURITY_ENFORCED over REST, which a real org refuses.")
  var apexClauses = false

  @OptionGroup var contents: OrgContents

  func validate() throws {
    guard MockOrgServer.canListen(on: host) else {
      throw ValidationError("The mock org listens only on loopback addresses, not on \(host).")
    }
    guard (0...65535).contains(port) else { throw ValidationError("\(port) is not a port.") }
  }

  private static func instanceURL(_ text: String) throws -> URL {
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host?.isEmpty == false, ["", "/"].contains(url.path), url.query == nil,
      url.fragment == nil
    else {
      throw ValidationError(
        "'\(text)' is not an http or https address without a path, such as https://org.example.")
    }
    return url
  }

  func run() async throws {
    let signals = TerminationSignals()
    try await withThrowingTaskGroup { group in
      group.addTask { try await serve() }
      // Also during the import: what was created so far is discarded.
      group.addTask { await signals.first() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Loads and serves until the task is cancelled.
  private func serve() async throws {
    var options = MockOrgOptions()
    options.redirectURIs = Set(redirect)
    options.acceptsApexClauses = apexClauses
    options.instanceURL = instanceURL
    options.otherClientIds.formUnion(clientIds)
    options.acceptsUnknownClients = anyClient
    options.otherHosts = Set(hosts)
    options.pages = pages.map { URL(filePath: $0, directoryHint: .isDirectory) }
    if randomSecrets { options.useRandomSecrets() }
    let org = try await contents.makeOrg(options)
    if let faults { try org.load(faults: URL(filePath: faults)) }
    let server = try await MockOrgServer.start(org, host: host, port: port)
    print(server.info.json)
    // The reader of the first line may wait on a pipe.
    fflush(nil)
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    await server.stop()
  }
}

/// The content of a new mock org.
struct OrgContents: ParsableArguments {
  @Option(help: "An sObject tree plan to load; may be repeated.", completion: .file())
  var data: [String] = []

  @Option(help: "A folder of describe results that add to the schema.", completion: .directory)
  var describe: String?

  @Option(
    help: "A project in source format whose objects and fields add to the schema; may be repeated.",
    completion: .directory)
  var source: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file of users, profiles, policies, sharing and duplicate rules.",
      discussion: """
        Its member 'identity' has the policies of the identity service, for instance
        {"mobile_policy": {"screen_lock": 10, "pin_length": 6}} to lock apps.
        """), completion: .file())
  var setup: String?

  @Option(help: ArgumentHelp("Records to generate; may be repeated.", valueName: "Object=count"))
  var generate: [GeneratedRecords] = []

  @Option(help: "The seed of generated records.") var seed: UInt64 = 1

  /// Creates the org and loads its data; prints progress and result on standard error.
  func makeOrg(_ options: MockOrgOptions = MockOrgOptions()) async throws -> MockOrg {
    var options = options
    let setup = try setup.map { try MockOrgSetup(file: URL(filePath: $0)) }
    options.otherUsers += setup?.users ?? []
    if let policy = setup?.identityPolicy { options.identityPolicy = policy }
    let org = try MockOrg(options)
    if let describe { try await org.load(describesIn: URL(filePath: describe)) }
    for project in source { try await org.load(sourceFormat: URL(filePath: project)) }
    for plan in data {
      let url = URL(filePath: plan)
      try await LoadingProgress(title: url.lastPathComponent).follow { progress in
        try await org.load(plan: url, progress: progress)
          .map { "\($0.count.formatted()) \($0.object)" }.joined(separator: ", ")
      }
    }
    for records in generate {
      try await LoadingProgress(title: records.object).follow { progress in
        try await org.generate(records.object, count: records.count, seed: seed) { made in
          progress(made, records.count)
        }
        return "\(records.count.formatted()) made up"
      }
    }
    // Only now are all objects known that the setup may name.
    if let setup { try await org.apply(setup) }
    return org
  }
}

/// `Account=10000`.
struct GeneratedRecords: ExpressibleByArgument {
  let object: String
  let count: Int

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let count = Int(parts[1]), count >= 0 else {
      return nil
    }
    object = String(parts[0])
    self.count = count
  }
}
