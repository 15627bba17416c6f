import Foundation
import NIOCore
import NIOPosix
import SalesforceSDKCommon
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Receives messages of this user's other processes on a Unix socket, and responds to each.
///
/// The socket is in a folder that only this user can enter; a connection of another user is closed before a byte of it is
/// read. A connection carries one message each way.
package final class PeerListener: Sendable {
  /// Responds to a message; nil closes the connection without a response. It is cancelled when the other process is gone.
  package typealias Responder =
    @Sendable (_ message: [UInt8], _ peer: SocketPeer) async -> [UInt8]?

  /// An accepted connection, as it is before it is read: an asynchronous channel that is dropped unread, as at the end of a
  /// listener, ends the process.
  private typealias Connection = (any Channel, SocketPeer?)

  private let path: String
  /// Held for as long as the socket is this listener's.
  private let lock: Mutex<FileLock?>
  private let task: Task<Void, Never>

  private init(path: String, lock: consuming FileLock, task: Task<Void, Never>) {
    self.path = path
    self.lock = Mutex(lock)
    self.task = task
  }

  /// Starts a listener and returns once it listens; it serves until ``stop()``.
  ///
  /// - Parameter path: The file of the socket. Its folder is made if it is missing.
  /// - Throws: ``PeerSocketError`` `unsafeFolder`, `inUse`, `notListening`.
  package static func start(
    at path: String, limits: PeerSocketLimits = PeerSocketLimits(), respond: @escaping Responder
  ) async throws(PeerSocketError) -> PeerListener {
    try PrivateFolder.prepare((path as NSString).deletingLastPathComponent)
    let lock = try lock(path)
    // What lies there is left of a process that ended without removing it: its lock is free.
    unlink(path)
    let open = OpenConnections()
    let listener: NIOAsyncChannel<Connection, Never>
    do {
      listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelOption(.autoRead, value: false)
        .bind(unixDomainSocketPath: path) { channel in
          channel.eventLoop.makeCompletedFuture {
            open.add(channel)
            return (channel, SocketPeer(of: channel))
          }
        }
    } catch {
      throw PeerSocketError(
        .notListening, "No socket can be made at \(path): \(error)", cause: error)
    }
    // Whatever the mask of the process is. Until here the folder alone kept other users out.
    guard chmod(path, 0o600) == 0 else {
      let reason = String(cString: strerror(errno))
      try? await listener.channel.close()
      throw PeerSocketError(
        .notListening, "The socket at \(path) cannot be kept from other users: \(reason).")
    }
    let task = Task {
      await accept(listener, open, limits, respond)
      open.closeAll()
    }
    return PeerListener(path: path, lock: lock, task: task)
  }

  /// Stops listening, cancels the responses under way, and removes the socket.
  package func stop() async {
    task.cancel()
    await task.value
    lock.withLock { lock in
      guard lock != nil else { return }
      unlink(path)
      lock = nil
    }
  }

  private static func lock(_ path: String) throws(PeerSocketError) -> FileLock {
    do throws(FileFailure) {
      if let lock = try FileLock.take(path + ".lock") { return lock }
    } catch {
      throw PeerSocketError(
        .notListening, "No socket can be made at \(path): \(error)", cause: error)
    }
    throw PeerSocketError(
      .inUse, "Another process listens at \(path). End it, or use another path.")
  }

  private static func accept(
    _ listener: NIOAsyncChannel<Connection, Never>, _ open: OpenConnections,
    _ limits: PeerSocketLimits, _ respond: @escaping Responder
  ) async {
    try? await listener.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await (channel, peer) in connections {
          group.addTask {
            if let peer, peer.isThisUser, open.count <= limits.maxConnections {
              await serve(channel, peer, limits, respond)
            }
            try? await channel.close()
          }
        }
      }
    }
  }

  private static func serve(
    _ transport: any Channel, _ peer: SocketPeer, _ limits: PeerSocketLimits,
    _ respond: @escaping Responder
  ) async {
    let wrapped = transport.eventLoop.submit {
      try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: transport)
    }
    guard let channel = try? await wrapped.get() else { return }
    // A process that sends nonsense, too much or too slowly learns nothing.
    try? await channel.executeThenClose { inbound, outbound in
      try await transport.setOption(.autoRead, value: true).get()
      let fuse = transport.eventLoop.scheduleTask(in: TimeAmount(limits.messageTimeout)) {
        transport.close(promise: nil)
      }
      defer { fuse.cancel() }
      guard
        let message = try await MessageFrame.read(inbound, maxBytes: limits.maxMessageBytes)
      else { return }
      fuse.cancel()
      let response = Task { await respond(message, peer) }
      transport.closeFuture.whenComplete { _ in response.cancel() }
      let bytes = await withTaskCancellationHandler {
        await response.value
      } onCancel: {
        response.cancel()
      }
      if let bytes { try await outbound.write(MessageFrame.buffer(bytes)) }
    }
  }
}

/// The connections of a listener.
private final class OpenConnections: Sendable {
  private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

  var count: Int { channels.withLock { $0.count } }

  /// Keeps a connection until it is closed.
  func add(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    channels.withLock { $0[id] = channel }
    channel.closeFuture.whenComplete { [self] _ in
      channels.withLock { _ = $0.removeValue(forKey: id) }
    }
  }

  func closeAll() {
    for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
  }
}
