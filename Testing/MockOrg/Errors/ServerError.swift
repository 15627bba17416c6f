import SalesforceSDKCommon

/// An error as the org returns it: a code, a sentence and the fields that it is about.
///
/// It is thrown by the rules of records and queries and written by the REST layer, alone in an array
/// for a single request, or inside a result where a request carries several records.
struct ServerError: Error, Sendable, Equatable {
  /// The HTTP status of a request that fails for this reason alone.
  var status: Int
  /// The platform's code, such as `INVALID_FIELD`.
  var code: String
  var message: String
  var fields: [String]?
  /// The methods that the resource has, for a request with another one.
  var allowedMethods: String?
  /// What a duplicate rule found.
  var duplicateResult: JSONSlice?

  init(status: Int = 400, _ code: String, _ message: String, fields: [String]? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.fields = fields
  }
}

extension ServerError {
  /// The error of a request that carries one record.
  var json: ResponseJSON {
    var json: ResponseJSON = .object(duplicateMembers)
    json.append(["message": .string(message), "errorCode": .string(code)])
    if let fields { json.append(["fields": .strings(fields)]) }
    return json
  }

  /// The error of one record among several.
  var recordJSON: ResponseJSON {
    var json: ResponseJSON = .object(duplicateMembers)
    json.append([
      "statusCode": .string(code), "message": .string(message), "fields": .strings(fields ?? []),
    ])
    return json
  }

  /// What a duplicate rule found.
  ///
  /// The platform misspells the member, and clients read it as it is sent; the right spelling is
  /// added for clients that read that.
  private var duplicateMembers: [ResponseJSON.Member] {
    guard let result = duplicateResult else { return [] }
    return ["duplicateResut", "duplicateResult"].map { ($0, .raw(result)) }
  }
}
