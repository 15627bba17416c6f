import GRDB
import SalesforceSDKCommon

/// `/sobjects/NAME/FIELD/VALUE`: the record that an external id names.
struct ExternalIDResource: Resource {
  let call: RESTCall

  func retrieve() throws -> OrgResponse {
    try withMatch { match in
      guard let id = match.id else { throw ServerError.notFound() }
      return try retrieve(id, of: match.object)
    }
  }

  func upsert() throws -> OrgResponse {
    try withMatch { match in
      let (object, field) = (match.object, match.field)
      let members = try request.members(for: object)
      if members.members.contains(where: { $0.key.lowercased() == field.name.lowercased() }) {
        throw ServerError(
          "INVALID_FIELD",
          "The \(field.name) field should not be specified in the sobject data.",
          fields: [field.name])
      }
      guard let id = match.id else {
        if request[query: "updateOnly"]?.lowercased() == "true" { throw ServerError.notFound() }
        let id = try writer(object).create(members, externalID: (field, match.value))
        view(id)
        return created(id, object, isUpsert: true)
      }
      try writer(object).update(id: id, members, conditions: Conditions(request))
      view(id)
      return .json(RecordResult(id: id, created: false).json)
    }
  }

  func delete() throws -> OrgResponse {
    try withMatch { match in
      guard let id = match.id else { throw ServerError.notFound() }
      try writer(match.object).delete(id: id)
      return .empty()
    }
  }

  // MARK: The record

  private struct Match {
    let object: ObjectSchema
    let field: FieldSchema
    let value: DatabaseValue
    /// Nil if no record has the value.
    let id: String?
  }

  /// Handles the request with the record that it names; if several have the value, the response lists them.
  private func withMatch(_ body: (Match) throws -> OrgResponse) throws -> OrgResponse {
    let object = try object
    let field = try object.externalID(named: call["field"])
    let value = try value(call["value"], of: field, in: object)
    let found = try writer(object).ids(where: field, is: value)
    if found.count > 1 {
      return .json(.strings(found.map { url("sobjects/\(object.name)/\($0)") }), status: 300)
    }
    return try body(Match(object: object, field: field, value: value, id: found.first))
  }

  /// The stored form of an external id as a URL gives it.
  private func value(
    _ text: String, of field: FieldSchema, in object: ObjectSchema
  ) throws(ServerError) -> DatabaseValue {
    let rules = FieldRules(object: object, body: [])
    if field.type.storage == .text { return try rules.stored(text: text, in: field) }
    guard let slice = try? JSONSlice(parsing: JSONValue.string(text).text) else {
      throw .notFound()
    }
    return try rules.stored(slice, in: field)
  }
}

extension ObjectSchema {
  /// The field by which records can be found.
  ///
  /// - Throws: ``ServerError`` `NOT_FOUND` if no such field has the name.
  func externalID(named name: String) throws(ServerError) -> FieldSchema {
    guard let field = field(named: name), field.externalId || field.idLookup else {
      throw ServerError(
        status: 404, "NOT_FOUND",
        "Provided external ID field does not exist or is not accessible: \(name)")
    }
    return field
  }
}
