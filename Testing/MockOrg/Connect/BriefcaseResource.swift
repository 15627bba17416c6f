import SalesforceSDKCommon

/// `/connect/briefcase/priming-records`: the ids of the briefcase's records, page by page.
struct BriefcaseResource: Resource {
  /// How many ids a page has.
  private static let primingPage = 2000

  private struct PrimingRecord {
    let object: String
    let recordType: String
    let id: String
    let stamp: String
  }

  let call: RESTCall

  func primingRecords() throws -> OrgResponse {
    let rules = org.briefcaseRules.rules
    var since: String?
    if let text = request[query: "changedAfterTimestamp"], !text.isEmpty {
      guard let seconds = DateText.secondsSince1970(text.replacing(" ", with: "+")) else {
        throw ServerError(
          "ILLEGAL_QUERY_PARAMETER_VALUE", "changedAfterTimestamp is no date and time: \(text)")
      }
      since = DateText.dateTime(secondsSince1970: seconds)
    }
    let start = try Self.offset(ofRelayToken: request[query: "relayToken"])
    var found: [PrimingRecord] = []
    var failed: [String] = []
    for (index, rule) in rules.enumerated() {
      do {
        found += try records(of: rule, since: since)
      } catch is ServerError {
        failed.append(RecordID.make(prefix: "5Xr", number: index + 1))
      }
    }
    guard start <= found.count else {
      throw ServerError("INVALID_RELAY_TOKEN", "The relay token is not one that this org gave out.")
    }
    let page = found[start..<min(found.count, start + Self.primingPage)]
    let token = page.endIndex < found.count ? Self.relayToken(page.endIndex) : nil
    return .json([
      "primingRecords": Self.json(Array(page)), "relayToken": .string(orNull: token),
      "ruleErrors": .array(failed) { ["ruleId": .string($0)] },
      "stats": [
        "recordCountServed": .integer(page.count), "recordCountTotal": .integer(found.count),
        "ruleCountServed": .integer(rules.count - failed.count),
        "ruleCountTotal": .integer(rules.count),
      ],
    ])
  }

  private func records(
    of rule: MockOrgBriefcaseRule, since: String?
  ) throws -> [PrimingRecord] {
    guard let object = transaction.schema.object(named: rule.object) else {
      throw ServerError.notFound()
    }
    let hasTypes = object.field(named: "RecordTypeId") != nil
    var conditions = rule.condition.map { ["(\($0))"] } ?? []
    if let since { conditions.append("SystemModstamp > \(Self.zuluDate(since))") }
    let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    let query = try SOQLQuery(
      compiling: "SELECT Id, SystemModstamp\(hasTypes ? ", RecordTypeId" : "") FROM \(object.name)"
        + "\(filter) ORDER BY Id LIMIT \(rule.limit)",
      schema: transaction.schema,
      options: transaction.soqlOptions())
    return try transaction.allRecords(of: query).map { record in
      PrimingRecord(
        object: object.name,
        recordType: record["RecordTypeId"]?.string ?? LayoutPlan.masterRecordTypeID,
        id: record["Id"]?.string ?? "", stamp: record["SystemModstamp"]?.string ?? "")
    }
  }

  /// SOQL takes `Z` where responses write `+0000`.
  private static func zuluDate(_ text: String) -> String {
    text.hasSuffix("+0000") ? text.dropLast(5) + "Z" : text
  }

  /// Object, then record type, then the records.
  private static func json(_ records: [PrimingRecord]) -> ResponseJSON {
    func groups(
      _ records: [PrimingRecord], by key: (PrimingRecord) -> String,
      _ value: ([PrimingRecord]) -> ResponseJSON
    ) -> ResponseJSON {
      let groups = Dictionary(grouping: records, by: key).sorted { $0.key < $1.key }
      return .object(groups.map { ($0.key, value($0.value)) })
    }
    return groups(records, by: \.object) { records in
      groups(records, by: \.recordType) { records in
        .array(records) {
          ["id": .string($0.id), "systemModstamp": .string(zuluDate($0.stamp))]
        }
      }
    }
  }

  private static func relayToken(_ offset: Int) -> String {
    Base64URL.encode(Array("relay:\(offset)".utf8))
  }

  private static func offset(ofRelayToken token: String?) throws(ServerError) -> Int {
    guard let token, !token.isEmpty else { return 0 }
    guard let bytes = Base64URL.decode(token) else {
      throw ServerError("INVALID_RELAY_TOKEN", "The relay token is not one that this org gave out.")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix("relay:"), let offset = Int(text.dropFirst(6)), offset >= 0 else {
      throw ServerError("INVALID_RELAY_TOKEN", "The relay token is not one that this org gave out.")
    }
    return offset
  }
}
