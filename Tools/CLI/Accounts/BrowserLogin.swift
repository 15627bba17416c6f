import ArgumentParser
import Foundation
import LoopbackLogin
import SalesforceSDKCore

/// Logins in the system's browser.
enum BrowserLogin {
  /// Shows the login page of an app, and receives the redirect on a port or, for a scheme of the app's own, from the desktop.
  ///
  /// - Parameter isPrivate: Whether the page opens in a private window.
  static func presenter(
    for app: ConnectedApp, isPrivate: Bool = false
  ) -> any LoginPresenter {
    let open: LoopbackLoginPresenter.Opener = { page in
      try await show(page, isPrivate: isPrivate)
    }
    #if os(Linux)
      let scheme = app.redirectURI.prefix { $0 != ":" }.lowercased()
      if !["http", "https"].contains(scheme) {
        return SchemeLoginPresenter(
          handler: [program, LoginRedirectCommand.configuration.commandName ?? ""], open: open)
      }
    #endif
    return LoopbackLoginPresenter(open: open)
  }

  /// The path of this program.
  private static var program: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }

  /// Opens the system's browser and prints the address, in case no browser opens.
  private static func show(_ page: URL, isPrivate: Bool) async throws {
    Console.say("waiting for the login in the browser; if none opens, open this address:")
    Console.say(page.absoluteString)
    do {
      #if os(Linux)
        if isPrivate { return try await SystemBrowser.openPrivately(page) }
      #endif
      try await SystemBrowser.open(page)
    } catch let error as OAuthError {
      // The user can also open the address by hand.
      Console.say(error.message)
    }
  }
}

#if os(Linux)
  /// `fieldforce login-redirect`: what the desktop starts with the redirect of a login.
  struct LoginRedirectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "login-redirect",
      abstract: "Pass the redirect of a login on to the command that waits for it.",
      shouldDisplay: false)

    @Argument(help: "The folder of the login.", completion: .directory)
    var folder: String

    @Argument(help: "The redirect.")
    var address: String

    func run() async throws {
      try await SchemeRedirect.deliver(address, folder: URL(filePath: folder))
    }
  }
#endif
