import Foundation

/// How long the proofs take: short by default, longer if the environment asks for it.
enum Effort {
  /// `FIELDFORCE_EFFORT=20` makes every proof try twenty times as much; the nightly run does.
  static let factor: Int =
    ProcessInfo.processInfo.environment["FIELDFORCE_EFFORT"].flatMap { Int($0) } ?? 1

  /// How often to try what is tried `count` times by default.
  static func times(_ count: Int) -> Int { count * max(factor, 1) }

  /// The seed of random choices: `FIELDFORCE_SEED`, or the one given.
  static func seed(_ usual: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment["FIELDFORCE_SEED"].flatMap { UInt64($0) } ?? usual
  }
}
