#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A connection to a bus, for a few calls one after the other, by one task.
///
/// It speaks the wire protocol over the bus's Unix socket, blocks its thread, and has one deadline
/// for all calls. It accepts only a socket whose other end is a process of the same user, or for the
/// system bus of root.
public final class DBusConnection {
  let socket: DBusSocket
  private let bus: DBusBus
  private var serial: UInt32 = 0

  /// Connects to a bus.
  ///
  /// - Parameters:
  ///   - bus: Default: the session bus.
  ///   - address: Default: `DBUS_SESSION_BUS_ADDRESS` of the environment, else the socket `bus` in
  ///     `XDG_RUNTIME_DIR`; for the system bus `DBUS_SYSTEM_BUS_ADDRESS`, else
  ///     `/run/dbus/system_bus_socket`.
  ///   - timeout: The maximum time of all calls together. Default: 10 seconds.
  /// - Throws: ``DBusError`` `noBus`, `timedOut`, `broken`.
  public convenience init(
    _ bus: DBusBus = .session, address: String? = nil, timeout: Duration = .seconds(10)
  ) throws(DBusError) {
    try self.init(bus, address: address, deadline: ContinuousClock.now.advanced(by: timeout))
  }

  /// - Parameter deadline: `nil` waits as long as the bus is there.
  init(
    _ bus: DBusBus, address: String?, deadline: ContinuousClock.Instant?
  ) throws(DBusError) {
    self.bus = bus
    socket = try Self.connect(
      bus, Self.paths(bus, address, ProcessInfo.processInfo.environment), deadline: deadline)
    try authenticate()
    _ = try call("Hello", on: Self.busPath, interface: Self.busName, of: Self.busName)
  }

  /// The object of the bus itself.
  static let busPath = "/org/freedesktop/DBus"
  /// The service of the bus itself, and its interface.
  static let busName = "org.freedesktop.DBus"

  /// The sockets that the address of a bus names, in order; transports other than Unix sockets are left out.
  static func paths(
    _ bus: DBusBus, _ address: String?, _ environment: [String: String]
  ) -> [[UInt8]] {
    guard let text = address ?? environment[bus.variable], !text.isEmpty else {
      return bus.usualPaths(environment)
    }
    let runtime = environment["XDG_RUNTIME_DIR"].map { Array("\($0)/bus".utf8) }
    return text.split(separator: ";").compactMap { part in
      guard part.hasPrefix("unix:") else { return nil }
      for pair in part.dropFirst("unix:".count).split(separator: ",") {
        let key = pair.prefix { $0 != "=" }
        guard let value = unescaped(pair.dropFirst(key.count + 1)) else { continue }
        switch key {
        case "path": return value
        case "abstract": return [0] + value
        case "runtime" where value == Array("yes".utf8): return runtime
        default: continue
        }
      }
      return nil
    }
  }

  /// Bytes may be written as `%` and two digits; nil if one is not.
  private static func unescaped(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = Substring(text).utf8
    while let letter = rest.popFirst() {
      guard letter == UInt8(ascii: "%") else {
        bytes.append(letter)
        continue
      }
      guard let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
        rest.count >= 2
      else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// The first socket that can be connected to.
  private static func connect(
    _ bus: DBusBus, _ paths: [[UInt8]], deadline: ContinuousClock.Instant?
  ) throws(DBusError) -> DBusSocket {
    var failure = DBusError(
      .noBus,
      "There is no \(bus): \(bus.variable) names none. Run the program in a desktop session.")
    for path in paths {
      do throws(DBusError) {
        return try DBusSocket(path: path, of: bus, deadline: deadline)
      } catch {
        failure = error
      }
    }
    throw failure
  }

  /// Authenticates as the process's user, whom the system confirms.
  private func authenticate() throws(DBusError) {
    let user = String(geteuid()).utf8.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
    try socket.send([0] + Array("AUTH EXTERNAL \(user)\r\n".utf8))
    var line: [UInt8] = []
    while line.suffix(2) != [0x0d, 0x0a] {
      guard line.count < 1_024 else {
        throw DBusReader.malformed("a line of the login is too long")
      }
      line += try socket.receive(1)
    }
    guard line.starts(with: "OK ".utf8) else {
      throw DBusError(.noBus, "The \(bus) refused this user.")
    }
    try socket.send(Array("BEGIN\r\n".utf8))
  }

  /// Calls a method and waits for its result.
  ///
  /// - Parameters:
  ///   - service: The name of the service, such as `org.freedesktop.secrets`; the bus starts it if it can.
  /// - Returns: The returned values.
  /// - Throws: ``DBusError`` `refused` with the error's name, `timedOut`, `broken`, `malformed`.
  public func call(
    _ member: String, on path: String, interface: String, of service: String,
    _ arguments: DBusValue...
  ) throws(DBusError) -> [DBusValue] {
    try call(member, on: path, interface: interface, of: service, arguments: arguments)
  }

  /// Calls a method with its arguments in an array, and waits for its result.
  public func call(
    _ member: String, on path: String, interface: String, of service: String,
    arguments: [DBusValue]
  ) throws(DBusError) -> [DBusValue] {
    serial += 1
    var message = DBusMessage(.call, serial: serial)
    message.path = path
    message.interface = interface
    message.member = member
    message.destination = service
    message.body = arguments
    try socket.send(message.bytes)
    while true {
      // Signals and results of earlier calls that took too long are skipped.
      guard let reply = try receive(), reply.replySerial == serial else { continue }
      switch reply.kind {
      case .result: return reply.body
      case .error:
        let name = reply.errorName ?? "unknown"
        throw DBusError(
          .refused, "\(service) refused \(member): \(reply.body.first?.text ?? name)", name: name)
      case .call, .signal: continue
      }
    }
  }

  /// Waits for the next message; `nil` for one of a kind that is not known.
  func receive() throws(DBusError) -> DBusMessage? {
    let start = try socket.receive(DBusMessage.startLength)
    let length = try DBusMessage.length(start)
    return try DBusMessage(start + socket.receive(length - DBusMessage.startLength))
  }
}

@available(*, unavailable)
extension DBusConnection: Sendable {}
