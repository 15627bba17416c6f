import SalesforceSDKCommon

/// `/search` and `/parameterizedSearch`.
struct SearchResource: Resource {
  let call: RESTCall

  /// A search in SOSL: `/search?q=FIND {...}`.
  func search() throws -> OrgResponse {
    guard let text = request[query: "q"], !text.trimmingBlanks().isEmpty else {
      throw ServerError.malformedSearch("A search string has to be specified")
    }
    let source = SOQLSource(text)
    return try result(of: SOSLParser.parse(source), source)
  }

  /// A search whose parts are parameters of the URL.
  func parameterizedSearch() throws -> OrgResponse {
    try result(of: SearchParameters(request.query).statement(), SOQLSource(""))
  }

  /// A search whose parts are members of a JSON body.
  func parameterizedSearchInBody() throws -> OrgResponse {
    try result(of: SearchParameters(body: request.object()).statement(), SOQLSource(""))
  }

  private func result(of statement: SOSLStatement, _ source: SOQLSource) throws -> OrgResponse {
    OrgResponse(
      status: 200,
      body: try SearchRunner(transaction: transaction).run(statement, source: source))
  }
}
