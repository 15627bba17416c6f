import Foundation
import Synchronization

@testable import DBusClient

/// A service of a test's own on a bus, in place of logind or polkit.
final class BusService: Sendable {
  private struct Output {
    let socket: DBusSocket
    var serial: UInt32 = 1_000

    mutating func send(_ message: (UInt32) -> DBusMessage) throws(DBusError) {
      serial += 1
      try socket.send(message(serial).bytes)
    }
  }

  /// The connection on its way to the thread that reads it.
  private struct Reader: @unchecked Sendable { let connection: DBusConnection }

  private let output: Mutex<Output>
  private let socket: DBusSocket

  /// Takes a name, and returns what `handle` returns for each call; `nil` refuses it, no values at all leave it open.
  init(
    _ name: String, address: String,
    _ handle: @escaping @Sendable (DBusMessage) -> Result<[DBusValue], DBusError>?
  ) throws {
    let connection = try DBusConnection(.system, address: address, deadline: nil)
    _ = try connection.call(
      "RequestName", on: DBusConnection.busPath, interface: DBusConnection.busName,
      of: DBusConnection.busName, .string(name), .uint32(0))
    socket = connection.socket
    output = Mutex(Output(socket: connection.socket))
    let reader = Reader(connection: connection)
    Thread.detachNewThread { [weak self] in
      while let message = try? reader.connection.receive() {
        guard message.kind == .call, let reply = handle(message), let self else { continue }
        try? self.reply(to: message, reply)
      }
    }
  }

  deinit { socket.shutDown() }

  /// Sends a signal to all who asked for it.
  func signal(_ member: String, on path: String, interface: String) throws {
    try output.withLock { output in
      try output.send { serial in
        var message = DBusMessage(.signal, serial: serial)
        message.path = path
        message.interface = interface
        message.member = member
        return message
      }
    }
  }

  private func reply(to call: DBusMessage, _ reply: Result<[DBusValue], DBusError>) throws {
    try output.withLock { output in
      try output.send { serial in
        var message = DBusMessage(.result, serial: serial)
        message.replySerial = call.serial
        message.destination = call.sender
        switch reply {
        case .success(let values): message.body = values
        case .failure(let error):
          message.kind = .error
          message.errorName = error.name
          message.body = [.string(error.message)]
        }
        return message
      }
    }
  }
}
