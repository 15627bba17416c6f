public import SalesforceSDKCommon
import Synchronization

extension InMemoryOrg {
  /// Relates two objects: a record of `child` belongs to the record of `parent` whose id is in its
  /// `field`.
  ///
  /// - Parameters:
  ///   - name: The relationship's name in a sub-select, such as `Contacts`.
  ///   - cascades: Whether children are deleted with their parent.
  public func relate(
    _ name: String, parent: String, child: String, by field: String, cascades: Bool = false
  ) {
    state.withLock {
      $0.relations.append(
        Relation(name: name, parent: parent, child: child, field: field, cascades: cascades))
    }
  }

  /// Sets the ids of the records that the user viewed last.
  public func setRecent(_ ids: [String]) { state.withLock { $0.recent = ids } }

  /// Sets the ids of the records that every search finds.
  public func setFound(_ ids: [String]) { state.withLock { $0.found = ids } }

  /// Sets the ids in the briefcase, by object, and their number per page.
  public func setBriefcase(_ ids: [String: [String]], pageSize: Int = 2_000) {
    state.withLock {
      $0.briefcase = ids
      $0.briefcasePageSize = pageSize
    }
  }

  /// Sets the maximum number of children of a record on a query's page.
  public func setChildPageSize(_ size: Int) { state.withLock { $0.childPageSize = size } }

  /// Handles requests to an endpoint of your own.
  ///
  /// - Parameters:
  ///   - line: The prefix of method and path, such as `GET /services/apexrest/orders`. The path is the one that a
  ///     `RestClient` sends: a request for `/helpdesk/v1/changes` needs `endpoint: ""`, or is sent to
  ///     `/services/data/helpdesk/v1/changes`.
  ///   - respond: Returns status and body. It may read and change the org's records with the given
  ///     ``Records``.
  public func respond(
    to line: String,
    with respond: @escaping @Sendable (inout Records, Request) throws -> (Int, JSONValue)
  ) {
    let custom = Custom(start: line) { state, request in
      var records = Records(state: state)
      let result = try respond(&records, request)
      state = records.state
      return result
    }
    state.withLock { $0.custom.append(custom) }
  }

  /// Access to the org's records for a test's endpoint.
  public struct Records: Sendable {
    var state: State

    /// Returns all records of a type, by id.
    public func all(_ type: String) -> [JSONObject] {
      (state.objects[type] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns the record with this id.
    public func record(_ type: String, _ id: String) -> JSONObject? { state.objects[type]?[id] }

    /// Creates a record and returns its id.
    public mutating func create(_ type: String, _ fields: JSONObject) -> String {
      state.create(type, fields)
    }

    /// Changes a record.
    public mutating func update(_ type: String, _ id: String, _ fields: JSONObject) {
      state.update(type, id, fields)
    }

    /// Deletes a record.
    public mutating func delete(_ type: String, _ id: String) { state.delete(type, id) }
  }
}

extension InMemoryOrg.State {
  /// The results of every search.
  func search() -> JSONValue {
    let records = found.compactMap { id in objects.values.compactMap { $0[id] }.first }
    return ["searchRecords": .array(records.map { .object($0) })]
  }

  /// A page of the briefcase.
  func primingRecords(_ request: InMemoryOrg.Request) -> JSONValue {
    let since =
      request.query["changedAfterTimestamp"].flatMap(SalesforceDate.parse)?.milliseconds ?? -1
    let all = briefcase.sorted { $0.key < $1.key }.flatMap { type, ids in
      ids.filter { id in
        let date = objects[type]?[id]?["LastModifiedDate"]?.string.flatMap(SalesforceDate.parse)
        return date.map { $0.milliseconds > since } ?? false
      }.map { (type, $0) }
    }
    let start = request.query["relayToken"].flatMap { Int($0) } ?? 0
    let end = min(start + briefcasePageSize, all.count)
    var byType = JSONObject()
    for (type, id) in all[min(start, end)..<end] {
      let ids = byType[type]?["012000000000000AAA"]?.array ?? []
      let stamp = objects[type]?[id]?["LastModifiedDate"] ?? .null
      byType[type] = [
        "012000000000000AAA": .array(ids + [["id": .string(id), "systemModstamp": stamp]])
      ]
    }
    return [
      "primingRecords": .object(byType),
      "relayToken": end < all.count ? .string("\(end)") : .null, "ruleErrors": [],
      "stats": [
        "recordCountServed": .integer(Int64(end - start)),
        "recordCountTotal": .integer(Int64(all.count)),
      ],
    ]
  }
}
