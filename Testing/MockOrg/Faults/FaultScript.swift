import Synchronization

import struct Foundation.Date

/// The org's fault rules and its log of requests.
final class FaultScript: Sendable {
  private struct Rule {
    var number: Int
    var fault: MockOrgFault
    var random: SplitMix64
    var matched = 0
    var hits = 0
  }

  private struct State {
    var rules: [Rule] = []
    var lastRule = 0
    var log: [MockOrgRequestRecord] = []
    var lastEntry = 0
    var logTextBytes = 0
    var requests = 0
    var apiRequests = 0
  }

  /// A rule with what has become of it, for those who look at it.
  struct RuleState: Sendable {
    var number: Int
    var fault: MockOrgFault
    var matched: Int
    var hits: Int
  }

  /// Every request is compared with each rule.
  static let maxRules = 10_000

  /// The older half of the log falls away beyond this number of entries.
  private static let logCapacity = 100_000
  /// It does so too beyond this number of bytes in addresses and agents, which clients choose.
  private static let logTextCapacity = 64 << 20

  private let state = Mutex(State())

  func add(_ fault: MockOrgFault) {
    state.withLock { state in
      state.lastRule += 1
      state.rules.append(
        Rule(number: state.lastRule, fault: fault, random: SplitMix64(seed: fault.seed)))
    }
  }

  func removeAll() { state.withLock { $0.rules = [] } }

  /// Takes one rule away; false if there is none of that number.
  func remove(_ number: Int) -> Bool {
    state.withLock { state in
      let before = state.rules.count
      state.rules.removeAll { $0.number == number }
      return state.rules.count < before
    }
  }

  var rules: [RuleState] {
    state.withLock {
      $0.rules.map {
        RuleState(number: $0.number, fault: $0.fault, matched: $0.matched, hits: $0.hits)
      }
    }
  }

  /// Counts a request and gives what the first rule that hits it does.
  func action(for request: OrgRequest, target: String) -> MockOrgFault.Action? {
    state.withLock { state in
      state.requests += 1
      if request.isCounted { state.apiRequests += 1 }
      for index in state.rules.indices {
        let fault = state.rules[index].fault
        if let count = fault.count, state.rules[index].hits >= count { continue }
        guard fault.matches(request, target: target) else { continue }
        // Who only reads waits for no lock.
        if case .lockRows = fault.action.kind, ["GET", "HEAD"].contains(request.method) {
          continue
        }
        state.rules[index].matched += 1
        if state.rules[index].matched <= fault.skipping { continue }
        if fault.probability < 1 {
          let chance = Double(state.rules[index].random.next(below: 1_000_000)) / 1_000_000
          if chance >= fault.probability { continue }
        }
        state.rules[index].hits += 1
        return fault.action
      }
      return nil
    }
  }

  /// Counts requests that stand inside another one.
  func count(_ requests: Int) {
    state.withLock {
      $0.requests += requests
      $0.apiRequests += requests
    }
  }

  /// How many requests the org has seen.
  var requestCount: Int { state.withLock { $0.requests } }
  /// How many of them count towards the day's limit.
  var apiRequestCount: Int { state.withLock { $0.apiRequests } }

  var log: [MockOrgRequestRecord] { state.withLock { $0.log } }

  /// The entries behind a number, oldest first.
  func log(after number: Int) -> [MockOrgRequestRecord] {
    state.withLock { state in
      let start = state.log.partitioningIndex { $0.number > number }
      return Array(state.log[start...])
    }
  }

  func record(
    _ request: OrgRequest, target: String, status: Int?, responseBytes: Int, date: Date,
    duration: Duration, fault: String?
  ) {
    state.withLock { state in
      if state.log.count >= Self.logCapacity || state.logTextBytes > Self.logTextCapacity {
        state.log.removeFirst((state.log.count + 1) / 2)
        state.logTextBytes = state.log.reduce(0) { $0 + $1.textBytes }
      }
      state.lastEntry += 1
      state.log.append(
        MockOrgRequestRecord(
          number: state.lastEntry, method: request.method, target: target, status: status,
          userAgent: request.headers["user-agent"], requestBytes: request.body.count,
          responseBytes: responseBytes, date: date, duration: duration, fault: fault))
      state.logTextBytes += state.log.last?.textBytes ?? 0
    }
  }

  func clearLog() {
    state.withLock { state in
      state.log = []
      state.logTextBytes = 0
    }
  }
}

extension OrgRequest {
  /// Whether the platform counts the request: calls of the APIs, but neither the list of versions nor logins and the
  /// other endpoints of OAuth.
  fileprivate var isCounted: Bool {
    guard path.count > 2, path[0].lowercased() == "services" else { return false }
    return ["data", "async", "apexrest", "soap"].contains(path[1].lowercased())
  }
}

extension MockOrgRequestRecord {
  /// The bytes that the client chose.
  fileprivate var textBytes: Int { target.utf8.count + (userAgent?.utf8.count ?? 0) }
}

extension [MockOrgRequestRecord] {
  /// The index of the first element that `isBehind` holds for; it holds for all behind it.
  fileprivate func partitioningIndex(_ isBehind: (MockOrgRequestRecord) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
