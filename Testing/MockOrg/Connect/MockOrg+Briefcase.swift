import Synchronization

/// A rule that selects records for the briefcase of the users.
public struct MockOrgBriefcaseRule: Sendable, Hashable {
  /// The object's API name.
  public var object: String
  /// The condition behind WHERE, in SOQL; nil: all records.
  public var condition: String?
  /// Most records that the rule gives.
  public var limit: Int

  public init(object: String, condition: String? = nil, limit: Int = 500) {
    self.object = object
    self.condition = condition
    self.limit = limit
  }
}

/// The org's rules for briefcases.
final class BriefcaseRules: Sendable {
  private let state = Mutex<[MockOrgBriefcaseRule]>([])

  var rules: [MockOrgBriefcaseRule] {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

extension MockOrg {
  /// What `/connect/briefcase/priming-records` gives; empty at first.
  public var briefcase: [MockOrgBriefcaseRule] {
    get { briefcaseRules.rules }
    set { briefcaseRules.rules = newValue }
  }
}
