import Synchronization

/// The org's rules of misbehaviour and its memory of requests.
final class FaultScript: Sendable {
  private struct Rule {
    var fault: MockOrgFault
    var matched = 0
  }

  private struct State {
    var rules: [Rule] = []
    var log: [MockOrgRequestRecord] = []
    var requests = 0
  }

  /// Older entries of the log fall away beyond this number.
  private static let logCapacity = 100_000

  private let state = Mutex(State())

  func add(_ fault: MockOrgFault) { state.withLock { $0.rules.append(Rule(fault: fault)) } }

  func removeAll() { state.withLock { $0.rules = [] } }

  /// Counts a request and gives what the first rule that hits it does.
  func action(method: String, target: String) -> MockOrgFault.Action? {
    state.withLock { state in
      state.requests += 1
      for index in state.rules.indices {
        let fault = state.rules[index].fault
        guard fault.matches(method: method, target: target) else { continue }
        let matched = state.rules[index].matched
        let hits = matched - max(fault.skipping, 0)
        if let count = fault.count, hits >= count { continue }
        state.rules[index].matched += 1
        if hits >= 0 { return fault.action }
      }
      return nil
    }
  }

  /// How many requests the org has seen.
  var requestCount: Int { state.withLock { $0.requests } }

  var log: [MockOrgRequestRecord] { state.withLock { $0.log } }

  func record(_ record: MockOrgRequestRecord) {
    state.withLock { state in
      if state.log.count >= Self.logCapacity { state.log.removeFirst(Self.logCapacity / 2) }
      state.log.append(record)
    }
  }

  func clearLog() { state.withLock { $0.log = [] } }
}
