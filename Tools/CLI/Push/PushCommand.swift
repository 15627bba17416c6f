import ArgumentParser
import Foundation
import SalesforcePush
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce push`: the device of the current user, and its notifications (CO-138, HT-72).
struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Register a device for push notifications, and receive them.",
    subcommands: [
      Register.self, Unregister.self, Types.self, Invoke.self, PushListenCommand.self,
    ])

  /// `fieldforce push register`.
  struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "register", abstract: "Register a device of the current user.",
      discussion: """
        The token comes from the push service of a phone or a companion. Registering
        again is no failure.
        Example: fieldforce push register --token @token.txt --bundle com.acme.orders
        """)

    @Option(help: "The device token, @FILE, or - for a line of standard input.") var token: String
    @Option(help: "Whose token it is: Apple or androidGcm.") var service = PushService.apple
      .rawValue
    @Option(help: "The application's id with the push service.") var bundle: String
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard PushService(service) != nil else {
        throw ValidationError("'\(service)' is no push service. Give Apple or androidGcm.")
      }
    }

    func run() async throws {
      let device = PushDevice(
        token: try SecretArgument.read(token, "token"), service: PushService(service) ?? .apple,
        bundle: bundle)
      try await state.withWorkspace { workspace in
        let account = try await workspace.currentAccount()
        let made = try await workspace.push.register(
          device, account: account, client: workspace.client(of: account))
        output.print(["deviceId": made.deviceId.map(JSONValue.string) ?? .null]) {
          ["\(account.username) is registered as \(made.deviceId ?? "-")"]
        }
      }
    }
  }

  /// `fieldforce push unregister`.
  struct Unregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unregister", abstract: "Take the current user's device off the server.",
      discussion: "A logout does so by itself.\nExample: fieldforce push unregister")

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await state.withWorkspace { workspace in
        let account = try await workspace.currentAccount()
        let removed = try await workspace.push.unregister(
          account.identity, client: workspace.client(of: account))
        output.print(["removed": removed.map(JSONValue.bool) ?? .null]) {
          switch removed {
          case nil: ["no device was registered"]
          case true?: ["the device is off the server"]
          case false?: ["the device is forgotten here; the server did not remove it"]
          }
        }
      }
    }
  }

  /// `fieldforce push types`.
  struct Types: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "types", abstract: "List the types of notifications and their actions.",
      discussion: "Without a network, those that were fetched last.\nExample: fieldforce push types"
    )

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await state.withWorkspace { workspace in
        let account = try await workspace.currentAccount()
        let types = try await workspace.push.types(
          account: account, client: workspace.client(of: account))
        output.print(["notificationTypes": .array(types.map(\.json))]) {
          types.flatMap { type in
            ["\(type.apiName)  \(type.label)"]
              + type.actionGroups.flatMap(\.actions).map { "  \($0.actionKey)  \($0.label)" }
          }
        }
      }
    }
  }

  /// `fieldforce push invoke`.
  struct Invoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "invoke", abstract: "Do what a notification offers.",
      discussion: "Example: fieldforce push invoke 0Fr000000000001 order_late.approve")

    @Argument(help: "The notification's id.") var notification: String
    @Argument(help: "The action's key.") var action: String
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      try await state.withWorkspace { workspace in
        let message = try await workspace.push.invoke(
          action: action, notification: notification, client: try await workspace.client())
        output.print(["message": .string(message)]) { [message] }
      }
    }
  }
}
