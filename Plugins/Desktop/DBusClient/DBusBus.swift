#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A message bus of the desktop.
public enum DBusBus: Sendable, CustomStringConvertible {
  /// The bus of the user's session, with the secret service and notifications.
  case session
  /// The bus of the device, with logind and polkit.
  case system

  /// `session bus` or `system bus`.
  public var description: String {
    switch self {
    case .session: "session bus"
    case .system: "system bus"
    }
  }

  /// The environment variable with the address.
  var variable: String {
    switch self {
    case .session: "DBUS_SESSION_BUS_ADDRESS"
    case .system: "DBUS_SYSTEM_BUS_ADDRESS"
    }
  }

  /// The sockets of the bus if the environment does not name its address.
  func usualPaths(_ environment: [String: String]) -> [[UInt8]] {
    switch self {
    case .session: environment["XDG_RUNTIME_DIR"].map { [Array("\($0)/bus".utf8)] } ?? []
    case .system: [Array("/run/dbus/system_bus_socket".utf8)]
    }
  }

  /// Whether a socket that `user` made may be the one of this bus.
  func mayBelong(to user: uid_t) -> Bool {
    user == geteuid() || (self == .system && user == 0)
  }
}
