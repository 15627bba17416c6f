public import Foundation
import SalesforceSDKCommon

extension MockOrg {
  /// Adds the rules of a JSON file, in their order.
  ///
  /// The file holds an array of objects. `method`, `path`, `object`, `probability`, `seed`, `skip` and
  /// `count` choose the requests as in ``MockOrgFault``, a `count` of null meaning all; exactly one
  /// other member says what happens:
  ///
  /// ```json
  /// [{"method": "POST", "path": "/composite", "status": 500, "body": "[]"},
  ///  {"path": "/query", "skip": 1, "truncateAt": 400},
  ///  {"delayMilliseconds": 300, "count": null},
  ///  {"delayMilliseconds": 300, "bytesPerSecond": 20000000, "count": null},
  ///  {"path": "/sobjects", "drop": "before"},
  ///  {"path": "/sobjects", "drop": "after"},
  ///  {"path": "/query", "replaceBody": "<html>"},
  ///  {"path": "/query", "garbage": true},
  ///  {"path": "/query", "trickleBytes": 64, "everyMilliseconds": 20},
  ///  {"path": "/query", "session": "expired"},
  ///  {"path": "/query", "session": "revoked"},
  ///  {"path": "/oauth2/token", "session": "rotated"},
  ///  {"object": "Contact", "probability": 0.2, "seed": 7, "count": null, "refuse": "rowLock"},
  ///  {"refuse": "requestLimit"},
  ///  {"refuse": "maintenance", "count": 3},
  ///  {"method": "POST", "lateCommitMilliseconds": 5000},
  ///  {"clockSkewMilliseconds": -60000, "count": null}]
  /// ```
  ///
  /// - Throws: ``MockOrgError`` `unreadable` or `invalidData`; then no rule was added.
  public func load(faults file: URL) throws(MockOrgError) {
    try add(faults: JSONFile.read(file), from: file.lastPathComponent)
  }

  /// Adds the rules of a JSON array.
  ///
  /// - Parameter source: Where they come from, for messages.
  func add(faults json: JSONSlice, from source: String) throws(MockOrgError) {
    guard json.kind == .array else {
      throw MockOrgError(.invalidData, "\(source) is no array of rules.")
    }
    guard script.rules.count + json.count <= FaultScript.maxRules else {
      throw MockOrgError(
        .invalidData, "An org has at most \(FaultScript.maxRules) rules of faults.")
    }
    var faults: [MockOrgFault] = []
    for (index, rule) in json.elements.enumerated() {
      try rule.check(
        keys: MockOrgFault.keys, of: "Rule \(index + 1) of \(source)")
      if let (key, range) = MockOrgFault.ranges.first(where: { !rule.holds($0, in: $1) }) {
        throw MockOrgError(
          .invalidData,
          "Rule \(index + 1) of \(source): '\(key)' is not a number from \(range.lowerBound) to "
            + "\(range.upperBound).")
      }
      guard rule.kind == .object, let fault = MockOrgFault(json: rule) else {
        throw MockOrgError(
          .invalidData,
          "Rule \(index + 1) of \(source) does not say what happens: give one of status, "
            + "delayMilliseconds, drop, truncateAt, trickleBytes, replaceBody, garbage, session, "
            + "refuse, lateCommitMilliseconds, clockSkewMilliseconds.")
      }
      faults.append(fault)
    }
    for fault in faults { add(fault) }
  }
}

extension MockOrgFault {
  /// What the object of a rule may hold.
  fileprivate static let keys: Set<String> = [
    "method", "path", "object", "probability", "seed", "skip", "count", "status", "body", "headers",
    "delayMilliseconds", "bytesPerSecond", "drop", "truncateAt", "trickleBytes",
    "everyMilliseconds", "replaceBody",
    "garbage", "session", "refuse", "lateCommitMilliseconds", "clockSkewMilliseconds",
  ]

  /// The numbers that a rule may hold.
  fileprivate static let ranges: KeyValuePairs<String, ClosedRange<Int64>> = [
    "probability": 0...1, "skip": Int64.min...Int64.max, "count": Int64.min...Int64.max,
    "seed": 0...Int64.max, "status": 200...599, "delayMilliseconds": 0...86_400_000,
    "bytesPerSecond": 1...1_000_000_000_000,
    "truncateAt": 0...1_000_000_000, "trickleBytes": 1...1_000_000_000,
    "everyMilliseconds": 0...3_600_000, "lateCommitMilliseconds": 0...3_155_760_000_000,
    "clockSkewMilliseconds": -3_155_760_000_000...3_155_760_000_000,
  ]

  /// Reads a rule; nil if it does not say what happens.
  init?(json rule: JSONSlice) {
    guard let action = Self.action(of: rule) else { return nil }
    let count = rule["count"]
    self.init(
      method: rule["method"]?.string, path: rule["path"]?.string, object: rule["object"]?.string,
      probability: rule["probability"]?.double ?? 1,
      seed: rule["seed"]?.int64.flatMap { UInt64(exactly: $0) } ?? 1,
      skipping: Int(clamping: rule["skip"]?.int64 ?? 0),
      count: count?.isNull == true ? nil : Int(clamping: count?.int64 ?? 1), action: action)
  }

  private static func action(of rule: JSONSlice) -> Action? {
    if let status = rule["status"]?.int64 {
      let headers = rule["headers"].map { $0.members.map { ($0.key, $0.value.string ?? "") } } ?? []
      return .status(Int(status), body: rule["body"]?.string ?? "", headers: headers)
    }
    if let delay = rule["delayMilliseconds"]?.int64 {
      let rate = rule["bytesPerSecond"]?.int64.map(Int.init(clamping:))
      return rate.map { .delay(.milliseconds(delay), bytesPerSecond: $0) }
        ?? .delay(.milliseconds(delay))
    }
    if let bytes = rule["truncateAt"]?.int64 {
      return .truncatedBody(at: Int(clamping: max(0, bytes)))
    }
    if let bytes = rule["trickleBytes"]?.int64 {
      return .trickle(
        bytes: Int(clamping: bytes),
        every: .milliseconds(rule["everyMilliseconds"]?.int64 ?? 20))
    }
    if rule["garbage"]?.bool == true { return .garbage }
    if let body = rule["replaceBody"]?.string { return .editedBody { _ in Array(body.utf8) } }
    if let late = rule["lateCommitMilliseconds"]?.int64 {
      return .lateCommit(by: .milliseconds(late))
    }
    if let skew = rule["clockSkewMilliseconds"]?.int64 {
      return .clockSkew(by: .milliseconds(skew))
    }
    switch (rule["drop"]?.string, rule["session"]?.string, rule["refuse"]?.string) {
    case ("before"?, nil, nil): return .dropBeforeCommit
    case ("after"?, nil, nil): return .dropAfterCommit
    case (nil, "expired"?, nil): return .expiredSession
    case (nil, "revoked"?, nil): return .refusedRefresh
    case (nil, "rotated"?, nil): return .rotatedRefreshToken
    case (nil, nil, "rowLock"?): return .rowLock
    case (nil, nil, "requestLimit"?): return .requestLimit
    case (nil, nil, "maintenance"?): return .maintenance
    default: return nil
    }
  }
}

extension JSONSlice {
  /// Whether a member is missing, null, or a number of a range.
  fileprivate func holds(_ key: String, in range: ClosedRange<Int64>) -> Bool {
    guard let value = self[key], !value.isNull else { return true }
    guard key == "probability" else { return value.int64.map(range.contains) ?? false }
    return value.double.map { $0 >= Double(range.lowerBound) && $0 <= Double(range.upperBound) }
      ?? false
  }
}
