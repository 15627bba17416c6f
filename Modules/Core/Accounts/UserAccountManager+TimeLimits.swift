import SalesforceSDKCommon

extension UserAccountManager {
  /// Runs work of other modules for a limited time. Work that does not end is cancelled and
  /// abandoned.
  func limited<Result: Sendable>(
    to limit: Duration, _ what: String, _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    guard let result = try await CoalescedTask(work).value(within: limit, by: clock) else {
      throw AccountError(.observerTimedOut, "\(what) took longer than \(limit).")
    }
    return result
  }
}
