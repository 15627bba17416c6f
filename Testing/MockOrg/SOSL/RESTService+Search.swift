import SalesforceSDKCommon

/// `/search` and `/parameterizedSearch`.
extension RESTService {
  /// A search in SOSL: `/search?q=FIND {...}`.
  func search(_ request: OrgRequest) throws -> OrgResponse {
    try request.allow("GET,HEAD")
    guard let text = request[query: "q"], !text.trimmingBlanks().isEmpty else {
      throw ServerError.malformedSearch("A search string has to be specified")
    }
    let source = SOQLSource(text)
    let statement = try SOSLParser.parse(source)
    return OrgResponse(
      status: 200,
      body: try SearchRunner(transaction: transaction).run(statement, source: source))
  }

  /// A search whose parts are parameters of the URL or members of a JSON body.
  func parameterizedSearch(_ request: OrgRequest) throws -> OrgResponse {
    try request.allow("GET,HEAD,POST")
    let parameters =
      request.method == "POST"
      ? try SearchParameters(body: request.object()) : try SearchParameters(request.query)
    return OrgResponse(
      status: 200,
      body: try SearchRunner(transaction: transaction).run(
        try parameters.statement(), source: SOQLSource("")))
  }
}
