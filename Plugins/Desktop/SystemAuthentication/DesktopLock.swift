#if os(Linux)
  import DBusClient
  import Foundation
  public import SalesforceSDKCore

  /// Locks an app together with the desktop's session: follows the signal `Lock` of logind (CO-156).
  ///
  /// ```swift
  /// let task = Task { try await DesktopLock().follow(lock) }
  /// ```
  ///
  /// Unlocking the desktop does not unlock the app. The app is locked only if an org demands locks.
  public struct DesktopLock: Sendable {
    private static let service = "org.freedesktop.login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private let session: String?
    private let address: String?

    /// Creates a lock that follows a session.
    ///
    /// - Parameters:
    ///   - session: The id of the session. Default: `XDG_SESSION_ID` of the environment, else the session of
    ///     this process.
    ///   - address: The address of the system bus. Default: that of the environment.
    public init(session: String? = nil, address: String? = nil) {
      self.session = session ?? ProcessInfo.processInfo.environment["XDG_SESSION_ID"]
      self.address = address
    }

    /// Locks the app whenever the session is locked, until the task is cancelled or the bus ends.
    ///
    /// - Parameter onLock: Called after each signal, for instance to hide content. Default: nothing.
    /// - Throws: ``LockError`` `unavailable` without a system bus, logind or a session.
    public func follow(
      _ lock: ScreenLockManager, onLock: @Sendable () async -> Void = {}
    ) async throws(LockError) {
      let signals: DBusSignals
      do throws(DBusError) {
        let path = try sessionPath()
        signals = try DBusSignals(
          "Lock", on: path, interface: "\(Self.service).Session", of: Self.service, bus: .system,
          address: address)
      } catch {
        throw LockError(
          .unavailable, "The locks of the desktop's session cannot be followed: \(error.message)",
          cause: error)
      }
      for await _ in signals {
        lock.lock()
        await onLock()
      }
    }

    private func sessionPath() throws(DBusError) -> String {
      let connection = try DBusConnection(.system, address: address)
      func path(_ member: String, _ argument: DBusValue) throws(DBusError) -> String? {
        try connection.call(
          member, on: "/org/freedesktop/login1", interface: Self.manager, of: Self.service, argument
        ).first?.text
      }
      let found =
        if let session { try path("GetSession", .string(session)) } else {
          try path(
            "GetSessionByPID", .uint32(UInt32(ProcessInfo.processInfo.processIdentifier)))
        }
      guard let found else {
        throw DBusError(.malformed, "logind named no object for the session.")
      }
      return found
    }
  }
#endif
