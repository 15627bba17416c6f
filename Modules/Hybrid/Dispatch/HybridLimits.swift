/// The limits for frames and pending calls of a page.
public struct HybridLimits: Sendable, Equatable {
  /// The longest frame in either direction, in bytes. Default: 16 MiB.
  public var maxFrameBytes = 16 << 20
  /// The maximum nesting of arrays and objects in a frame. Default: 512.
  public var maxDepth = 512
  /// The maximum size of pending calls in bytes. Above it, a session accepts no further frame until
  /// some calls have their responses. Default: 32 MiB.
  public var maxPendingBytes = 32 << 20
  /// The maximum number of pending calls. Above it, a session accepts no further frame until some
  /// calls have their responses. Default: 4,096.
  public var maxPendingCalls = 4_096

  /// Creates the default limits.
  public init() {}
}
