import ProcessSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A connected Unix socket with a deadline for everything.
final class DBusSocket: Sendable {
  private let file: Int32
  private let bus: DBusBus
  private let deadline: ContinuousClock.Instant?

  /// Connects to the socket of a bus.
  ///
  /// - Parameters:
  ///   - path: A path; one that begins with NUL is an abstract name of Linux.
  ///   - deadline: `nil` waits until ``shutDown()``.
  init(
    path: [UInt8], of bus: DBusBus, deadline: ContinuousClock.Instant?
  ) throws(DBusError) {
    file = try Self.connected(to: path, bus)
    self.bus = bus
    self.deadline = deadline
  }

  /// Ends the connection: who waits for it on another thread gets an error.
  func shutDown() { _ = shutdown(file, Int32(SHUT_RDWR)) }

  deinit { close(file) }

  /// A socket that does not wait, connected to `path`.
  private static func connected(
    to path: [UInt8], _ bus: DBusBus
  ) throws(DBusError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard !path.isEmpty, path.count < room else {
      throw DBusError(.noBus, "The address of the \(bus) has a path of the wrong length.")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let isAbstract = path[0] == 0
    let length = MemoryLayout<sockaddr_un>.size - room + path.count + (isAbstract ? 0 : 1)
    #if canImport(Glibc)
      let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let file = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    guard file >= 0 else { throw DBusError(.broken, "No socket can be made: \(reason(errno)).") }
    var isConnected = false
    defer { if !isConnected { close(file) } }
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK)
    let name = String(decoding: path.map { $0 == 0 ? UInt8(ascii: "@") : $0 }, as: UTF8.self)
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file, $0, socklen_t(length))
      }
    }
    guard result == 0 else {
      throw DBusError(.noBus, "The \(bus) at \(name) cannot be reached: \(reason(errno)).")
    }
    // A socket that another user put there would see what is sent.
    guard let owner = owner(of: file), bus.mayBelong(to: owner) else {
      throw DBusError(.noBus, "The \(bus) at \(name) belongs to another user.")
    }
    isConnected = true
    return file
  }

  /// The user at the other end.
  private static func owner(of file: Int32) -> uid_t? {
    var user: UInt32 = 0
    return process_peer_user(file, &user) == 0 ? uid_t(user) : nil
  }

  /// Sends all bytes.
  func send(_ bytes: [UInt8]) throws(DBusError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        systemSend(file, UnsafeRawBufferPointer(rebasing: buffer[done...]))
      }
      if count >= 0 {
        done += count
      } else {
        try wait(for: Int16(POLLOUT), after: errno)
      }
    }
  }

  /// Receives exactly `count` bytes.
  func receive(_ count: Int) throws(DBusError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let received = bytes.withUnsafeMutableBytes { buffer in
        systemReceive(file, UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      }
      if received == 0 {
        throw DBusError(.broken, "The \(bus) closed the connection. Try again.")
      }
      if received > 0 {
        done += received
      } else {
        try wait(for: Int16(POLLIN), after: errno)
      }
    }
    return bytes
  }

  private func wait(for events: Int16, after reason: Int32) throws(DBusError) {
    if reason == EINTR { return }
    guard reason == EAGAIN || reason == EWOULDBLOCK else {
      throw DBusError(.broken, "The connection to the \(bus) broke: \(Self.reason(reason)).")
    }
    var request = pollfd(fd: file, events: events, revents: 0)
    guard let deadline else {
      _ = poll(&request, 1, -1)
      return
    }
    let rest = ContinuousClock.now.duration(to: deadline)
    guard rest > .zero else {
      throw DBusError(
        .timedOut, "The \(bus) or a service on it did not respond in time. Try again.")
    }
    let milliseconds =
      rest.components.seconds * 1_000 + rest.components.attoseconds / 1_000_000_000_000_000
    _ = poll(&request, 1, Int32(clamping: milliseconds + 1))
  }

  private static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}

// Inside the type the name is its own method, and its pointer may be nil.
private func systemReceive(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  recv(file, buffer.baseAddress, buffer.count, 0)
}

private func systemSend(_ file: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  #if os(Linux)
    send(file, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
  #else
    send(file, buffer.baseAddress, buffer.count, 0)
  #endif
}
