import AuthFlows
import Foundation
import LoopbackLogin
import SalesforceSDKCore

/// The arguments of the program.
struct Arguments {
  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  let flows: [AuthFlow]
  private var options: [String: String] = [:]

  private static let names = ["--url", "--client-id", "--redirect-uri"]

  init(_ arguments: some Sequence<String>) throws {
    var flows: [AuthFlow] = []
    var pending: String?
    for argument in arguments {
      if let name = pending {
        options[name] = argument
        pending = nil
      } else if Self.names.contains(argument) {
        pending = argument
      } else if let flow = AuthFlow(rawValue: argument) {
        flows.append(flow)
      } else {
        let known = AuthFlow.allCases.map(\.rawValue).joined(separator: ", ")
        throw Wrong(description: "'\(argument)' is no login. There are: \(known).")
      }
    }
    if let pending { throw Wrong(description: "\(pending) needs a value.") }
    self.flows = flows.isEmpty ? AuthFlow.allCases : flows
  }

  /// The settings for an org; nil without `--url`.
  func settings() throws -> AuthSettings? {
    guard let url = options["--url"] else { return nil }
    guard let clientId = options["--client-id"] else {
      throw Wrong(description: "--url needs --client-id, the consumer key of your connected app.")
    }
    let redirect = options["--redirect-uri"] ?? "http://localhost:1717/OauthRedirect"
    var settings = AuthSettings(
      server: try LoginServer(url), app: ConnectedApp(clientId: clientId, redirectURI: redirect),
      presenter: Self.presenter,
      showDeviceCode: { print("Enter the code \($0.userCode) at \($0.verificationURL)") })
    let environment = ProcessInfo.processInfo.environment
    settings.clientSecret = environment["CLIENT_SECRET"]
    settings.username = environment["SF_USERNAME"]
    settings.password = environment["SF_PASSWORD"]
    if let file = environment["JWT_KEY_FILE"] {
      do {
        settings.signingKey = try String(contentsOfFile: file, encoding: .utf8)
      } catch {
        throw Wrong(description: "The key file \(file) cannot be read. Check JWT_KEY_FILE.")
      }
    }
    return settings
  }

  @Sendable private static func presenter(of flow: AuthFlow) -> any LoginPresenter {
    guard flow == .pasted else {
      return LoopbackLoginPresenter { try await SystemBrowser.open($0) }
    }
    return PastedLoginPresenter(
      show: { print("Open \($0.absoluteString)\nand paste the address of its last page:") },
      read: { readLine() })
  }
}
