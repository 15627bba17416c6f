/// The limits of what a page sends and requests at once.
public struct HybridLimits: Sendable, Equatable {
  /// The longest frame in either direction, in bytes. Default: 16 MiB.
  public var maxFrameBytes = 16 << 20
  /// How many arrays and objects may stand inside each other in a frame. Default: 512.
  public var maxDepth = 512
  /// The bytes of calls without a response above which a session accepts no further frame until some have
  /// theirs. Default: 32 MiB.
  public var maxPendingBytes = 32 << 20
  /// The number of calls without a response above which a session accepts no further frame until some have
  /// theirs. Default: 4,096.
  public var maxPendingCalls = 4_096

  /// Creates the default limits.
  public init() {}
}
