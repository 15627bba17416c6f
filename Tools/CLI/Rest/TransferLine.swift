import Foundation
import SalesforceSDKCore

/// Shows the progress of a transfer on standard error, if that is a terminal.
enum TransferLine {
  /// Runs `work` and shows its progress until it ends.
  ///
  /// - Parameter title: The text before the amounts; `nil` shows no line.
  static func following<Result: Sendable>(
    _ title: String?, _ work: @escaping @Sendable (TransferProgress) async throws -> Result
  ) async throws -> Result {
    let progress = TransferProgress()
    guard let title, Console.isTerminal else { return try await work(progress) }
    let line = ProgressLine(title: title)
    async let shown: Void = show(progress, on: line)
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await work(progress))
    } catch {
      result = .failure(error)
    }
    await shown
    line.clear()
    return try result.get()
  }

  private static func show(_ progress: TransferProgress, on line: ProgressLine) async {
    for await amounts in progress.updates() {
      let (done, all) =
        amounts.received > 0 || amounts.toSend == 0
        ? (amounts.received, amounts.toReceive) : (amounts.sent, amounts.toSend)
      line.show(Int(done / 1_000), of: all.map { Int($0 / 1_000) }, "kB")
    }
  }
}
