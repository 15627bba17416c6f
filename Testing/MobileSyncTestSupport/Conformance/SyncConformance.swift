public import Foundation
import MobileSync

/// One guarantee of sync, proved on one target.
///
/// ```swift
/// @Test(arguments: SyncUpConformance(MyTarget()).cases)
/// func `my target keeps the guarantee`(_ proof: SyncConformanceCase) async throws {
///   try await proof.check()
/// }
/// ```
public struct SyncConformanceCase: Sendable, CustomStringConvertible {
  /// The guarantee, as a sentence.
  public let guarantee: String
  /// The reason why the guarantee cannot be tested on this target; nil if it can.
  public let skipped: String?
  private let body: @Sendable () async throws -> Void

  init(
    _ guarantee: String, unless skipped: String? = nil,
    _ body: @escaping @Sendable () async throws -> Void
  ) {
    self.guarantee = guarantee
    self.skipped = skipped
    self.body = body
  }

  /// Proves the guarantee, unless it is skipped.
  ///
  /// - Throws: ``ConformanceFailure``, which describes the observed behaviour.
  public func check() async throws {
    if skipped != nil { return }
    do {
      try await body()
    } catch {
      throw ConformanceFailure("\(guarantee): \(error)")
    }
  }

  /// The guarantee, and the reason for skipping it.
  public var description: String {
    guarantee + (skipped.map { " [skipped: \($0)]" } ?? "")
  }

  /// Proves all of several guarantees.
  ///
  /// - Returns: Those that were skipped, with their reasons.
  /// - Throws: ``ConformanceFailure``, which names every guarantee that does not hold.
  @discardableResult
  static func check(_ cases: [SyncConformanceCase]) async throws -> [String] {
    var failures: [String] = []
    for proof in cases {
      do {
        try await proof.check()
      } catch {
        failures.append("\(error)")
      }
    }
    if !failures.isEmpty { throw ConformanceFailure(failures.joined(separator: "\n")) }
    return cases.filter { $0.skipped != nil }.map(\.description)
  }
}

/// A guarantee that does not hold.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// The guarantee and the observed behaviour.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}

extension ConformanceFailure: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}

/// Fails unless `condition` holds.
func prove(_ condition: Bool, _ found: @autoclosure () -> String) throws(ConformanceFailure) {
  if !condition { throw ConformanceFailure(found()) }
}

extension Device {
  /// Simulates the end of the process at a request of the org: later effects of the run are
  /// dropped.
  ///
  /// - Parameters:
  ///   - number: The request, counted from 1 since the log was cleared.
  ///   - afterResponse: Whether the server processes the request first.
  public func endProcess(at number: Int, afterResponse: Bool) {
    org.intervene { [self] seen, _ in
      guard seen == number else { return .none }
      await endProcess()
      // The next process starts when the server can no longer be at work on the request.
      org.advanceClock(by: SyncEnvironment().lateArrival + .seconds(10))
      // Cancelled, both end without a response.
      return afterResponse ? .dropResponse : .none
    }
  }

  /// Ends the process during a request of the org, in whose task it is called.
  package func endProcess() async {
    let cancelled = Latch()
    let closing = Task { await manager.close() }
    await withTaskCancellationHandler {
      await cancelled.pass()
    } onCancel: {
      cancelled.open()
    }
    _ = closing
  }

  /// Runs a stored sync again, or makes it; the end is not told.
  @discardableResult
  func complete(_ start: (SyncManager) async throws -> SyncRun) async throws -> SyncState? {
    let run = try await start(manager)
    return await run.lastState()
  }
}
