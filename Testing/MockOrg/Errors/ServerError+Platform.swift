/// The errors that several rules share, in the platform's words.
extension ServerError {
  static func notFound() -> ServerError {
    ServerError(status: 404, "NOT_FOUND", "The requested resource does not exist")
  }

  static func deleted() -> ServerError {
    ServerError(status: 404, "ENTITY_IS_DELETED", "entity is deleted", fields: [])
  }

  /// A change of a record that is nowhere, or a reference to one.
  static func invalidCrossReference(status: Int = 400) -> ServerError {
    ServerError(
      status: status, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", fields: [])
  }

  static func insufficientCrossReference(_ id: String) -> ServerError {
    ServerError(
      "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY",
      "insufficient access rights on cross-reference id: \(id.prefix(15))", fields: [])
  }

  static func malformedID(_ text: String) -> ServerError {
    ServerError("MALFORMED_ID", "malformed id \(text)", fields: ["Id"])
  }

  static func unknownField(_ name: String, of object: String) -> ServerError {
    ServerError("INVALID_FIELD", "No such column '\(name)' on sobject of type \(object)")
  }

  static func readOnly(_ fields: [String]) -> ServerError {
    ServerError(
      "INVALID_FIELD_FOR_INSERT_UPDATE",
      "Unable to create/update fields: \(fields.joined(separator: ", ")). Please check the security "
        + "settings of this field and verify that it is read/write for your profile or permission set.",
      fields: fields)
  }

  static func requiredFieldsMissing(_ fields: [String]) -> ServerError {
    ServerError(
      "REQUIRED_FIELD_MISSING", "Required fields are missing: [\(fields.joined(separator: ", "))]",
      fields: fields)
  }

  static func methodNotAllowed(_ method: String, allowed: String) -> ServerError {
    var error = ServerError(
      status: 405, "METHOD_NOT_ALLOWED",
      "HTTP Method '\(method)' not allowed. Allowed are \(allowed)")
    error.allowedMethods = allowed
    return error
  }

  static func jsonParser(_ message: String) -> ServerError {
    ServerError("JSON_PARSER_ERROR", message)
  }

  /// An `Authorization` header of no scheme that the platform knows, or without a token.
  static func invalidHeaderType() -> ServerError {
    ServerError(status: 401, "INVALID_AUTH_HEADER", "INVALID_HEADER_TYPE")
  }

  static func invalidSession() -> ServerError {
    ServerError(status: 401, "INVALID_SESSION_ID", "Session expired or invalid")
  }
}
