#if os(Linux)
  public import Foundation
  import SalesforceSDKCore
  import SalesforceSDKCommon

  extension SystemBrowser {
    /// Opens `url` in a private window of the user's browser, which shares no session with its other windows and forgets this
    /// one when it is closed (BX-128). As ``open(_:)``, the address is in the arguments of no program.
    ///
    /// It knows Firefox, LibreWolf, Chromium, Chrome, Brave, Edge, Opera and Vivaldi.
    ///
    /// - Throws: `OAuthError` `browserLaunchFailed` if the user's browser is another one or cannot be started.
    ///   `CancellationError`.
    @Sendable
    public static func openPrivately(_ url: URL) async throws {
      let name = try await output(of: "xdg-settings", "get", "default-web-browser").trimmed
      guard let command = privateCommand(desktopFile: name) else {
        throw OAuthError(
          .browserLaunchFailed,
          "No private window is known for the browser '\(name)'. Open the login page yourself.")
      }
      try await open(url, with: command)
    }

    /// The program and the option of a browser's private windows, by the name of its `.desktop` file.
    static func privateCommand(desktopFile name: String) -> [String]? {
      let option: [(String, String)] = [
        ("firefox", "--private-window"), ("librewolf", "--private-window"),
        ("chromium", "--incognito"), ("google-chrome", "--incognito"),
        ("brave-browser", "--incognito"), ("vivaldi", "--incognito"),
        ("microsoft-edge", "--inprivate"), ("opera", "--private"),
      ]
      let file = name.hasSuffix(".desktop") ? String(name.dropLast(8)) : name
      // Such as `org.mozilla.firefox` and `firefox_firefox`; the last part is the program.
      let program = file.split { $0 == "." || $0 == "_" }.last.map(String.init) ?? ""
      return option.first { program.hasPrefix($0.0) }.map { [program, $0.1] }
    }
  }
#endif
