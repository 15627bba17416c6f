import GRDB
import SalesforceSDKCommon

/// A request to the control endpoint, and what its handler works with.
struct ControlCall {
  let service: ControlService
  let request: OrgRequest
  let values: PathValues

  var org: MockOrg { service.org }

  func status() async throws -> OrgResponse {
    let schema = org.schema
    let counts = try await org.read { database in
      try schema.objects.map { object in
        (
          object,
          try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM \(object.table.name) WHERE \"IsDeleted\" = 0") ?? 0
        )
      }
    }
    return .json([
      "organizationName": .string(org.options.organizationName),
      "organizationId": .string(org.organizationID), "instanceUrl": .string(service.baseURL),
      "username": .string(org.options.user.username),
      "password": .string(org.passwords[org.userID] ?? org.options.user.password),
      "clientId": .string(org.options.clientId), "clientSecret": .string(org.options.clientSecret),
      "redirectUri": .string(org.options.redirectURI),
      "apiVersion": "\(RESTVersions.known.upperBound).0",
      "now": .string(DateText.dateTime(org.options.clock.now)),
      "clockIsFrozen": .bool(org.options.clock.isFrozen),
      "requests": .integer(org.script.requestCount),
      "snapshots": .strings(org.control.snapshotNames),
      "objects": .array(counts) { object, count in
        [
          "name": .string(object.name), "label": .string(object.labelPlural),
          "keyPrefix": .string(orNull: object.keyPrefix), "custom": .bool(object.custom),
          "fields": .integer(object.fields.count), "count": .integer(count),
        ]
      },
    ])
  }

  private static let pageSize = 50

  /// The latest records of an object, with the fields that tell them apart first.
  func records() async throws -> OrgResponse {
    guard let object = org.schema.object(named: values["name"]) else {
      throw ServerError.notFound()
    }
    let offset = max(0, Int(request[query: "offset"] ?? "") ?? 0)
    let glance = LayoutPlan(object).compactFields.filter(\.hasColumn)
    let fields =
      [object.field(named: "Id")].compactMap { $0 } + glance
      + object.fields.filter { field in
        field.hasColumn && field.type != .base64 && field.type != .id
          && !glance.contains { $0.name == field.name }
      }
    let query = SOQLQuery(allFieldsOf: object, only: fields)
    let bytes = try await org.read { [org] database in
      let transaction = org.transaction(database, userID: org.userID)
      let statement = try database.makeStatement(
        sql: query.sql
          + " WHERE \(SOQLQuery.rootAlias).\"IsDeleted\" = 0 ORDER BY \(SOQLQuery.rootAlias).rowid DESC"
          + " LIMIT \(Self.pageSize) OFFSET \(offset)")
      let rows = try Row.fetchCursor(statement)
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("fields")
      writer.write(.strings(fields.map(\.name)))
      writer.key("records")
      writer.beginArray()
      let json = RecordJSON(transaction: transaction)
      let row = StatementRow(statement)
      while try rows.next() != nil { try json.write(row, as: query.record, to: &writer) }
      writer.endArray()
      writer.endObject()
      return writer.bytes
    }
    return OrgResponse(status: 200, body: bytes)
  }

  func log() -> OrgResponse {
    let after = Int(request[query: "after"] ?? "") ?? 0
    return .json([
      "requests": .array(org.script.log(after: after).suffix(500)) { entry in
        [
          "number": .integer(entry.number), "method": .string(entry.method),
          "target": .string(entry.target), "userAgent": .string(orNull: entry.userAgent),
          "date": .string(DateText.dateTime(entry.date)), "fault": .string(orNull: entry.fault),
          "status": .integer(orNull: entry.status), "requestBytes": .integer(entry.requestBytes),
          "responseBytes": .integer(entry.responseBytes),
          "microseconds": .integer(Int(entry.duration.seconds * 1e6)),
        ]
      }
    ])
  }

  func faults(status: Int = 200) -> OrgResponse {
    let faults = ResponseJSON.array(org.script.rules) { rule in
      let fault = rule.fault
      return [
        "number": .integer(rule.number), "action": .string(fault.action.name),
        "method": .string(orNull: fault.method), "path": .string(orNull: fault.path),
        "object": .string(orNull: fault.object), "probability": .double(fault.probability),
        "skip": .integer(fault.skipping), "count": .integer(orNull: fault.count),
        "matched": .integer(rule.matched), "hits": .integer(rule.hits),
      ]
    }
    return .json(["faults": faults], status: status)
  }
}
