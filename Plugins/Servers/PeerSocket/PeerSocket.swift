import NIOCore
import NIOPosix
import SalesforceSDKCommon

/// Sends messages to the processes of this user that listen on a Unix socket.
package enum PeerSocket {
  /// Sends a message and waits for the response, for as long as the task is not cancelled.
  ///
  /// - Parameters:
  ///   - path: The file of the socket.
  ///   - admits: Whether to send the message to a process of this user. Default: to any.
  /// - Throws: ``PeerSocketError`` `absent`, `foreignPeer`, `refused`, `tooLong`, `broken`; `CancellationError`.
  package static func exchange(
    _ message: [UInt8], at path: String, limits: PeerSocketLimits = PeerSocketLimits(),
    admits: (SocketPeer) -> Bool = { _ in true }
  ) async throws -> [UInt8] {
    guard message.count <= limits.maxMessageBytes else {
      throw PeerSocketError(
        .tooLong,
        "A message has \(message.count) bytes, and \(limits.maxMessageBytes) are allowed. Send less."
      )
    }
    let channel = try await connected(to: path, limits)
    do {
      return try await channel.executeThenClose { inbound, outbound in
        let transport = channel.channel
        let peer = try await transport.eventLoop.submit { SocketPeer(of: transport) }.get()
        // A socket that another user put there would read what is sent.
        guard let peer, peer.isThisUser, admits(peer) else {
          throw PeerSocketError(
            .foreignPeer,
            "The process that listens at \(path) is not one to talk to. End it, or allow its program."
          )
        }
        try await outbound.write(MessageFrame.buffer(message))
        let response = try await MessageFrame.read(inbound, maxBytes: limits.maxMessageBytes)
        try Task.checkCancellation()
        guard let response else {
          throw PeerSocketError(
            .refused, "The process that listens at \(path) closed the connection. Try again.")
        }
        return response
      }
    } catch let error as PeerSocketError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw PeerSocketError(
        .broken, "The connection to \(path) broke: \(error)", cause: error)
    }
  }

  private static func connected(
    to path: String, _ limits: PeerSocketLimits
  ) async throws(PeerSocketError) -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
    do {
      return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(TimeAmount(limits.messageTimeout))
        .connect(unixDomainSocketPath: path) { channel in
          channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
          }
        }
    } catch {
      throw PeerSocketError(
        .absent, "No process listens at \(path). Start it.", cause: error)
    }
  }
}
