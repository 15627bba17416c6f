#if os(Linux)
  import Foundation
  import Glibc
  import SalesforceSDKCore
  import SalesforceSDKCommon

  /// The desktop's handlers of URL schemes, as `xdg-mime` and `.desktop` files have them.
  struct DesktopSchemes: Sendable {
    /// A handler that was registered, and what it replaced.
    struct Registration: Sendable {
      let scheme: String
      let file: URL
      let former: String?
    }

    private static let prefix = "fieldforce-login-"
    /// No list of defaults is longer.
    private static let maxListBytes = 4 << 20
    private let environment: [String: String]

    init(environment: [String: String]) { self.environment = environment }

    private var home: URL {
      environment["HOME"].map { URL(filePath: $0) }
        ?? FileManager.default.homeDirectoryForCurrentUser
    }
    private var applications: URL {
      (environment["XDG_DATA_HOME"].map { URL(filePath: $0) }
        ?? home.appending(path: ".local/share")).appending(path: "applications")
    }
    /// Where `xdg-mime` writes which program is the default of what.
    private var lists: [URL] {
      let configuration =
        environment["XDG_CONFIG_HOME"].map { URL(filePath: $0) } ?? home.appending(path: ".config")
      return [configuration, applications].map { $0.appending(path: "mimeapps.list") }
    }

    /// Makes a program the handler of a scheme. Its last argument will be the URL.
    ///
    /// - Throws: `OAuthError` `browserLaunchFailed`.
    func register(_ scheme: String, handler: [String]) async throws -> Registration {
      removeStale()
      let type = "x-scheme-handler/\(scheme)"
      let former = try await run("xdg-mime", "query", "default", type).trimmed
      let name = "\(Self.prefix)\(getpid())-\(Base64URL.encode(RandomBytes.make(6))).desktop"
      let registration = Registration(
        scheme: scheme, file: applications.appending(path: name),
        former: former.isEmpty || former.hasPrefix(Self.prefix) ? nil : former)
      do {
        try FileManager.default.createDirectory(at: applications, withIntermediateDirectories: true)
        try Data(Self.text(scheme, handler).utf8).write(to: registration.file, options: .atomic)
        chmod(registration.file.path, 0o600)
      } catch {
        throw OAuthError(
          .browserLaunchFailed,
          "Cannot write \(registration.file.path), which names the handler of \(scheme). Log in with a loopback address.",
          cause: error)
      }
      do {
        _ = try await run("xdg-mime", "default", name, type)
      } catch {
        await remove(registration)
        throw error
      }
      return registration
    }

    /// Removes the handler and restores the former one; in a cancelled task too.
    func remove(_ registration: Registration) async {
      unlink(registration.file.path)
      if let former = registration.former {
        let type = "x-scheme-handler/\(registration.scheme)"
        _ = await Task { try? await run("xdg-mime", "default", former, type) }.value
      }
      forget(registration.file.lastPathComponent)
    }

    /// Removes what processes left that ended before they could.
    private func removeStale() {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: applications.path)) ?? []
      for name in names where name.hasPrefix(Self.prefix) && name.hasSuffix(".desktop") {
        let number = name.dropFirst(Self.prefix.count).prefix { $0 != "-" }
        guard let process = pid_t(number), kill(process, 0) != 0, errno == ESRCH else { continue }
        unlink(applications.appending(path: name).path)
        forget(name)
      }
    }

    /// Removes a name from the lists of defaults: `xdg-mime` can only add one.
    private func forget(_ name: String) {
      for list in lists {
        guard let bytes = (try? DurableFile(list).read(maxBytes: Self.maxListBytes)) ?? nil,
          let text = String(validating: bytes, as: UTF8.self), text.contains(name)
        else { continue }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let kept = lines.compactMap { Self.line($0, without: name) }
        try? Data(kept.joined(separator: "\n").utf8).write(to: list, options: .atomic)
      }
    }

    /// A line `TYPE=NAME;NAME` without a name; nil if no name is left.
    static func line(_ line: Substring, without name: String) -> String? {
      guard let equals = line.firstIndex(of: "="), line.contains(name) else { return String(line) }
      let names = line[line.index(after: equals)...].split(separator: ";").filter { $0 != name }
      return names.isEmpty ? nil : line[...equals] + names.joined(separator: ";") + ";"
    }

    /// The `.desktop` file.
    static func text(_ scheme: String, _ handler: [String]) -> String {
      """
      [Desktop Entry]
      Type=Application
      Name=Login
      Exec=\(handler.map(argument).joined(separator: " ")) %u
      MimeType=x-scheme-handler/\(scheme);
      NoDisplay=true
      Terminal=false
      StartupNotify=false

      """
    }

    /// An argument as the desktop entry specification quotes it. Plain ones stay as they are: `xdg-open` without a desktop
    /// reads no quotes.
    private static func argument(_ text: String) -> String {
      let isPlain = text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
          || "/._-+".utf8.contains($0)
      }
      if isPlain, !text.isEmpty { return text }
      // Escaped twice: as a quoted argument, and as a value of the file.
      let quoted = text.map { "\"`$\\".contains($0) ? "\\\($0)" : String($0) }.joined()
      return "\""
        + quoted.replacing("\\", with: "\\\\").replacing("%", with: "%%").replacing(
          "\n", with: "\\n") + "\""
    }

    /// Runs a program to its end; what it says.
    private func run(_ program: String, _ arguments: String...) async throws -> String {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [program] + arguments
      process.environment = environment
      let output = Pipe()
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      let end = Once<Int32>()
      process.terminationHandler = { end.set($0.terminationStatus) }
      do {
        try process.run()
      } catch {
        throw Self.failure(program, error)
      }
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      guard try await end.value() == 0 else { throw Self.failure(program, nil) }
      return text
    }

    private static func failure(_ program: String, _ cause: (any Error)?) -> OAuthError {
      OAuthError(
        .browserLaunchFailed,
        "\(program) cannot register the scheme. Install xdg-utils, or log in with a loopback address.",
        cause: cause)
    }
  }
#endif
