#if os(Linux)
  import Foundation
  import Glibc
  import PeerSocket
  import SalesforceSDKCore
  import Testing
  import TestSupport

  @testable import LoopbackLogin

  /// What does the desktop get for a scheme, and what is left of it?
  @Suite struct DesktopSchemesTests {
    @Test(.covers("HT-74.2"))
    func `a handler's path with special characters is quoted, others are plain`() {
      let plain = DesktopSchemes.text("acme", ["/usr/bin/acme", "login-redirect", "/run/x_1"])
      #expect(plain.contains("\nExec=/usr/bin/acme login-redirect /run/x_1 %u\n"))
      #expect(plain.contains("\nMimeType=x-scheme-handler/acme;\n"))
      let special = DesktopSchemes.text("acme", ["/opt/my app/100%/a\"b$c\\"])
      #expect(special.contains(#"Exec="/opt/my app/100%%/a\\"b\\$c\\\\" %u"#))
    }

    @Test(.covers("HT-74.2")) func `only the handler's own name leaves the list of defaults`() {
      func line(_ text: String) -> String? { DesktopSchemes.line(text[...], without: "a.desktop") }
      #expect(line("x-scheme-handler/acme=a.desktop") == nil)
      #expect(
        line("x-scheme-handler/acme=a.desktop;b.desktop;") == "x-scheme-handler/acme=b.desktop;")
      #expect(line("text/html=b.desktop") == "text/html=b.desktop")
      #expect(line("[Default Applications]") == "[Default Applications]")
    }

    @Test(.covers("CO-44.6"))
    func `addresses that the browser opens itself, and flows that show tokens, are refused`() async
    {
      for (uri, flow) in [
        ("https://acme.example/done", AuthorizationFlow.webServer), ("done", .webServer),
        ("file:///done", .webServer), ("acme:///done", .userAgent),
      ] {
        let attempt = AuthorizationSession(
          app: ConnectedApp(clientId: "c", redirectURI: uri), server: .production, flow: flow)
        let presenter = SchemeLoginPresenter(
          handler: ["/bin/true"], environment: ["PATH": "/nonexistent"]
        ) { _ in Issue.record("the page was opened") }
        let error = await #expect(throws: OAuthError.self) {
          try await presenter.redirect(of: attempt)
        }
        #expect(error?.code == .invalidRequest, "\(uri)")
      }
    }

    @Test(.covers("CO-44.6", "HT-95.1"))
    func `a redirect reaches the login with the token of its folder alone`() async throws {
      let room = try RedirectRoom()
      defer { room.remove() }
      let taken = Once<String>()
      let listener = try await room.listen { address in
        guard address.hasSuffix("mine") else { return false }
        taken.set(address)
        return true
      }
      func code(_ url: String, _ folder: URL) async -> OAuthError.Code? {
        do {
          try await SchemeRedirect.deliver(url, folder: folder)
          return nil
        } catch {
          return (error as? OAuthError)?.code
        }
      }
      #expect(await code("acme:///done?other", room.folder) == .stateMismatch)
      // Another folder with the same socket has another token.
      let planted = try TemporaryFolder()
      #expect(chmod(planted.url.path, 0o700) == 0)
      try FileManager.default.createSymbolicLink(
        atPath: planted.file("redirect.sock").path, withDestinationPath: room.socket)
      try Data("guessed".utf8).write(to: planted.file("token"))
      #expect(await code("acme:///done?mine", planted.url) == .timedOut)
      // Nor does a pipe in place of the token stop the program that shows it.
      #expect(
        unlink(planted.file("token").path) == 0 && mkfifo(planted.file("token").path, 0o600) == 0)
      #expect(await code("acme:///done?mine", planted.url) == .timedOut)
      #expect(await code("acme:///done?mine", room.folder) == nil)
      #expect(try await taken.value() == "acme:///done?mine")
      await listener.stop()
      #expect(await code("acme:///done?mine", room.folder) == .timedOut)
    }

    @Test(.covers("BX-128")) func `a private window is known of the usual browsers`() {
      let commands = [
        "firefox.desktop": ["firefox", "--private-window"],
        "org.mozilla.firefox.desktop": ["firefox", "--private-window"],
        "firefox_firefox.desktop": ["firefox", "--private-window"],
        "chromium-browser.desktop": ["chromium-browser", "--incognito"],
        "google-chrome.desktop": ["google-chrome", "--incognito"],
        "microsoft-edge.desktop": ["microsoft-edge", "--inprivate"],
      ]
      for (file, command) in commands {
        #expect(SystemBrowser.privateCommand(desktopFile: file) == command)
      }
      #expect(SystemBrowser.privateCommand(desktopFile: "lynx.desktop") == nil)
      #expect(SystemBrowser.privateCommand(desktopFile: "") == nil)
    }
  }
#endif
