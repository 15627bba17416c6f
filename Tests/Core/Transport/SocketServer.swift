import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A server that says exactly the bytes a test wants, over a real socket on a free port.
///
/// Each connection has a thread of its own, and each request on it is handed to the script.
final class SocketServer: Sendable {
  /// One connection, for the script to respond on.
  struct Connection: Sendable {
    fileprivate let socket: Int32
    /// Counted from 0 in order of arrival.
    let number: Int

    /// Sends text.
    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes; a peer that left is no error.
    func send(_ bytes: [UInt8]) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { sendBytes(socket, $0) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    /// Sends as much of `bytes` as the socket takes at once, waiting until it takes some.
    ///
    /// - Returns: The number of bytes taken; 0 or less if the peer has left.
    func sendOnce(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBytes { sendBytes(socket, $0) } }

    /// Sends `piece` again and again until the peer has not taken anything for a while, or `limit` bytes are
    /// gone.
    ///
    /// - Returns: How many bytes the peer took.
    func sendUntilStalled(_ piece: [UInt8], limit: Int) -> Int {
      var patience = timeval(tv_sec: 0, tv_usec: 300_000)
      setsockopt(
        socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      var total = 0
      while total < limit {
        let count = piece.withUnsafeBytes { sendBytes(socket, $0) }
        guard count > 0 else { break }
        total += count
        if count < piece.count { break }
      }
      patience = timeval(tv_sec: 0, tv_usec: 0)
      setsockopt(
        socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      return total
    }

    /// Waits until the peer closes its end; the bytes it sends until then are dropped.
    func waitForClose() {
      var buffer = [UInt8](repeating: 0, count: 1024)
      while recv(socket, &buffer, buffer.count, 0) > 0 {}
    }
  }

  /// One request as it came.
  struct Request: Sendable {
    let head: String
    let body: [UInt8]
    /// The first line's second word.
    var path: String { String(head.split(separator: " ").dropFirst().first ?? "") }

    func header(_ name: String) -> String? {
      for line in head.split(separator: "\r\n").dropFirst() {
        let sides = line.split(separator: ":", maxSplits: 1)
        if sides[0].lowercased() == name.lowercased(), sides.count == 2 {
          return sides[1].trimmingCharacters(in: .whitespaces)
        }
      }
      return nil
    }
  }

  /// Serves one request; the connection is kept while it returns true.
  typealias Script = @Sendable (Request, Connection) -> Bool

  let port: Int
  private let listener: Int32
  private let seen = Log()

  /// The requests so far.
  var requests: [Request] { seen.requests.withLock { $0 } }

  private final class Log: Sendable {
    let requests = Mutex<[Request]>([])
  }

  func url(_ path: String = "/") -> URL {
    URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
  }

  init(_ script: @escaping Script) throws {
    listener = try Self.listen()
    port = try Self.port(of: listener)
    let listener = listener
    let seen = seen
    Thread.detachNewThread {
      var number = 0
      while true {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else {
          // Not before: the number may go to another process's listener at once.
          close(listener)
          return
        }
        var one: Int32 = 1
        setsockopt(
          socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let connection = Connection(socket: socket, number: number)
        number += 1
        Thread.detachNewThread {
          while let request = Self.readRequest(socket) {
            seen.requests.withLock { $0.append(request) }
            guard script(request, connection) else { break }
          }
          close(socket)
        }
      }
    }
  }

  deinit {
    // Ends the thread that accepts, which closes the listener.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// A response with a length.
  static func answer(_ body: String, status: String = "200 OK", headers: String = "") -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
  }

  private static func listen() throws -> Int32 {
    #if os(Linux)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let listener = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) } == 0
    }
    guard listener >= 0, isBound, listenOn(listener) == 0 else { throw POSIXError(.EADDRINUSE) }
    return listener
  }

  /// The first record of TLS that a client sends to a port of this machine, which then closes.
  ///
  /// - Parameter client: Gets the port.
  static func firstRecord(from client: (_ port: Int) async -> Void) async throws -> [UInt8] {
    let listener = try listen()
    let port = try port(of: listener)
    let record = FirstRecord()
    Thread.detachNewThread {
      let socket = accept(listener, nil, nil)
      if socket >= 0 { record.read(from: socket) }
      close(socket)
      close(listener)
      record.isRead.open()
    }
    await client(port)
    shutdown(listener, Int32(SHUT_RDWR))
    try await record.isRead.wait()
    return record.bytes.withLock { $0 }
  }

  private final class FirstRecord: Sendable {
    let bytes = Mutex<[UInt8]>([])
    let isRead = Latch()

    func read(from socket: Int32) {
      var all: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 16_384)
      while all.count < 5 || all.count < 5 + (Int(all[3]) << 8 | Int(all[4])) {
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        all += buffer[..<count]
      }
      let whole = all
      bytes.withLock { $0 = whole }
    }
  }

  private static func port(of listener: Int32) throws -> Int {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
    }
    guard result == 0 else { throw POSIXError(.EBADF) }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func readRequest(_ socket: Int32) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    let mark = Array("\r\n\r\n".utf8)
    while true {
      if let end = bytes.firstRange(of: mark) {
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let length = Request(head: head, body: []).header("Content-Length").flatMap { Int($0) } ?? 0
        if bytes.count - end.upperBound >= length {
          return Request(head: head, body: Array(bytes[end.upperBound..<(end.upperBound + length)]))
        }
      }
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes.append(contentsOf: buffer[..<count])
    }
  }
}

private func listenOn(_ socket: Int32) -> Int32 { listen(socket, 64) }

private func sendBytes(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  #if os(Linux)
    send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
  #else
    send(socket, bytes.baseAddress, bytes.count, 0)
  #endif
}
