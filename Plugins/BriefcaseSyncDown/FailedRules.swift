import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// The rules of a briefcase that the server cannot apply, each with its own watermark.
///
/// They are the target's state between runs: `{"failedRules": {"<id>": <milliseconds since 1970>}}`. All
/// changes of a rule's records up to its watermark are downloaded.
struct FailedRules: Sendable {
  /// The rules that failed in earlier runs, with their watermarks.
  private var earlier: [String: Int64]
  /// The watermark of the run.
  private let since: Int64
  /// The rules that failed in this run.
  private var failed: Set<String> = []
  private var catchesUp = false

  /// - Parameter state: The state that the last run stored.
  init(_ state: JSONObject?, since: Int64) {
    earlier = Dictionary(
      (state?["failedRules"]?.object ?? [:]).compactMap { rule, since in
        since.int64.map { (rule, $0) }
      }, uniquingKeysWith: min)
    self.since = since
  }

  /// Adds the rules that failed on a page.
  mutating func add(_ rules: Set<String>) { failed.formUnion(rules) }

  /// Whether a rule works again: it failed in an earlier run and not in this one, and its watermark
  /// is before that of the run, so that changes between the two are not listed yet.
  var hasToCatchUp: Bool { !catchesUp && catchUpTime != nil }

  private var catchUpTime: Int64? {
    earlier.filter { !failed.contains($0.key) && $0.value < since }.values.min()
  }

  /// Starts listing the changes since the first failure of the rules that work again.
  ///
  /// - Returns: That time; nil if there is nothing to catch up with.
  mutating func catchUp() -> Int64? {
    guard hasToCatchUp, let time = catchUpTime else { return nil }
    catchesUp = true
    return time
  }

  /// The state for the next run; empty if every rule was applied.
  var state: JSONObject {
    if failed.isEmpty { return [:] }
    var marks = JSONObject()
    for rule in failed.sorted() { marks[rule] = .integer(earlier[rule] ?? since) }
    return ["failedRules": .object(marks)]
  }
}

extension FailedRules {
  /// Returns the objects whose records the rules download, and those of the rules below them, which
  /// depend on their parents' records.
  ///
  /// - Parameter ids: The rules; empty for one without id.
  /// - Returns: Nil if the objects are not known, because a rule has no id, or the user may not
  ///   read it.
  /// - Throws: As ``SyncContext/json(for:)``, except for a refusal.
  static func objects(of ids: Set<String>, in context: SyncContext) async throws -> Set<String>? {
    if ids.isEmpty { return [] }
    let request = RestRequest.query("select Id, TargetEntity, ParentRuleId from BriefcaseRule")
    let rules: [JSONSlice]
    do {
      rules = try await IdQuery.allRecords(of: request, in: context)
    } catch let error as SyncError where error.isRefusalOfRequest {
      MobileSyncLogger.log.warning(
        "The rules of the briefcase cannot be read, so its ghosts stay while one of them fails.")
      return nil
    }
    func key(_ id: String?) -> String { id.map(SalesforceId.canonical) ?? "" }
    var failed = Set(ids.map(key))
    guard failed.isSubset(of: rules.map { key($0["Id"]?.string) }) else { return nil }
    var count = 0
    while count < failed.count {
      count = failed.count
      for rule in rules where failed.contains(key(rule["ParentRuleId"]?.string)) {
        failed.insert(key(rule["Id"]?.string))
      }
    }
    var objects: Set<String> = []
    for rule in rules where failed.contains(key(rule["Id"]?.string)) {
      guard let object = rule["TargetEntity"]?.string else { return nil }
      objects.insert(object)
    }
    return objects
  }
}
