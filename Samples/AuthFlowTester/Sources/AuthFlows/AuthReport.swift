public import SalesforceSDKCore

/// The result of one login: facts about the session, never a token.
public struct AuthReport: Sendable {
  /// The result of one step.
  public enum Outcome: Sendable, Equatable {
    case passed
    /// Nothing was tried.
    case skipped(String)
    /// The message of the error.
    case failed(String)
  }

  /// The facts about a session.
  public struct Facts: Sendable, Equatable {
    /// Empty if the granted scopes do not permit reading it, as those of a program's own credentials.
    public let username: String
    /// The ids of user and org.
    public let identity: String
    public let instance: String
    /// `opaque` or `jwt`.
    public let tokenFormat: String
    public let hasRefreshToken: Bool
    /// The number of tokens for web content.
    public let webTokens: Int
    public let scopes: [String]

    init(_ account: UserAccount) {
      let credentials = account.credentials
      username = account.username
      identity = account.identity.description
      instance = credentials.instanceURL?.absoluteString ?? ""
      tokenFormat = credentials.tokenFormat ?? "opaque"
      hasRefreshToken = credentials.refreshToken != nil
      webTokens = credentials.webSession.count
      scopes = credentials.scopes
    }
  }

  public let flow: AuthFlow
  /// The steps in order: `login`, and after it `request`, `refresh`, `revoked token`, `migration`, `logout`.
  public internal(set) var steps: [(name: String, outcome: Outcome)] = []
  /// Nil if the login failed or was skipped.
  public internal(set) var facts: Facts?

  /// Whether no step failed.
  public var isSuccess: Bool {
    steps.allSatisfy { if case .failed = $0.outcome { false } else { true } }
  }

  /// The outcome of a step; nil if it was not reached.
  public subscript(step: String) -> Outcome? { steps.first { $0.name == step }?.outcome }

  /// The lines to print.
  public var lines: [String] {
    var lines = ["\(flow.rawValue)"]
    if let facts {
      let refresh = facts.hasRefreshToken ? "with refresh token" : "no refresh token"
      let web = facts.webTokens > 0 ? ", \(facts.webTokens) tokens for web content" : ""
      let user = facts.username.isEmpty ? "user \(facts.identity)" : facts.username
      lines.append("  \(user) at \(facts.instance)")
      lines.append("  \(facts.tokenFormat) token, \(refresh)\(web)")
      lines.append("  scopes: \(facts.scopes.joined(separator: " "))")
    }
    for (name, outcome) in steps {
      switch outcome {
      case .passed: lines.append("  ok      \(name)")
      case .skipped(let reason): lines.append("  skipped \(name): \(reason)")
      case .failed(let message): lines.append("  FAILED  \(name): \(message)")
      }
    }
    return lines
  }
}
