import SalesforceMockOrg
import TestSupport
import Testing

/// Does each file that a device has queued reach the server once, whatever happens?
@Suite struct FileHistoryTests {
  private static let lanes = 2
  private static let histories = 125

  @Test(arguments: 0..<lanes)
  func `no byte of a queued file is lost or doubled, whatever fails and whenever processes end`(
    lane: Int
  ) async throws {
    let first = Effort.seed(1)
    try await withMockOrg { org, server in
      for number in 0..<Effort.times(Self.histories) where number % Self.lanes == lane {
        let seed = first &+ UInt64(number)
        if let fault = try await FileHistory.live(seed, org, server) {
          Issue.record("Seed \(seed): \(fault)")
          return
        }
      }
    }
  }
}
