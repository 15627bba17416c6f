import Foundation

/// How long proofs and fuzzing take: short in every test run, longer if the environment asks for it.
public enum Effort: Sendable {
  /// `FIELDFORCE_EFFORT=20` makes each try twenty times as much, which is the nightly form.
  public static let factor: Int =
    ProcessInfo.processInfo.environment["FIELDFORCE_EFFORT"].flatMap { Int($0) }.map { max($0, 1) }
    ?? 1

  /// How often to try what is tried `count` times by default.
  public static func times(_ count: Int) -> Int { count * factor }

  /// The seed of random choices: `FIELDFORCE_SEED`, or the one given. A failure names its seed, with
  /// which the run begins that repeats it.
  public static func seed(_ usual: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment["FIELDFORCE_SEED"].flatMap { UInt64($0) } ?? usual
  }
}
