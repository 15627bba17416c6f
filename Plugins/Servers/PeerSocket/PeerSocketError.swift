package import SalesforceSDKCommon

/// A failed exchange of messages between two processes.
package struct PeerSocketError: FieldforceError {
  /// The kind of failure.
  package struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case absent, foreignPeer, refused, tooLong, broken, unsafeFolder, inUse, notListening
    }
    private let kind: Kind
    /// No process listens there.
    package static let absent = Code(kind: .absent)
    /// The process that listens there is not a trusted one.
    package static let foreignPeer = Code(kind: .foreignPeer)
    /// The other process closed the connection without a response.
    package static let refused = Code(kind: .refused)
    /// The message is too long.
    package static let tooLong = Code(kind: .tooLong)
    /// The connection broke, or the received bytes are not a message.
    package static let broken = Code(kind: .broken)
    /// Other users can enter the folder of the socket.
    package static let unsafeFolder = Code(kind: .unsafeFolder)
    /// Another process listens there.
    package static let inUse = Code(kind: .inUse)
    /// The socket cannot be created.
    package static let notListening = Code(kind: .notListening)

    package var description: String { kind.rawValue }
  }

  package let code: Code
  package let message: String
  package let cause: (any Error)?
  package let location: SourceLocation

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    location = SourceLocation(fileID: fileID, line: line)
  }
}
