package import NIOCore
import ProcessSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The process at the other end of a Unix socket, as the system names it.
package struct SocketPeer: Sendable, Hashable {
  /// The user it runs as.
  package let user: UInt32
  /// Its id; nil where the system does not say.
  package let process: Int32?
  /// The path of its program when the connection was made; nil where the system does not say.
  package let executable: String?

  /// Names a process.
  package init(user: UInt32, process: Int32? = nil, executable: String? = nil) {
    self.user = user
    self.process = process
    self.executable = executable
  }

  /// Whether it runs as the user of this process.
  package var isThisUser: Bool { user == geteuid() }

  /// The process at the other end of a connected channel, to be called on its event loop; nil if the system does not say.
  package init?(of channel: any Channel) {
    let peer = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { Self(socket: $0) }
    guard let found = peer ?? nil else { return nil }
    self = found
  }

  private init?(socket: NIOBSDSocket.Handle) {
    var user: UInt32 = 0
    guard process_peer_user(socket, &user) == 0 else { return nil }
    let process = Self.process(socket)
    self.init(user: user, process: process, executable: process.flatMap(Self.executable))
  }

  #if os(Linux)
    /// As the kernel has it: `struct ucred`.
    private struct Credentials {
      var process: Int32 = 0
      var user: UInt32 = 0
      var group: UInt32 = 0
    }

    private static func process(_ socket: Int32) -> Int32? {
      var credentials = Credentials()
      var length = socklen_t(MemoryLayout<Credentials>.size)
      let result = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
      return result == 0 && credentials.process > 0 ? credentials.process : nil
    }

    private static func executable(of process: Int32) -> String? {
      var path = [CChar](repeating: 0, count: 4096)
      let length = readlink("/proc/\(process)/exe", &path, path.count)
      guard length > 0, length < path.count else { return nil }
      return String(validating: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  #else
    private static func process(_ socket: Int32) -> Int32? { nil }
    private static func executable(of process: Int32) -> String? { nil }
  #endif
}
