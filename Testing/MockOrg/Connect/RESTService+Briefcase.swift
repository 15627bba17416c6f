import GRDB
import SalesforceSDKCommon
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

/// `/connect/briefcase/priming-records`: the ids of the briefcase's records, page by page.
extension RESTService {
  /// How many ids a page has.
  private static let primingPage = 2000

  private struct PrimingRecord {
    let object: String
    let recordType: String
    let id: String
    let stamp: String
  }

  func primingRecords(_ request: OrgRequest) throws -> OrgResponse {
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
    return .json { writer in
      writer.beginObject()
      writer.key("primingRecords")
      write(Array(page), to: &writer)
      writer.key("relayToken")
      writer.string(orNull: token)
      writer.key("ruleErrors")
      writer.beginArray()
      for id in failed {
        writer.beginObject()
        writer.key("ruleId")
        writer.string(id)
        writer.endObject()
      }
      writer.endArray()
      writer.key("stats")
      writer.beginObject()
      for (key, value) in [
        ("recordCountServed", page.count), ("recordCountTotal", found.count),
        ("ruleCountServed", rules.count - failed.count), ("ruleCountTotal", rules.count),
      ] {
        writer.key(key)
        writer.integer(value)
      }
      writer.endObject()
      writer.endObject()
    }
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
    return try records(of: query).map { record in
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
  private func write(_ records: [PrimingRecord], to writer: inout JSONWriter) {
    writer.beginObject()
    let byObject = Dictionary(grouping: records, by: \.object)
    for object in byObject.keys.sorted() {
      writer.key(object)
      writer.beginObject()
      let byType = Dictionary(grouping: byObject[object] ?? [], by: \.recordType)
      for type in byType.keys.sorted() {
        writer.key(type)
        writer.beginArray()
        for record in byType[type] ?? [] {
          writer.beginObject()
          writer.key("id")
          writer.string(record.id)
          writer.key("systemModstamp")
          writer.string(Self.zuluDate(record.stamp))
          writer.endObject()
        }
        writer.endArray()
      }
      writer.endObject()
    }
    writer.endObject()
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
