import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// The time of the last use of an unlocked state folder, for the next command.
///
/// It is a secret, so that a program without the key cannot make it up, and a moment on the clock of the device, so that
/// a restart locks.
enum LastUse {
  private static let name = SecretName(service: "fieldforce.lastUse")

  /// The moment; nil if it is unknown.
  static func read(in secrets: some SecretStore) -> BootTime? {
    guard let bytes = try? secrets.read(name), let json = try? JSONSlice(parsing: bytes),
      let boot = json["boot"]?.string, let milliseconds = json["milliseconds"]?.int64
    else { return nil }
    return BootTime(boot: boot, elapsed: .milliseconds(milliseconds))
  }

  /// Stores the moment.
  ///
  /// - Parameter isAuthenticated: Whether the user has authenticated for it. Otherwise a moment that another process has
  ///   forgotten since, by a login or a lock, stays forgotten.
  static func write(
    _ time: BootTime?, isAuthenticated: Bool, in secrets: some SecretStore
  ) throws(SecretStoreError) {
    guard let time else { return try forget(in: secrets) }
    let milliseconds = Int64(time.elapsed / .milliseconds(1))
    let json: JSONValue = ["boot": .string(time.boot), "milliseconds": .integer(milliseconds)]
    try secrets.update(name) { former in
      former == nil && !isAuthenticated ? nil : Array(json.text.utf8)
    }
  }

  static func forget(in secrets: some SecretStore) throws(SecretStoreError) {
    try secrets.remove(name)
  }
}
