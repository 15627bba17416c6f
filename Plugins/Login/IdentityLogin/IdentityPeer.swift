import PeerSocket

/// The process that sent a command over a socket. It runs as the user of this process.
public struct IdentityPeer: Sendable, Hashable {
  /// Its id; nil where the system does not say.
  public let processId: Int32?
  /// The path of its program; nil where the system does not say.
  public let executable: String?

  init(_ peer: SocketPeer) {
    processId = peer.process
    executable = peer.executable
  }

  /// Whether its program is one of the allowed ones.
  func runs(oneOf executables: Set<String>) -> Bool {
    executable.map(executables.contains) ?? false
  }
}
