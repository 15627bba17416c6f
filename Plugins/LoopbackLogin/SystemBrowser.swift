public import Foundation
import SalesforceSDKCore
import Synchronization

/// The browser that the system opens addresses with.
public enum SystemBrowser: Sendable {
  /// Opens `url` with `xdg-open`, on macOS with `open`. It returns when that program ends, or when
  /// the task is cancelled; the browser stays open.
  ///
  /// - Throws: `OAuthError` `browserLaunchFailed` if there is no such program or it fails.
  @Sendable
  public static func open(_ url: URL) async throws {
    #if os(Linux)
      try await run("xdg-open", url)
    #elseif os(macOS)
      try await run("open", url)
    #else
      throw OAuthError(
        .browserLaunchFailed, "this system opens no browser from a program; show the address")
    #endif
  }

  #if os(Linux) || os(macOS)
    private static func run(_ program: String, _ url: URL) async throws {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [program, url.absoluteString]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      let end = Once<Int32>()
      process.terminationHandler = { end.set($0.terminationStatus) }
      do {
        try process.run()
      } catch {
        throw OAuthError(
          .browserLaunchFailed, "\(program) cannot be started; open the login page yourself",
          cause: error)
      }
      let status = try await end.value()
      guard status == 0 else {
        throw OAuthError(
          .browserLaunchFailed,
          "\(program) failed with status \(status); install it, or open the login page yourself")
      }
    }
  #endif
}
