import ApexSyncTarget
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import Testing

/// Do the two targets keep what sync guarantees? One line each; the endpoint is played in memory.
@Suite struct ConformanceTests {
  @Test(
    arguments: SyncDownConformance(
      CustomersDownTarget(), requests: { ($0 + 1_999) / 2_000 },
      prepare: { device, _ in device.org.playCustomers() }
    ).cases)
  func `the down target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    arguments: SyncUpConformance(
      CustomersUpTarget(),
      requests: { count, mode in (count + 49) / 50 + (mode == .leaveIfChanged ? 1 : 0) },
      prepare: { device in device.org.playCustomers() }
    ).cases)
  func `the up target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }
}

extension InMemoryOrg {
  /// The endpoint, over accounts.
  func playCustomers() {
    let pageSize = pageSize
    answer("GET /services/apexrest/Customers/ids") { records, _ in
      (200, .array(records.all("Account").compactMap { $0["Id"] }))
    }
    answer("GET /services/apexrest/Customers") { records, request in
      func date(_ record: JSONObject) -> String { record["LastModifiedDate"]?.string ?? "" }
      var found = records.all("Account").filter { date($0) > request.query["since"] ?? "" }
      found.sort { (date($0), $0["Id"]?.string ?? "") < (date($1), $1["Id"]?.string ?? "") }
      let total = found.count
      if let after = request.query["after"],
        let index = found.firstIndex(where: { $0["Id"]?.string == after })
      {
        found.removeFirst(index + 1)
      }
      let page = found.prefix(pageSize)
      return (
        200,
        [
          "customers": .array(page.map { .object($0) }), "total": .integer(Int64(total)),
          "after": found.count > pageSize ? page.last?["Id"] ?? .null : .null,
        ]
      )
    }
    answer("POST /services/apexrest/Customers/dates") { records, request in
      let ids = try JSONValue(parsing: request.body)["ids"]?.array ?? []
      var dates = JSONObject()
      for id in ids.compactMap(\.string) {
        dates[id] = records.record("Account", id)?["LastModifiedDate"]
      }
      return (200, .object(dates))
    }
    answer("POST /services/apexrest/Customers/made") { records, request in
      let keys = try JSONValue(parsing: request.body)["keys"]?.array ?? []
      var made = JSONObject()
      for record in records.all("Account") {
        if let key = record["AccountNumber"], keys.contains(key) {
          made[key.string ?? ""] = record["Id"]
        }
      }
      return (200, .object(made))
    }
    answer("POST /services/apexrest/Customers") { records, request in
      let changes = try JSONValue(parsing: request.body)["changes"]?.array ?? []
      return (200, ["results": .array(changes.map { Self.apply($0, &records) })])
    }
  }

  private static func apply(_ change: JSONValue, _ records: inout Records) -> JSONValue {
    var fields = change["fields"]?.object ?? [:]
    if fields["Name"]?.string?.isEmpty == true {
      return ["status": "refused", "error": ["message": "a customer needs a name"]]
    }
    let id = change["id"]?.string ?? ""
    switch change["kind"]?.string {
    case "create":
      fields["AccountNumber"] = change["key"]
      return ["status": "done", "id": .string(records.create("Account", fields))]
    case _ where records.record("Account", id) == nil:
      return ["status": "gone", "error": ["message": "there is no such customer"]]
    case "update": records.update("Account", id, fields)
    default: records.delete("Account", id)
    }
    return ["status": "done", "id": .string(id)]
  }
}
