public import Foundation
import SalesforceSDKCore
import Synchronization

/// The browser that the system opens addresses with.
public enum SystemBrowser: Sendable {
  /// Opens `url` with `xdg-open`, on macOS with `open`, through a file in the home folder that only this user
  /// may read: the address is in the arguments of no program. Removes the file and returns a minute later, or
  /// when the task is cancelled; the browser stays open.
  ///
  /// - Throws: `OAuthError` `browserLaunchFailed` if there is no such program or it fails, or if the file
  ///   cannot be written. `CancellationError`.
  @Sendable
  public static func open(_ url: URL) async throws {
    #if os(Linux)
      try await open(url, with: "xdg-open")
    #elseif os(macOS)
      try await open(url, with: "open")
    #else
      throw OAuthError(
        .browserLaunchFailed, "This system opens no browser from a program. Show the address.")
    #endif
  }

  #if os(Linux) || os(macOS)
    /// A browser reads the file some time after the program has ended that opens it.
    private static let lifetime: Duration = .seconds(60)

    static func open(
      _ url: URL, with program: String, in folder: URL = RedirectPage.usualFolder,
      clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
      let page = try RedirectPage(to: url, in: folder)
      defer { page.remove() }
      try await run([program, page.file.path])
      try await clock.sleep(for: lifetime)
    }

    /// Opens `url` with a browser, which may run for as long as its window is open.
    static func open(
      _ url: URL, with browser: [String], in folder: URL = RedirectPage.usualFolder,
      clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
      let page = try RedirectPage(to: url, in: folder)
      defer { page.remove() }
      try await withThrowingTaskGroup(of: Bool.self) { group in
        defer { group.cancelAll() }
        group.addTask {
          try await run(browser + [page.file.path])
          return false
        }
        group.addTask {
          try await clock.sleep(for: lifetime)
          return true
        }
        // One that ends at once has handed the page to the browser that was there already.
        for try await isOver in group where isOver { return }
      }
    }

    private static func run(_ command: [String]) async throws {
      let program = command[0]
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = command
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      let end = Once<Int32>()
      process.terminationHandler = { end.set($0.terminationStatus) }
      do {
        try process.run()
      } catch {
        throw OAuthError(
          .browserLaunchFailed, "\(program) cannot be started. Open the login page yourself.",
          cause: error)
      }
      let status = try await end.value()
      guard status == 0 else {
        throw OAuthError(
          .browserLaunchFailed,
          "\(program) failed with status \(status). Install it, or open the login page yourself.")
      }
    }

    /// What a short program says.
    static func output(of command: String...) async throws -> String {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = command
      let output = Pipe()
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      do {
        try process.run()
      } catch {
        throw OAuthError(
          .browserLaunchFailed, "\(command[0]) cannot be started. Open the login page yourself.",
          cause: error)
      }
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: bytes, as: UTF8.self)
    }
  #endif
}
