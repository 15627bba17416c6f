public import SalesforceSDKCommon

/// Work that runs once if the program's data is from an older version (CO-20).
public struct UpgradeSteps: Sendable {
  /// A step that upgrades data from versions before `version`. It may run again after a crash.
  public struct Step: Sendable {
    let version: String
    let work: @Sendable () async throws -> Void

    /// Creates a step.
    ///
    /// - Parameter version: The first version that does not need the step, such as `2.1.0`.
    /// - Parameter work: Called at most once per run, and retained by the step.
    public init(before version: String, _ work: @escaping @Sendable () async throws -> Void) {
      self.version = version
      self.work = work
    }
  }

  /// The preferences key of the version that ran last.
  public static let key = "com.salesforce.mobilesdk.salesforcesdkmanager.version"

  private let steps: [Step]

  /// Creates a list of steps, which run in the order of their versions.
  public init(_ steps: [Step]) {
    self.steps = steps.sorted { Self.isOlder($0.version, $1.version) }
  }

  /// Runs the steps that are due and records `version`. A repeated call does nothing; in the first run of a
  /// program, no step is due.
  ///
  /// A step that fails is logged and ends the call without recording the version, so it is tried again next
  /// time.
  ///
  /// - Returns: Whether `version` is noted now.
  /// - Throws: `PreferencesError` if it cannot be noted; `CancellationError`.
  @discardableResult
  public func run(
    to version: String = SDKVersion.current, noting preferences: Preferences
  ) async throws -> Bool {
    if let last = preferences[Self.key]?.string, last != version {
      for step in steps where Self.isOlder(last, step.version) {
        do {
          try await step.work()
        } catch is CancellationError {
          throw CancellationError()
        } catch {
          CoreLogger.log.error(
            "the step from before version \(step.version) failed; it is tried again", error: error)
          return false
        }
      }
    }
    if preferences[Self.key]?.string != version {
      try preferences.set(.string(version), forKey: Self.key)
    }
    return true
  }

  /// Compares versions by their numbers: `2.10` is newer than `2.9`.
  static func isOlder(_ left: String, _ right: String) -> Bool {
    func numbers(_ version: String) -> [Int] {
      version.split { !$0.isNumber }.map { Int($0) ?? 0 }
    }
    let old = numbers(left), new = numbers(right)
    for index in 0..<max(old.count, new.count) {
      let a = index < old.count ? old[index] : 0, b = index < new.count ? new[index] : 0
      if a != b { return a < b }
    }
    return false
  }
}
