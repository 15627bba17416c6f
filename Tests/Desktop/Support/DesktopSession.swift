import DBusClient
import Foundation
import SalesforceSDKCommon
import SecretService
import Subprocess
import Synchronization
import TestSupport
import Testing

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// A session bus of a test's own, with gnome-keyring-daemon on it.
struct DesktopSession: Sendable {
  /// The address of the bus.
  let address: String
  /// The home folder with the collection; it survives the session.
  let home: URL

  /// Whether the programs are there.
  static let exists =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-run-session")
    && FileManager.default.isExecutableFile(atPath: "/usr/bin/gnome-keyring-daemon")

  /// Runs a session while `body` does.
  ///
  /// - Parameter hasKeyring: Whether a collection is unlocked, as by the login to a desktop; without it the bus knows no
  ///   service at all.
  static func with<Result: Sendable>(
    home: URL, hasKeyring: Bool = true,
    _ body: @Sendable @escaping (DesktopSession) async throws -> Result
  ) async throws -> Result {
    let configuration = home.appending(path: "bus.conf")
    try Data(
      """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig><type>session</type><listen>unix:tmpdir=\(home.path)</listen><auth>EXTERNAL</auth>
      <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
      <allow own="*"/></policy></busconfig>
      """.utf8
    ).write(to: configuration)
    // The session ends when its standard input does.
    let keyring = """
      echo "$DBUS_SESSION_BUS_ADDRESS"
      printf password | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>&1 &
      keyring=$!; cat >/dev/null; kill $keyring; wait $keyring
      """
    let empty = #"echo "$DBUS_SESSION_BUS_ADDRESS"; cat >/dev/null"#
    let ended = try await Subprocess.run(
      .path("/usr/bin/dbus-run-session"),
      arguments: Arguments([
        "--config-file=\(configuration.path)", "--", "sh", "-c", hasKeyring ? keyring : empty,
      ]),
      environment: .inherit.updating([
        "HOME": home.path, "XDG_DATA_HOME": home.path, "XDG_RUNTIME_DIR": home.path,
        "XDG_CONFIG_HOME": home.path,
      ]),
      input: .inputWriter, output: .sequence, error: .discarded
    ) { execution in
      var lines = execution.standardOutput.strings().makeAsyncIterator()
      let line = try await lines.next() ?? ""
      let address = line.trimmingCharacters(in: .whitespacesAndNewlines)
      let session = DesktopSession(address: address, home: home)
      let result: Swift.Result<Result, any Error>
      do {
        if hasKeyring { try await session.awaitKeyring() }
        result = .success(try await body(session))
      } catch {
        result = .failure(error)
      }
      try await execution.standardInputWriter.finish()
      while try await lines.next() != nil {}
      return result
    }
    return try ended.closureResult.get()
  }

  /// Waits until the daemon has its name on the bus.
  private func awaitKeyring() async throws {
    let start = ContinuousClock.now
    while start.duration(to: .now) < .seconds(20) {
      do throws(SecretStoreError) {
        _ = try store().list()
        return
      } catch {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    Issue.record("gnome-keyring-daemon did not start")
  }

  /// The secrets of an application in the secret service.
  func store(_ application: String = "test") -> SecretServiceStore {
    SecretServiceStore(
      application: application, lock: home.appending(path: "keyring.lock"), address: address)
  }

  /// Locks the default collection, as the end of a session on a desktop does.
  func lockKeyring() throws {
    let connection = try DBusConnection(address: address)
    let result = try connection.call(
      "Lock", on: "/org/freedesktop/secrets", interface: "org.freedesktop.Secret.Service",
      of: "org.freedesktop.secrets",
      .array("o", [.objectPath("/org/freedesktop/secrets/collection/login")]))
    #expect(result.first?.texts == ["/org/freedesktop/secrets/collection/login"])
  }
}
