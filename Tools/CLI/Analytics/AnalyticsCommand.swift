import ArgumentParser
import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce analytics ...`: the events that the SDK stores about its own work.
struct AnalyticsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "analytics",
    abstract: "List, publish and switch off analytics events.",
    discussion: """
      Logins, refreshes of tokens, opened stores, registered soups and syncs are
      events of the current user. They are stored encrypted, name no user, org or
      record, and leave this machine with 'fieldforce analytics publish' alone.
      Example: fieldforce analytics list
      """,
    subcommands: [
      AnalyticsListCommand.self, AnalyticsPublishCommand.self, AnalyticsOptOutCommand.self,
    ])
}

/// `fieldforce analytics list`.
struct AnalyticsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the events of the current user that are not published.",
    discussion: "Example: fieldforce analytics list --json")

  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await state.withWorkspace { workspace in
      let account = try await workspace.currentAccount()
      let isEnabled = try workspace.analytics.isLoggingEnabled(for: account)
      let events = await workspace.analytics.manager(for: account)?.store.fetchAll() ?? []
      if !isEnabled {
        Console.warn("Analytics are off for \(account.username): no events are added or published.")
      }
      output.print(
        [
          "enabled": .bool(isEnabled),
          "maxEvents": .integer(Int64(workspace.analytics.options.maxEvents)),
          "events": .array(events.map(\.document)),
        ], empty: "no events"
      ) {
        Table(
          ["TIME", "EVENT", "CLASS", "ATTRIBUTES"],
          events.map { event in
            [
              SalesforceDate(milliseconds: event.startTime).text, event.name,
              event.page?["context"]?.string ?? "", event.attributes.map { "\($0)" } ?? "",
            ]
          })
      }
    }
  }
}

/// `fieldforce analytics publish`.
struct AnalyticsPublishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish", abstract: "Send the events of the current user to the org.",
    discussion: """
      Events that the org accepts are deleted here. If it refuses some, all are kept
      and sent again the next time.
      Example: fieldforce analytics publish
      """)

  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await state.withWorkspace { workspace in
      let account = try await workspace.currentAccount()
      let report = await workspace.analytics.publish(for: account)
      guard report.failedPublishers == 0 else {
        throw CommandFailure(
          "publicationFailed",
          "\(counted(report.kept, "event")) could not be published. They are kept: run the command again, with "
            + "--verbose to see why.")
      }
      output.print(["published": .integer(Int64(report.published))]) {
        ["\(counted(report.published, "event")) published"]
      }
    }
  }
}

/// `fieldforce analytics optout`.
struct AnalyticsOptOutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "optout", abstract: "Switch analytics off for the current user, or on again.",
    discussion: """
      While they are off, events are neither added nor published. Those that are
      stored stay.
      Example: fieldforce analytics optout
      """)

  @Flag(help: "Switch analytics on again.") var undo = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await state.withWorkspace { workspace in
      let account = try await workspace.currentAccount()
      try await workspace.analytics.setLoggingEnabled(undo, for: account)
      output.print(["enabled": .bool(undo)]) {
        ["analytics are \(undo ? "on" : "off") for \(account.username)"]
      }
    }
  }
}

extension InstrumentationEvent {
  /// The output of a command for an event.
  fileprivate var document: JSONValue {
    [
      "id": .string(eventId), "name": .string(name), "schemaType": .string(schemaType.rawValue),
      "startTime": .integer(startTime), "endTime": .integer(endTime),
      "className": page?["context"] ?? .null, "attributes": attributes.map { .object($0) } ?? .null,
    ]
  }
}
