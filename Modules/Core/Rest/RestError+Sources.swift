import SalesforceSDKCommon

extension RestError {
  /// The error for a response whose status is outside 200...299, row by row.
  package init(
    response: RestResponse, to request: RestRequest, fileID: String = #fileID,
    line: Int = #line
  ) {
    let faults = ServerError.all(in: response.body)
    let codes = faults.map(\.errorCode).filter { !$0.isEmpty }
    let named = codes.isEmpty ? "" : " (\(codes.joined(separator: ", ")))"
    self.init(
      .server(response.status),
      "The server responded with \(response.status)\(named) to \(request).\(Self.remedy(response.status))",
      body: response.body, serverErrors: faults, fileID: fileID, line: line)
  }

  /// The error for a request without a response.
  package init(
    _ error: TransportError, fileID: String = #fileID, line: Int = #line
  ) {
    let code: Code =
      switch error.code {
      case .timedOut: .timedOut
      case .truncated: .truncated
      case .tooLarge: .tooLarge
      case .insecureURL: .insecureURL
      case .malformed: .malformedResponse
      case .unreadableBody: .unreadableFile
      case .noRoom: .unwritableFile
      case .untrustedServer: .untrustedServer
      default: .unreachable
      }
    // The transport's error describes the same failure, so its cause becomes the cause of this one.
    self.init(code, error.message, cause: error.cause, fileID: fileID, line: line)
  }

  private static func remedy(_ status: Int) -> String {
    switch status {
    case 300: " Several records match the external id. Make it unique."
    case 400: " Correct the request by what the server says about it."
    case 401: " Log in again."
    case 403: " The user may not do this, or the request limit is reached."
    case 404: " It does not exist, or the user may not see it."
    case 412: " The record has changed since it was read. Read it again."
    case 414: " The query is too long for a GET."
    case 500...599: " The server failed. Try again later."
    default: ""
    }
  }
}

extension RestError.ServerError {
  /// The faults in an error body: the platform's array, one object of it, or the OAuth form.
  package static func all(in body: [UInt8]) -> [Self] {
    guard !body.isEmpty, let json = try? JSONSlice(parsing: body) else { return [] }
    switch json.kind {
    case .array: return json.elements.compactMap { Self($0) }
    case .object: return Self(json).map { [$0] } ?? []
    default: return []
    }
  }

  /// The fault that `json` describes; `nil` if it describes none.
  init?(_ json: JSONSlice) {
    let code = json["errorCode"]?.string ?? json["statusCode"]?.string ?? json["error"]?.string
    let message = json["message"]?.string ?? json["error_description"]?.string
    guard json.kind == .object, code != nil || message != nil else { return nil }
    self.init(
      errorCode: code ?? "", message: message ?? "",
      fields: json["fields"]?.elements.compactMap(\.string) ?? [])
  }
}
