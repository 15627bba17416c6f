/// The limits of a process on a socket (HT-95).
package struct PeerSocketLimits: Sendable {
  /// The maximum size of a message in bytes. Default: 64 KiB.
  package var maxMessageBytes = 65_536
  /// The maximum number of concurrent connections; further ones are closed at once. Default: 8.
  package var maxConnections = 8
  /// The time in which a whole message has to arrive. Default: 5 seconds.
  package var messageTimeout: Duration = .seconds(5)

  /// Creates the default limits.
  package init() {}
}
