public import SalesforceSDKCommon

/// The outcome for one record of a collection (CO-133). A refused record is an outcome, not an
/// error.
public struct CollectionResult: Sendable, Equatable {
  /// The record's id; absent if it was refused.
  public let id: String?
  /// Whether the server carried out the step.
  public let success: Bool
  /// Whether an upsert created the record; absent for other operations.
  public let created: Bool?
  /// The reasons of a refusal.
  public let errors: [RestError.ServerError]

  /// Reads the response to a collection's create, update, upsert or delete, in input order.
  ///
  /// - Throws: ``RestError`` `malformedResponse` if it is not a list of outcomes.
  public static func all(in response: RestResponse) throws(RestError) -> [CollectionResult] {
    let json = try response.json()
    guard json.kind == .array else {
      throw RestError(
        .malformedResponse, "The response to a collection is not a list.", body: response.body)
    }
    var results: [CollectionResult] = []
    results.reserveCapacity(json.count)
    for item in json.elements {
      guard item.kind == .object, let success = item["success"]?.bool else {
        throw RestError(
          .malformedResponse, "Outcome \(results.count) of a collection does not say success.",
          body: response.body)
      }
      results.append(
        CollectionResult(
          id: item["id"]?.string, success: success, created: item["created"]?.bool,
          errors: item["errors"]?.elements.compactMap { RestError.ServerError($0) } ?? []))
    }
    return results
  }
}

/// The response to the retrieval of a collection (CO-133).
public struct RetrievedCollection: Sendable, Equatable {
  /// One record for each id, in the order of the ids; nil for a record that was deleted or that the
  /// user may not see.
  public let records: [JSONSlice?]

  /// Reads the response to ``RestRequest/collectionRetrieve(object:ids:fields:apiVersion:)``.
  ///
  /// - Throws: ``RestError`` `malformedResponse` if it is not a list of records and nulls.
  public init(_ response: RestResponse) throws(RestError) {
    let json = try response.json()
    guard json.kind == .array else {
      throw RestError(
        .malformedResponse, "The response to a retrieved collection is no list.",
        body: response.body)
    }
    var records: [JSONSlice?] = []
    records.reserveCapacity(json.count)
    for item in json.elements {
      guard item.isNull || item.kind == .object else {
        throw RestError(
          .malformedResponse,
          "Item \(records.count) of a retrieved collection is neither a record nor null.",
          body: response.body)
      }
      records.append(item.isNull ? nil : item)
    }
    self.records = records
  }
}

/// The response to a composite request (CO-132): one part per step, in order.
public struct CompositeResponse: Sendable, Equatable {
  /// The response to one step.
  public struct Part: Sendable, Equatable {
    /// The step's name.
    public let referenceId: String
    /// The step's HTTP status.
    public let status: Int
    /// The step's header fields, as an object.
    public let headers: JSONSlice?
    /// The step's body; absent if it has none.
    public let body: JSONSlice?

    /// Whether the status is one of 200...299.
    public var isSuccess: Bool { (200...299).contains(status) }
    /// The errors in the step's body.
    public var errors: [RestError.ServerError] {
      guard let body else { return [] }
      return body.kind == .array
        ? body.elements.compactMap { RestError.ServerError($0) }
        : RestError.ServerError(body).map { [$0] } ?? []
    }
  }

  /// The steps' responses.
  public let parts: [Part]

  /// Reads a response.
  ///
  /// - Throws: ``RestError`` `malformedResponse` if it has another form.
  public init(_ response: RestResponse) throws(RestError) {
    guard let list = try response.json()["compositeResponse"], list.kind == .array else {
      throw RestError(
        .malformedResponse, "The response to a composite request has no compositeResponse.",
        body: response.body)
    }
    var parts: [Part] = []
    for item in list.elements {
      guard let referenceId = item["referenceId"]?.string,
        let status = item["httpStatusCode"]?.int64
      else {
        throw RestError(
          .malformedResponse, "Part \(parts.count) of a composite response has no name or status.",
          body: response.body)
      }
      parts.append(
        Part(
          referenceId: referenceId, status: Int(clamping: status), headers: item["httpHeaders"],
          body: item["body"].flatMap { $0.isNull ? nil : $0 }))
    }
    self.parts = parts
  }

  /// The response to the step of that name.
  public subscript(referenceId: String) -> Part? {
    parts.first { $0.referenceId == referenceId }
  }
}

/// The response to a batch (CO-132): one part per request, in order.
public struct BatchResponse: Sendable, Equatable {
  /// The response to one request.
  public struct Part: Sendable, Equatable {
    /// The request's HTTP status.
    public let status: Int
    /// The request's body; absent if it has none.
    public let body: JSONSlice?

    /// Whether the status is one of 200...299.
    public var isSuccess: Bool { (200...299).contains(status) }
  }

  /// Whether any request failed.
  public let hasErrors: Bool
  /// The requests' responses.
  public let parts: [Part]

  /// Reads a response.
  ///
  /// - Throws: ``RestError`` `malformedResponse` if it has another form.
  public init(_ response: RestResponse) throws(RestError) {
    let json = try response.json()
    guard let hasErrors = json["hasErrors"]?.bool, let list = json["results"], list.kind == .array
    else {
      throw RestError(
        .malformedResponse, "The response to a batch has no hasErrors or no results.",
        body: response.body)
    }
    var parts: [Part] = []
    for item in list.elements {
      guard let status = item["statusCode"]?.int64 else {
        throw RestError(
          .malformedResponse, "Part \(parts.count) of a batch's response has no status.",
          body: response.body)
      }
      parts.append(
        Part(
          status: Int(clamping: status), body: item["result"].flatMap { $0.isNull ? nil : $0 }))
    }
    self.hasErrors = hasErrors
    self.parts = parts
  }
}
