import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

// Single records, and several of them in one composite request.
extension InMemoryOrg.State {
  /// Handles `/sobjects/T`, `/sobjects/T/ID`, `/sobjects/T/FIELD/VALUE`, `/sobjects/T/describe`.
  mutating func record(
    _ method: String, _ place: [String], _ request: InMemoryOrg.Request
  ) throws -> RestResponse {
    if method == "GET", place.count == 2, place[1] == "deleted" {
      return deletions(of: place[0], request)
    }
    let body = request.body.isEmpty ? [:] : try JSONValue(parsing: request.body).object ?? [:]
    let (status, json) = record(
      method, place, body, fields: request.query["fields"],
      unmodifiedSince: request.headers["If-Unmodified-Since"])
    return RestResponse(status: status, body: json.map { Array($0.text.utf8) } ?? [])
  }

  private mutating func record(
    _ method: String, _ place: [String], _ body: JSONObject, fields: String? = nil,
    unmodifiedSince: String? = nil
  ) -> (Int, JSONValue?) {
    let type = place[0]
    switch (method, place.count) {
    case ("POST", 1): return respond(createChecked(type, body), success: 201)
    case ("GET", 1): return (200, ["recentItems": .array(recent.map { ["Id": .string($0)] })])
    case ("GET", 2) where place[1] == "describe":
      return (
        200,
        [
          "name": .string(type), "createable": true, "custom": false,
          "fields": self.fields(of: type),
        ]
      )
    case ("GET", 2), ("GET", 3):
      let found = place.count == 2 ? place[1] : id(type, place[1], place[2])
      guard let record = objects[type]?[found] else { return respond(missing(found), success: 200) }
      let names = fields?.split(separator: ",").map(String.init) ?? record.keys
      return (200, .object(selecting(names, from: record)))
    case ("PATCH", 2):
      if let text = unmodifiedSince, let date = SalesforceDate.parseHTTP(text),
        let changed = objects[type]?[place[1]]?["LastModifiedDate"]?.string
          .flatMap(SalesforceDate.parse), changed > date
      {
        return (412, [["errorCode": "PRECONDITION_FAILED", "message": "changed since"]])
      }
      return respond(updateChecked(type, place[1], body), success: 204)
    case ("PATCH", 3):
      var record = body
      record[place[1]] = .string(place[2])
      return respond(upsertChecked(type, place[1], record), success: 200)
    case ("DELETE", 2): return respond(deleteChecked(place[1]), success: 204)
    default: return (404, [["errorCode": "NOT_FOUND", "message": "no such place"]])
    }
  }

  /// The deletions in a window of time, as the platform lists them: in whole minutes, of the last
  /// 30 days.
  private func deletions(of type: String, _ request: InMemoryOrg.Request) -> RestResponse {
    let minute: Int64 = 60_000
    let now = clock + queryTime
    func end(_ name: String) -> Int64? {
      request.query[name].flatMap(SalesforceDate.parse).map { $0.milliseconds / minute * minute }
    }
    let earliest = (now - 30 * 24 * 60 * minute) / minute * minute
    guard let start = end("start"), let end = end("end"), start < end, start >= earliest else {
      let error: JSONValue = [
        ["errorCode": "INVALID_REPLICATION_DATE", "message": "startDate before org replication"]
      ]
      return RestResponse(status: 400, body: Array(error.text.utf8))
    }
    let found = deletionDates.filter { id, date in
      date >= start && date <= end && bin[id]?["attributes"]?["type"]?.string == type
    }.sorted { $0.key < $1.key }
    let json: JSONValue = [
      "deletedRecords": .array(
        found.map { id, date in
          ["id": .string(id), "deletedDate": .string(SalesforceDate(milliseconds: date).text)]
        }),
      "earliestDateAvailable": .string(SalesforceDate(milliseconds: earliest).text),
      "latestDateCovered": .string(
        SalesforceDate(milliseconds: min(end, now / minute * minute)).text),
    ]
    return RestResponse(status: 200, body: Array(json.text.utf8))
  }

  /// The fields that a type's records have, with types by their values.
  private func fields(of type: String) -> JSONValue {
    var types: [String: String] = [:]
    for record in (objects[type] ?? [:]).values {
      for (name, value) in record where name != "attributes" && !value.isNull {
        types[name] =
          value.bool != nil ? "boolean" : value.double != nil ? "double" : "string"
      }
    }
    return .array(
      types.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "type": .string($0.value)] })
  }

  private func id(_ type: String, _ field: String, _ value: String) -> String {
    (objects[type] ?? [:]).first { $0.value[field]?.string == value }?.key ?? value
  }

  /// A result of the collection resource in the form of the single one.
  private func respond(_ result: JSONValue, success: Int) -> (Int, JSONValue?) {
    if result["success"]?.bool == true {
      return (success, success == 204 ? JSONValue?.none : result)
    }
    guard let error = result["errors"]?[0]?.object else { return (500, nil) }
    let code = error["statusCode"]?.string ?? ""
    let text = error["message"]?.string ?? ""
    let isGone = text == "entity is deleted" || text == "invalid cross reference id"
    return (
      isGone ? 404 : 400,
      [["errorCode": .string(code), "message": .string(text), "fields": []]]
    )
  }

  /// Handles a composite request; later parts may refer to the ids of earlier ones.
  mutating func composite(_ request: InMemoryOrg.Request) throws -> JSONValue {
    let parts = try JSONValue(parsing: request.body)["compositeRequest"]?.array ?? []
    guard parts.count <= 25 else { return .object(["error": "LIMIT_EXCEEDED"]) }
    var ids: [String: String] = [:]
    return [
      "compositeResponse": .array(
        parts.map { part in
          let name = part["referenceId"]?.string ?? ""
          let place = (part["url"]?.string ?? "").split(separator: "/").dropFirst(4)
            .map { String($0).removingPercentEncoding ?? String($0) }
          let (status, body) = step(part, Array(place), ids)
          if let id = body?["id"]?.string { ids[name] = id }
          return [
            "referenceId": .string(name), "httpStatusCode": .integer(Int64(status)),
            "body": body ?? .null, "httpHeaders": [:],
          ]
        })
    ]
  }

  private mutating func step(
    _ part: JSONValue, _ place: [String], _ ids: [String: String]
  ) -> (Int, JSONValue?) {
    var fields = part["body"]?.object ?? [:]
    for (key, value) in fields {
      guard let text = value.string, text.hasPrefix("@{") else { continue }
      let name = String(text.dropFirst(2).prefix { $0 != "." })
      guard let id = ids[name] else {
        return (
          400, [["errorCode": "PROCESSING_HALTED", "message": "invalid reference", "fields": []]]
        )
      }
      fields[key] = .string(id)
    }
    return record(part["method"]?.string ?? "", place, fields)
  }
}
