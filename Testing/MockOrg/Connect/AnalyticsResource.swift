import SalesforceSDKCommon

/// `/connect/proxy/app-analytics-logging`: accepts log lines, all of a request or none.
struct AnalyticsResource: Resource {
  /// The most lines of one request.
  private static let maxLines = 1_000
  let call: RESTCall

  func accept() throws -> OrgResponse {
    let body = try request.object()
    guard let list = body["logLines"], list.kind == .array else {
      throw ServerError("MISSING_ARGUMENT", "The property logLines is missing or no array.")
    }
    guard list.count <= Self.maxLines else {
      throw ServerError(
        "INVALID_INPUT", "A request has at most \(Self.maxLines) log lines.")
    }
    let lines = try list.elements.enumerated().map { index, line in
      guard let code = line["code"]?.string, let schema = line["data"]?["schemaType"]?.string,
        let payload = line["data"]?["payload"]?.string,
        let json = try? JSONSlice(parsing: payload).value.object
      else {
        throw ServerError(
          "INVALID_INPUT",
          "Log line \(index) needs a code and data with a schemaType and a payload that is a JSON object as text."
        )
      }
      return (code: code, schemaType: schema, payload: json)
    }
    org.analytics.add(lines, by: transaction.userID, at: org.options.clock.now)
    return .empty()
  }
}
