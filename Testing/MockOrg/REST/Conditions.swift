import SalesforceSDKCommon

/// The conditions under which a client wants a response or a change (RFC 7232), as far as the platform
/// knows them: by time for descriptions and rows, by tag for rows.
struct Conditions {
  private let ifModifiedSince: Int?
  private let ifUnmodifiedSince: Int?
  private let ifMatch: [String]?
  private let ifNoneMatch: [String]?

  /// - Throws: ``ServerError`` if a date is none.
  init(_ request: OrgRequest) throws(ServerError) {
    func instant(_ header: String) throws(ServerError) -> Int? {
      guard let text = request.headers[header.lowercased()] else { return nil }
      guard let seconds = DateText.parseHTTP(text) else {
        throw ServerError("INVALID_HEADER", "Value of \(header) is not a valid HTTP date: \(text)")
      }
      return seconds
    }
    func tags(_ header: String) -> [String]? {
      request.headers[header].map { value in
        value.split(separator: ",").map {
          var tag = String($0).trimmingBlanks()
          if tag.hasPrefix("W/") { tag.removeFirst(2) }
          // What a proxy that compressed the response has added.
          return tag.replacing("--gzip\"", with: "\"")
        }
      }
    }
    ifModifiedSince = try instant("If-Modified-Since")
    ifUnmodifiedSince = try instant("If-Unmodified-Since")
    ifMatch = tags("if-match")
    ifNoneMatch = tags("if-none-match")
  }

  /// - Throws: ``ServerError`` 412 if the record is not as the client believes it to be.
  func check(modified: Int, tag: String? = nil) throws(ServerError) {
    if let ifMatch, !ifMatch.contains("*"), !ifMatch.contains(tag ?? "") {
      throw Self.failed("If-Match")
    }
    if ifMatch == nil, let ifUnmodifiedSince, modified > ifUnmodifiedSince {
      throw Self.failed("If-Unmodified-Since")
    }
  }

  private static func failed(_ header: String) -> ServerError {
    ServerError(
      status: 412, "PRECONDITION_FAILED",
      "The record was changed since the state that \(header) names")
  }

  /// Whether the client has the present state already.
  func isFresh(modified: Int, tag: String? = nil) -> Bool {
    if let ifNoneMatch { return ifNoneMatch.contains("*") || ifNoneMatch.contains(tag ?? "") }
    return ifModifiedSince.map { modified <= $0 } ?? false
  }

  /// `response` with the headers for a conditional request, or 304 if the client has that state already.
  func applied(to response: OrgResponse, modified: Int, tag: String? = nil) -> OrgResponse {
    var response = isFresh(modified: modified, tag: tag) ? OrgResponse.empty(304) : response
    response.headers.append(("Last-Modified", DateText.http(secondsSince1970: modified)))
    if let tag { response.headers.append(("ETag", tag)) }
    return response
  }
}
