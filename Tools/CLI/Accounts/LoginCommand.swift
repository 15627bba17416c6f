import ArgumentParser
import Foundation
import LoopbackLogin
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce login`: makes an account, through the browser or from tokens.
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Log in, through the browser or with tokens from elsewhere.",
    discussion: """
      Examples:
        fieldforce login --url https://acme.my.salesforce.com --browser --client-id 3MVG9...
        fieldforce login --url http://127.0.0.1:8080 --access-token 00D... --refresh-token 5Aep...
      """)

  @Option(
    help: "The login server, or the tokens' instance. https; on this machine also http.")
  var url: String

  @Flag(help: "Log in through the system's browser.")
  var browser = false

  @Option(help: "An access token.")
  var accessToken: String?

  @Option(help: "The refresh token that belongs to it.")
  var refreshToken: String?

  @Option(help: "The consumer key of the connected app.")
  var clientId = "PlatformCLI"

  @Option(help: "The connected app's callback address; port 0 takes any free port.")
  var redirectUri = "http://localhost:1717/OauthRedirect"

  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard browser != (accessToken != nil) else {
      throw ValidationError("Give either --browser or --access-token.")
    }
    guard refreshToken == nil || accessToken != nil else {
      throw ValidationError("--refresh-token goes with --access-token.")
    }
  }

  func run() async throws {
    let server = try LoginServer(url)
    // Tokens for web content are of no use to a command line tool.
    let app = ConnectedApp(
      clientId: clientId, redirectURI: redirectUri, usesHybridGrants: false)
    try await state.withWorkspace { workspace in
      let account: UserAccount
      if let accessToken {
        account = try await workspace.accounts.logIn(
          accessToken: accessToken, refreshToken: refreshToken, instance: server, app: app)
      } else {
        Console.say("waiting for the login in the browser …")
        account = try await workspace.accounts.logIn(
          to: server, app: app, presenter: LoopbackLoginPresenter())
      }
      output.print(account.document(isCurrent: true)) {
        ["logged in as \(account.username) (\(account.identity))"]
      }
    }
  }
}

extension UserAccount {
  /// `{"username", "userId", "organizationId", "instanceUrl", "current"}`.
  func document(isCurrent: Bool) -> JSONValue {
    [
      "username": .string(username), "userId": .string(userId),
      "organizationId": .string(organizationId),
      "instanceUrl": credentials.instanceURL.map { .string($0.absoluteString) } ?? .null,
      "current": .bool(isCurrent),
    ]
  }
}
