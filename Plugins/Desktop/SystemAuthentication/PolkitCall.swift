#if os(Linux)
  import DBusClient
  import Foundation

  /// One call of polkit, which takes as long as its user does, on a thread of its own.
  struct PolkitCall: Sendable {
    let bus: String?
    let timeout: Duration
    let arguments: [DBusValue]

    /// The returned values.
    ///
    /// If the task is cancelled, the connection ends, and with it polkit's dialog.
    ///
    /// - Throws: ``DBusError``.
    func values(of service: String) async throws -> [DBusValue] {
      let connection = CancellableConnection()
      let result: Result<[DBusValue], DBusError> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            continuation.resume(
              returning: Result { () throws(DBusError) in
                try connection.call(.system, address: bus, timeout: timeout) {
                  (connection) throws(DBusError) in
                  try connection.call(
                    "CheckAuthorization", on: "/org/freedesktop/PolicyKit1/Authority",
                    interface: "\(service).Authority", of: service, arguments: arguments)
                }
              })
          }
        }
      } onCancel: {
        connection.cancel()
      }
      return try result.get()
    }
  }
#endif
