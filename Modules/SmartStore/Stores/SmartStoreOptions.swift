import Foundation

/// How a store works, apart from where it lies and how it is encrypted.
public struct SmartStoreOptions: Sendable {
  /// The engine of full-text tables. Tables of the other engine keep working.
  public enum FullTextVersion: String, Sendable {
    case fts4, fts5
  }

  /// The engine that new soups with full-text paths get.
  public var fullTextVersion: FullTextVersion
  /// The clock, in milliseconds since 1970. Called once for each element written.
  public var now: @Sendable () -> Int64

  public init(
    fullTextVersion: FullTextVersion = .fts5,
    now: @escaping @Sendable () -> Int64 = SmartStoreOptions.systemClock
  ) {
    self.fullTextVersion = fullTextVersion
    self.now = now
  }

  /// The system's wall clock.
  public static let systemClock: @Sendable () -> Int64 = {
    Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
  }
}

/// How certain a commit is to survive a power cut. Both survive the end of the process.
public enum Durability: Sendable, Hashable {
  /// On disk before the call returns. For what exists nowhere else, such as a local edit.
  case full
  /// On disk soon. Consistent whenever the power fails, but the last commits may be missing: for
  /// pages that the server can be asked for again.
  case normal
}
