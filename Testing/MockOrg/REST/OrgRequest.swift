import SalesforceSDKCommon

/// A request as the org's resources see it, whether it came over HTTP or inside a composite one.
struct OrgRequest: Sendable {
  var method: String
  /// The path's segments, percent-decoded.
  var path: [String]
  var query: [(name: String, value: String)]
  /// Header values by lower-case name.
  var headers: [String: String]
  var body: [UInt8]

  init(
    method: String, target: String, headers: [String: String] = [:], body: [UInt8] = []
  ) {
    self.method = method.uppercased()
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0].split(separator: "/").map { PercentEncoding.decode($0) }
    query = parts.count > 1 ? PercentEncoding.pairs(ofForm: parts[1]) : []
    self.headers = headers
    self.body = body
    // Clients whose transport knows no PATCH tunnel it through POST.
    if self.method == "POST", let tunnelled = self[query: "_HttpMethod"] {
      self.method = tunnelled.uppercased()
    }
  }

  /// The request with the form of its response, which may stand behind the path (`/sobjects.json`), where
  /// headers say it. Values of external ids may end like that too and stay as they are.
  var readingSuffix: OrgRequest {
    guard let last = path.last, path.dropFirst(3).first != "sobjects" || path.count < 7,
      let form = ["json", "xml"].first(where: {
        last.hasSuffix(".\($0)") && last.count > $0.count + 1
      })
    else { return self }
    var request = self
    request.path[path.count - 1] = String(last.dropLast(form.count + 1))
    request.headers["accept"] = "application/\(form)"
    return request
  }

  /// The value of a query parameter.
  subscript(query name: String) -> String? { query.first { $0.name == name }?.value }

  /// The values of a query parameter that separates them by commas; none if it is absent.
  func list(_ name: String) -> [String] {
    (self[query: name] ?? "").split(separator: ",").map { String($0).trimmingBlanks() }
  }

  /// The body as JSON.
  ///
  /// - Throws: ``ServerError`` `JSON_PARSER_ERROR` or, for a body of another type,
  ///   `UNSUPPORTED_MEDIA_TYPE`.
  func json() throws(ServerError) -> JSONSlice {
    if headers["content-type"]?.lowercased().contains("xml") == true, !body.isEmpty {
      guard let root = XMLElement(parsing: body) else {
        throw ServerError("XML_PARSER_ERROR", "The entity body is not well-formed XML")
      }
      do {
        return try JSONSlice(parsing: ResponseXML.json(of: root).text)
      } catch {
        throw ServerError("XML_PARSER_ERROR", "The entity body cannot be read: \(error.message)")
      }
    }
    if let type = headers["content-type"]?.lowercased(), !body.isEmpty,
      !type.contains("json"), !type.hasPrefix("text/plain")
    {
      throw ServerError(
        status: 415, "UNSUPPORTED_MEDIA_TYPE",
        "Content-Type header specified in HTTP request is not supported: \(type)")
    }
    if body.isEmpty {
      throw .jsonParser("The HTTP entity body is required, but this request has no entity body.")
    }
    do {
      return try JSONSlice(parsing: body)
    } catch {
      let (line, column) = TextPosition.of(offset: error.byteOffset ?? 0, in: body)
      throw .jsonParser("\(error.message) at [line:\(line), column:\(column)]")
    }
  }

  /// The body as a JSON object.
  func object() throws(ServerError) -> JSONSlice {
    let json = try json()
    guard json.kind == .object else {
      throw .jsonParser("The entity body has to be a JSON object at [line:1, column:1]")
    }
    return json
  }
}

/// A response of the org.
struct OrgResponse: Sendable {
  var status: Int
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []
  var contentType = "application/json;charset=UTF-8"
  /// A request that carries several records succeeded, but not with all of them.
  var hasFailedRecords = false

  /// A response without a body.
  static func empty(_ status: Int = 204) -> OrgResponse { OrgResponse(status: status) }

  /// A response with a JSON body.
  static func json(_ value: ResponseJSON, status: Int = 200) -> OrgResponse {
    OrgResponse(status: status, body: value.bytes)
  }

  /// The body as a value of another response; null if there is none.
  var json: ResponseJSON {
    get throws(JSONError) { body.isEmpty ? .null : .raw(try JSONSlice(parsing: body)) }
  }

  /// The response to a request for several things at once, each with a response of its own.
  static func batch(of responses: [OrgResponse]) throws -> OrgResponse {
    .json([
      "hasErrors": .bool(responses.contains { $0.status >= 400 }),
      "results": try .array(responses) {
        ["result": try $0.json, "statusCode": .integer($0.status)]
      },
    ])
  }

  /// The response to a request that fails with `error`.
  init(_ error: ServerError) {
    self = .json([error.json], status: error.status)
    if let methods = error.allowedMethods { headers.append(("Allow", methods)) }
  }

  init(
    status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    contentType: String = "application/json;charset=UTF-8"
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.contentType = contentType
  }
}
