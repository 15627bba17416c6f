import NIOCore

/// A message on a socket: its length in four bytes, the highest first, then its bytes. A connection carries one each way.
enum MessageFrame {
  private static let head = MemoryLayout<UInt32>.size

  static func buffer(_ message: [UInt8]) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(head + message.count)
    buffer.writeInteger(UInt32(message.count))
    buffer.writeBytes(message)
    return buffer
  }

  /// Reads the one message that the other end may send.
  ///
  /// - Returns: nil if the connection ended before there was a whole one.
  /// - Throws: ``PeerSocketError`` `tooLong` as soon as the length is known, `broken` if more than one message came; what
  ///   the connection throws.
  static func read(
    _ parts: NIOAsyncChannelInboundStream<ByteBuffer>, maxBytes: Int
  ) async throws -> [UInt8]? {
    var received = ByteBuffer()
    for try await part in parts {
      received.writeImmutableBuffer(part)
      guard let length = received.getInteger(at: received.readerIndex, as: UInt32.self) else {
        continue
      }
      guard length <= maxBytes else {
        throw PeerSocketError(
          .tooLong, "A message of \(length) bytes came, and \(maxBytes) are allowed. Send less.")
      }
      guard received.readableBytes <= head + Int(length) else {
        throw PeerSocketError(
          .broken, "More than one message came on a connection. Send one.")
      }
      if received.readableBytes == head + Int(length) {
        return Array(received.readableBytesView.dropFirst(head))
      }
    }
    return nil
  }
}
