import SalesforceSDKCommon

/// `/composite/tree/NAME`: creates records with their children, all or none.
struct TreeResource: Resource {
  private static let limit = 200
  let call: RESTCall

  func create() throws -> OrgResponse {
    let object = try object
    let body = try request.object()
    guard let list = body["records"], list.kind == .array, list.count > 0 else {
      throw ServerError.jsonParser(
        "The property 'records' has to be an array of records at [line:1, column:1]")
    }
    var created: [(name: String, id: String)] = []
    var failed: (name: String, error: ServerError)?
    var names: Set<String> = []
    func create(_ record: JSONSlice, _ object: ObjectSchema, parent: (String, String)?) throws {
      let name = record["attributes"]?["referenceId"]?.string ?? ""
      do {
        guard !name.isEmpty else {
          throw ServerError(
            "INVALID_INPUT", "Include a referenceId in the attributes of each record.", fields: [])
        }
        guard names.insert(name).inserted else {
          throw ServerError(
            "INVALID_INPUT", "Duplicate ReferenceId provided in the request.", fields: [])
        }
        guard created.count < Self.limit else {
          throw ServerError(
            "EXCEEDED_MAX_SOBJECTS", "A tree has at most \(Self.limit) records.", fields: [])
        }
        guard try transaction.objectType(of: record).name == object.name else {
          throw ServerError(
            "INVALID_INPUT", "The record's type is not \(object.name).", fields: [])
        }
        let children = record.members.compactMap { key, value in
          object.childRelationship(named: key).map { (key, value, $0) }
        }
        let members = try record.setting(
          parent.map { [(key: $0.0, value: .string($0.1))] } ?? [], removing: children.map(\.0))
        created.append((name, try writer(object).create(members)))
        let id = created[created.count - 1].id
        for (_, value, relationship) in children {
          let child = try transaction.object(named: relationship.childObject)
          for record in value["records"].map({ Array($0.elements) }) ?? [] {
            try create(record, child, parent: (relationship.field, id))
          }
        }
      } catch let error as ServerError {
        if failed == nil { failed = (name, error) }
        throw error
      }
    }
    do {
      try transaction.atomically {
        for record in list.elements { try create(record, object, parent: nil) }
      }
    } catch let error as ServerError {
      return Self.refusal(of: failed ?? ("", error))
    }
    let results = ResponseJSON.array(created) {
      ["referenceId": .string($0.name), "id": .string($0.id)]
    }
    return .json(["hasErrors": false, "results": results], status: 201)
  }

  private static func refusal(of record: (name: String, error: ServerError)) -> OrgResponse {
    let error: ResponseJSON = [
      "statusCode": .string(record.error.code), "message": .string(record.error.message),
      "fields": .strings(record.error.fields ?? []),
    ]
    return .json(
      [
        "hasErrors": true,
        "results": [["referenceId": .string(record.name), "errors": [error]]],
      ], status: 400)
  }
}
