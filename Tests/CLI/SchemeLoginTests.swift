import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

#if os(Linux)
  /// Does the redirect with a scheme of the app's own come back, through the desktop's real programs?
  @Suite struct SchemeLoginTests {
    private static let redirectURI = "testsfdc:///mobilesdk/detect/oauth/done"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A desktop of the test's own: its home, and a browser that logs in without a person.
    private func environment(_ org: ConnectionInfo, _ open: String) throws -> [String: String] {
      let browser = folder.file("browser")
      try Data(
        """
        #!/bin/sh
        # Reads the page that leads to the login, logs in, and gives the redirect to the desktop.
        page=$(sed -n 's/.*url=\\([^"]*\\)".*/\\1/p' "${1#file://}" | sed 's/&amp;/\\&/g')
        location=$(curl -s -o /dev/null -D - --data-urlencode 'username=\(org.username)' \
          --data-urlencode 'password=\(org.password)' "$page" | tr -d '\\r' | sed -n 's/^Location: //Ip')
        printf '%s\\n' "$location" > '\(folder.file("location").path)'
        ls '\(folder.url.path)/.local/share/applications' > '\(folder.file("registered").path)'
        stat -c %a "$XDG_RUNTIME_DIR"/fieldforce-* "$XDG_RUNTIME_DIR"/fieldforce-*/* \
          > '\(folder.file("permissions").path)'
        \(open)
        """.utf8
      ).write(to: browser)
      chmod(browser.path, 0o700)
      let runtime = folder.file("run")
      try FileManager.default.createDirectory(
        at: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return [
        "HOME": folder.url.path, "BROWSER": browser.path, "XDG_RUNTIME_DIR": runtime.path,
        "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "XDG_CURRENT_DESKTOP": "", "DISPLAY": "",
        "WAYLAND_DISPLAY": "",
      ].filter { !$0.value.isEmpty }
    }

    private func logIn(_ open: String, former: String? = nil) async throws -> Tool.Result {
      try await withMockOrg { _, server in
        let tool = try Tool()
        let environment = try environment(server.info, open)
        if let former {
          let lists = folder.file(".config")
          try FileManager.default.createDirectory(at: lists, withIntermediateDirectories: true)
          try Data("[Default Applications]\nx-scheme-handler/testsfdc=\(former)\n".utf8).write(
            to: lists.appending(path: "mimeapps.list"))
          let applications = folder.file(".local/share/applications")
          try FileManager.default.createDirectory(
            at: applications, withIntermediateDirectories: true)
          try Data("[Desktop Entry]\nType=Application\nName=x\nExec=true %u\n".utf8).write(
            to: applications.appending(path: former))
        }
        return try await tool.run(
          [
            "login", "--url", server.info.url, "--browser", "--client-id", server.info.clientId,
            "--redirect-uri", Self.redirectURI, "--state", tool.state.path, "--json",
          ], environment: environment)
      }
    }

    private func text(_ name: String) throws -> String {
      try String(contentsOf: folder.file(name), encoding: .utf8)
    }

    @Test(
      .covers("CO-44.6", "HT-74.2"),
      .enabled(if: SchemeLoginTests.hasDesktopPrograms, "xdg-utils and curl are not installed"))
    func `a redirect with a scheme of its own comes back, and nothing of its handler is left`()
      async throws
    {
      let foreign =
        #"DISPLAY=:99 xdg-open "testsfdc:///mobilesdk/detect/oauth/done?code=x&state=other""#
      let result = try await logIn(
        "\(foreign); DISPLAY=:99 xdg-open \"$location\"", former: "other.desktop")
      let account = try result.document()
      #expect(account["username"]?.string != nil)
      #expect(try text("location").hasPrefix("\(Self.redirectURI)?code="))
      // While it waited: one handler, a folder of this user's alone, and a socket and a token in it.
      let registered = try text("registered").split(separator: "\n")
      #expect(registered.count { $0.hasPrefix("fieldforce-login-") } == 1)
      #expect(try text("permissions").split(separator: "\n").sorted().first == "600")
      #expect(try text("permissions").split(separator: "\n").contains("700"))
      // Afterwards: the former handler, and nothing else.
      let applications = folder.file(".local/share/applications")
      let left = try FileManager.default.contentsOfDirectory(atPath: applications.path)
      #expect(
        !left.contains { $0.hasPrefix("fieldforce-login-") } && left.contains("other.desktop"))
      let list = try text(".config/mimeapps.list")
      #expect(list.contains("x-scheme-handler/testsfdc=other.desktop"))
      #expect(!list.contains("fieldforce-login-"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("run").path).isEmpty)
    }

    @Test(.covers("CO-44.6", "HT-74.2"))
    func `a redirect that no login waits for, and flows that show tokens, are refused`()
      async throws
    {
      let tool = try Tool()
      let late = try await tool.run([
        "login-redirect", folder.url.path, "\(Self.redirectURI)?code=x&state=y",
      ])
      #expect(late.status == 1 && late.errors.contains("No program waits"))
      #expect(!late.errors.contains("code=x"))
      let tokens = try await tool.run([
        "login", "--url", "https://acme.my.salesforce.com", "--browser", "--user-agent-flow",
        "--redirect-uri", Self.redirectURI, "--state", tool.state.path,
      ])
      #expect(tokens.status != 0 && tokens.errors.contains("web-server flow"))
    }

    static var hasDesktopPrograms: Bool {
      ["xdg-open", "xdg-mime", "curl"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
      }
    }
  }
#endif
