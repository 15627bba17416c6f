import ArgumentParser
import Foundation
import PushRelay
import SalesforcePush
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce push listen`: prints the notifications of the current user as they arrive.
struct PushListenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen", abstract: "Print notifications as they arrive, until Ctrl-C.",
    discussion: """
      Each is a line of JSON: {"source", "payload"}. The server's list is requested
      every --interval seconds after news, and ever less often without. With
      --relay, a companion can post the payloads of a push service to an address of
      this machine, which the first line on standard output says with its token:
      {"relay", "token"}.
      Example: fieldforce push listen --interval 30
      """)

  @Option(help: "Seconds between requests after news.") var interval = 60.0
  @Flag(help: "Also receive what a companion passes on.") var relay = false
  @Flag(help: "Serve the relay although the program runs as root.") var allowRoot = false
  @Option(help: "The form of relayed payloads: Apple or androidGcm.") var service = PushService
    .apple.rawValue
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (0.1...86_400).contains(interval) else {
      throw ValidationError("--interval has to be 0.1 to 86400 seconds.")
    }
    guard PushService(service) != nil else {
      throw ValidationError("'\(service)' is no push service. Give Apple or androidGcm.")
    }
  }

  func run() async throws {
    let signals = TerminationSignals()
    try await state.withWorkspace { workspace in
      let client = try await workspace.client()
      let receiver = PushReceiver(decoder: PushDecoder(key: workspace.push.key)) { notification in
        Self.print([
          "source": .string("\(notification.source)"), "payload": .object(notification.payload),
        ])
      }
      var options = NotificationPoller.Options()
      options.interval = .seconds(interval)
      let poller = NotificationPoller(client: client, receiver: receiver, options: options)
      let server = try await startRelay(receiver)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await poller.run { error in
            Console.say("warning: \(CommandFailure(error).message)")
          }
        }
        group.addTask { await signals.first() }
        defer { group.cancelAll() }
        try await group.next()
      }
      await server?.stop()
    }
  }

  private func startRelay(_ receiver: PushReceiver) async throws -> PushRelay? {
    guard relay else { return nil }
    let server = try await PushRelay.start(
      receiver, service: PushService(service) ?? .apple, allowsRoot: allowRoot
    ) { error in Console.say("warning: \(error.message)") }
    Self.print(["relay": .string(server.url), "token": .string(server.token)])
    return server
  }

  /// One line at once: its reader waits for it.
  private static func print(_ object: JSONObject) {
    let line = TerminalText.escaped(JSONValue.object(object).text, keepsLines: false)
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
