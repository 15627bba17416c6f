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
  /// What leads to the next page; nil on the last one. An empty page is not the last.
  let relayToken: String?
  /// The newest stamp of its records, whatever their objects, in milliseconds since 1970; nil if it tells
  /// none, -1 if it has no records.
  let latest: Int64?
  /// Whether every rule was applied. The records of one that was not are missing, and still in the briefcase.
  let isComplete: Bool

  /// Asks for a page: `{"primingRecords": {"<type>": {"<record type>": [{"id": "…"}]}},
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
    let json = try await context.json(for: request)
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
    latest = stamps.isEmpty ? -1 : stamps.compactMap(\.self).max()
    let next = json["relayToken"]?.string
    guard next != "", next == nil || next != relayToken else {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "a page that is the last or leads to another")
    }
    self.relayToken = next
    let errors = json["ruleErrors"].map { Array($0.elements) } ?? []
    isComplete = errors.isEmpty
    for error in errors {
      MobileSyncLogger.log.error(
        "The briefcase rule \(error["ruleId"]?.string ?? "without id") could not be applied.")
    }
  }
}
