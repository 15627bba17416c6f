import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// One page of the ids in a briefcase.
struct PrimingPage: Sendable {
  /// A record in the briefcase.
  struct Item: Hashable, Sendable {
    /// The number of the object among the target's.
    let object: Int
    let id: String
  }

  /// The records of the target's objects, in the order of the objects.
  let items: [Item]
  /// The token of the next page; nil on the last one. An empty page is not the last.
  let relayToken: String?
  /// The ids of the rules that could not be applied, empty for one without: their records are missing, and still in
  /// the briefcase.
  let failedRules: Set<String>
  /// The time up to which the changes of the briefcase's records are on this page or a later one,
  /// if it is the first page, in milliseconds since 1970: the newest modification date, or the time
  /// at which the server began to list, whichever is later. Nil if the response contains neither,
  /// -1 if it has neither records nor a date.
  let listedUntil: Int64?

  /// Requests a page: `{"primingRecords": {"<type>": {"<record type>": [{"id": "…"}]}},
  /// "relayToken": "…" or null, "ruleErrors": […]}`.
  ///
  /// - Parameter since: Only what changed after this, in milliseconds since 1970; everything if it is
  ///   not greater than 0.
  init(
    of types: [String], since: Int64, relayToken: String?, in context: SyncContext
  ) async throws {
    var request = RestRequest(path: "/{v}/connect/briefcase/priming-records")
    if let relayToken { request.query.append(RestQueryItem("relayToken", relayToken)) }
    if since > 0 {
      request.query.append(
        RestQueryItem("changedAfterTimestamp", SalesforceDate(milliseconds: since).soqlText))
    }
    let (json, startedAfter) = try await context.datedJSON(for: request)
    guard let records = json["primingRecords"], records.kind == .object else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a page of a briefcase")
    }
    var items: [Item] = []
    var stamps: [Int64?] = []
    for (type, byRecordType) in records.members {
      let object = types.firstIndex(of: type)
      for item in byRecordType.members.flatMap({ $0.value.elements }) {
        stamps.append(
          item["systemModstamp"]?.string.flatMap(SalesforceDate.parse)?.milliseconds)
        guard let object else { continue }
        // A record that is left out would pass for one that is not in the briefcase.
        guard let id = item["id"]?.string else {
          throw SyncContext.unexpectedForm(
            item, of: request, expected: "a list of records with their ids")
        }
        items.append(Item(object: object, id: id))
      }
    }
    // In the order of the target's objects.
    self.items = types.indices.flatMap { object in items.filter { $0.object == object } }
    let latest = stamps.isEmpty ? -1 : stamps.compactMap(\.self).max()
    listedUntil = [latest, startedAfter].compactMap(\.self).max()
    let next = json["relayToken"]?.string
    guard next != "", next == nil || next != relayToken else {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "a page that is the last or leads to another")
    }
    self.relayToken = next
    let errors = json["ruleErrors"].map { Array($0.elements) } ?? []
    failedRules = Set(errors.map { $0["ruleId"]?.string ?? "" })
    for rule in failedRules.sorted() {
      MobileSyncLogger.log.error(
        "The briefcase rule \(rule.isEmpty ? "without id" : rule) could not be applied.")
    }
  }
}
