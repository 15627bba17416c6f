package import SalesforceSDKCommon
package import SmartStore

extension DoubledRecord {
  /// The findings, as text for users.
  package var detail: String {
    "entries \(entryIds.map(String.init).joined(separator: ", ")) stand for one record"
  }

  fileprivate var json: JSONValue {
    [
      "kind": "doubledRecord", "soup": .string(soupName), "path": .string(idField),
      "entryIds": .array(entryIds.map { .integer($0) }), "detail": .string(detail),
    ]
  }
}

extension StoreReport {
  /// The document that the command line prints and the inspector serves.
  package func document(with doubles: [DoubledRecord]) -> JSONValue {
    let findings: [JSONValue] = findings.map { finding in
      var members: JSONObject = ["kind": .string(finding.kind.rawValue)]
      if let page = finding.page { members["page"] = .integer(Int64(page)) }
      if let soup = finding.soup { members["soup"] = .string(soup) }
      if let entryId = finding.entryId { members["entryId"] = .integer(entryId) }
      if let path = finding.path { members["path"] = .string(path) }
      members["detail"] = .string(finding.detail)
      return .object(members)
    }
    return [
      "clean": .bool(isClean && doubles.isEmpty), "pages": .integer(Int64(pages)),
      "soups": .integer(Int64(soups)),
      "elements": .integer(Int64(elements)),
      "findingCount": .integer(Int64(findingCount + doubles.count)),
      "findings": .array(findings + doubles.map(\.json)),
    ]
  }
}
