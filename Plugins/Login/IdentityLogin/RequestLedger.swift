import IdentityProviderURLs

/// The requests that an identity provider has seen: each gets one response. Times count from any fixed moment.
struct RequestLedger: Sendable, Equatable {
  /// Whether a request is carried out.
  enum Admission: Equatable, Sendable {
    case admitted, replayed, busy
  }

  /// How long a request is remembered; the codes of the platform expire sooner.
  static let memory: Duration = .seconds(1800)
  /// The most requests in progress.
  static let maxActive = 4
  /// The most requests remembered. With more, new ones are refused: to forget one would allow its replay.
  static let maxSeen = 1024

  /// When a challenge or a state may be forgotten.
  private var seen: [String: Duration] = [:]
  private var active = 0

  /// Begins a request.
  mutating func admit(_ request: IdentityCommand.AuthRequest, at time: Duration) -> Admission {
    seen = seen.filter { $0.value > time }
    let keys =
      ["challenge \(request.codeChallenge)"] + (request.state.map { ["state \($0)"] } ?? [])
    guard keys.allSatisfy({ seen[$0] == nil }) else { return .replayed }
    guard active < Self.maxActive, seen.count + keys.count <= Self.maxSeen else { return .busy }
    for key in keys { seen[key] = time + Self.memory }
    active += 1
    return .admitted
  }

  /// Ends an admitted request.
  mutating func finish() {
    precondition(active > 0, "\(active) requests are in progress")
    active -= 1
  }
}
