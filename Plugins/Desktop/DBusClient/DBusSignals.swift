import Foundation

/// A signal that a service has sent.
public struct DBusSignal: Sendable, Equatable {
  /// The object that sent it.
  public let path: String
  /// The interface.
  public let interface: String
  /// The name, such as `Lock`.
  public let member: String
  /// The values.
  public let body: [DBusValue]
}

/// The signals of one kind, from the moment of the call on.
///
/// Signals are read by a thread of their own until the sequence is no longer used. The sequence ends when the
/// bus closes the connection.
public struct DBusSignals: AsyncSequence, Sendable {
  private let signals: AsyncStream<DBusSignal>

  /// Subscribes to signals.
  ///
  /// - Parameters:
  ///   - member: The name of the signals, such as `Lock`.
  ///   - path: The object that sends them.
  ///   - service: The service, such as `org.freedesktop.login1`. The bus delivers only signals of its owner.
  ///   - address: The address of the bus. Default: that of the environment.
  /// - Throws: ``DBusError`` `noBus`, `refused`, `broken`.
  public init(
    _ member: String, on path: String, interface: String, of service: String,
    bus: DBusBus, address: String? = nil
  ) throws(DBusError) {
    let connection = try DBusConnection(bus, address: address, deadline: nil)
    _ = try connection.call(
      "AddMatch", on: DBusConnection.busPath, interface: DBusConnection.busName,
      of: DBusConnection.busName,
      .string(
        "type='signal',sender='\(service)',path='\(path)',interface='\(interface)',member='\(member)'"
      ))
    let (signals, continuation) = AsyncStream.makeStream(of: DBusSignal.self)
    self.signals = signals
    let socket = connection.socket
    continuation.onTermination = { _ in socket.shutDown() }
    let reader = Reader(connection: connection)
    Thread.detachNewThread {
      reader.read { message in
        guard message.kind == .signal, message.path == path, message.interface == interface,
          message.member == member
        else { return }
        continuation.yield(
          DBusSignal(path: path, interface: interface, member: member, body: message.body))
      }
      continuation.finish()
    }
  }

  public func makeAsyncIterator() -> AsyncStream<DBusSignal>.Iterator {
    signals.makeAsyncIterator()
  }

  /// The connection on its way to the thread that reads it.
  ///
  /// `@unchecked Sendable` because only that thread uses the connection from then on.
  private struct Reader: @unchecked Sendable {
    let connection: DBusConnection

    /// Reads messages until the connection ends.
    func read(_ body: (DBusMessage) -> Void) {
      do throws(DBusError) {
        while true {
          if let message = try connection.receive() { body(message) }
        }
      } catch {
        // The bus has ended, or the signals are no longer read.
      }
    }
  }
}
