public import Foundation
import SalesforceSDKCommon

extension MockOrg {
  /// Adds the rules of a JSON file, in their order.
  ///
  /// The file holds an array of objects. `method`, `path`, `skip` and `count` choose the requests as
  /// in ``MockOrgFault``, a `count` of null meaning all; exactly one other member says what happens:
  ///
  /// ```json
  /// [{"method": "POST", "path": "/composite", "status": 500, "body": "[]"},
  ///  {"path": "/query", "skip": 1, "truncateAt": 400},
  ///  {"delayMilliseconds": 300, "count": null},
  ///  {"path": "/sobjects", "drop": "before"},
  ///  {"path": "/sobjects", "drop": "after"},
  ///  {"path": "/query", "replaceBody": "<html>"},
  ///  {"path": "/query", "session": "expired"},
  ///  {"path": "/query", "session": "revoked"}]
  /// ```
  ///
  /// - Throws: ``MockOrgError`` `unreadable` or `invalidData`; then no rule was added.
  public func load(faults file: URL) throws(MockOrgError) {
    let json = try JSONFile.read(file)
    guard json.kind == .array else {
      throw MockOrgError(.invalidData, "\(file.lastPathComponent) is no array of rules.")
    }
    var faults: [MockOrgFault] = []
    for (index, rule) in json.elements.enumerated() {
      guard rule.kind == .object, let action = Self.action(of: rule) else {
        throw MockOrgError(
          .invalidData,
          "Rule \(index + 1) of \(file.lastPathComponent) does not say what happens: give one of "
            + "status, delayMilliseconds, drop, truncateAt, replaceBody, session.")
      }
      let count = rule["count"]
      faults.append(
        MockOrgFault(
          method: rule["method"]?.string, path: rule["path"]?.string,
          skipping: Int(clamping: rule["skip"]?.int64 ?? 0),
          count: count?.isNull == true ? nil : Int(clamping: count?.int64 ?? 1), action: action))
    }
    for fault in faults { add(fault) }
  }

  private static func action(of rule: JSONSlice) -> MockOrgFault.Action? {
    if let status = rule["status"]?.int64 {
      guard (200..<600).contains(status) else { return nil }
      return .status(Int(status), body: rule["body"]?.string ?? "")
    }
    if let delay = rule["delayMilliseconds"]?.int64 { return .delay(.milliseconds(delay)) }
    if let bytes = rule["truncateAt"]?.int64 {
      return .truncatedBody(at: Int(clamping: max(0, bytes)))
    }
    if let body = rule["replaceBody"]?.string { return .editedBody { _ in Array(body.utf8) } }
    switch (rule["drop"]?.string, rule["session"]?.string) {
    case ("before"?, nil): return .dropBeforeCommit
    case ("after"?, nil): return .dropAfterCommit
    case (nil, "expired"?): return .expiredSession
    case (nil, "revoked"?): return .refusedRefresh
    default: return nil
    }
  }
}
