import Foundation

/// A connection to a server on this machine, over which a test sends whatever bytes it likes. It blocks:
/// suites that use it run on threads of their own.
final class RawConnection {
  struct Failure: Error {}

  private let descriptor: Int32

  init(port: Int) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw Failure() }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // A server that never ends the connection fails the test instead of stopping it.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard connected == 0 else {
      close(descriptor)
      throw Failure()
    }
  }

  deinit { close(descriptor) }

  /// Sends bytes; false if the server has closed the connection.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        #if canImport(Glibc)
          Glibc.send(
            descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent,
            Int32(MSG_NOSIGNAL))
        #else
          Darwin.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, 0)
        #endif
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// What the server sends before it closes the connection; nil if it does not close it.
  func bytesToEnd() -> [UInt8]? {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        all += buffer.prefix(count)
      } else if count == 0 || errno == ECONNRESET {
        return all
      } else {
        return nil
      }
    }
  }
}

/// A response as it came over a connection.
struct RawResponse {
  let status: Int
  let text: String

  /// Sends a request on a connection of its own.
  init(
    _ method: String, _ path: String, port: Int, headers: [String: String] = [:],
    body: [UInt8] = []
  ) throws {
    let connection = try RawConnection(port: port)
    var head = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
    for (name, value) in ["Host": "127.0.0.1:\(port)"].merging(headers, uniquingKeysWith: { $1 }) {
      head += "\(name): \(value)\r\n"
    }
    if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
    connection.send(Array("\(head)\r\n".utf8) + body)
    text = String(decoding: connection.bytesToEnd() ?? [], as: UTF8.self)
    status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }
}
