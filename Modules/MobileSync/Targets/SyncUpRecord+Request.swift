import HTTPTypes
public import SalesforceSDKCommon
public import SalesforceSDKCore

// The requests of the platform's resource for one record, on their own or as parts of others.
extension SyncUpRecord {
  /// Returns the request for this record's action: POST, PATCH or DELETE on `/sobjects/…`.
  ///
  /// - Parameters:
  ///   - links: Fields in addition to ``values``, such as a parent's id; each replaces a value of
  ///     that name.
  ///   - date: The server refuses an update with 412 if the record changed after this time, in
  ///     milliseconds since 1970, compared in whole seconds.
  public func request(
    with links: [(name: String, value: JSONValue)] = [], unlessModifiedSince date: Int64? = nil
  ) -> RestRequest {
    let object = "/{v}/sobjects/\(PercentEncoding.encode(objectType))"
    let place = "\(object)/\(PercentEncoding.encode(id ?? ""))"
    switch action {
    case .create: return Self.request(.post, object, body(links))
    case .upsert:
      guard let externalId else { return Self.request(.post, object, body(links)) }
      let key = [externalId.field, externalId.value].map(PercentEncoding.encode)
      return Self.request(.patch, "\(object)/\(key[0])/\(key[1])", body(links))
    case .update:
      var request = Self.request(.patch, place, body(links))
      if let date {
        // A date with milliseconds must not refuse the record that carries it.
        let seconds = (date + 999) / 1_000 * 1_000
        request.headers[.ifUnmodifiedSince] = SalesforceDate(milliseconds: seconds).httpText
      }
      return request
    case .delete: return RestRequest(method: .delete, path: place)
    }
  }

  private static func request(
    _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8]
  ) -> RestRequest {
    RestRequest(
      method: method, path: path, headers: [.contentType: "application/json"], body: body)
  }

  /// The fields as a JSON object, copied from the stored text. The external id stands in the
  /// address and must not stand here.
  private func body(_ links: [(name: String, value: JSONValue)]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in values
    where name != externalId?.field && !links.contains(where: { $0.name == name }) {
      writer.key(name)
      writer.raw(value)
    }
    for (name, value) in links {
      writer.key(name)
      // A link is a text or null, which always have a JSON form.
      if let text = value.string { writer.string(text) } else { writer.null() }
    }
    writer.endObject()
    return writer.bytes
  }

  /// Returns the id of a record whose upsert returned none: the external id's value if it is the
  /// id; otherwise the server is queried.
  ///
  /// - Returns: nil if the server does not return it or cannot be reached; the upsert, and the
  ///   records sent with it, have arrived even then.
  public func idAfterUpsert(idFieldName: String, in context: SyncContext) async -> String? {
    guard action == .upsert, let externalId else { return nil }
    if externalId.field == idFieldName { return externalId.value }
    let key = [objectType, externalId.field, externalId.value].map(PercentEncoding.encode)
    let request = RestRequest(
      path: "/{v}/sobjects/\(key.joined(separator: "/"))",
      query: [RestQueryItem("fields", idFieldName)])
    guard let response = try? await context.response(to: request) else { return nil }
    return try? JSONSlice(parsing: response.body)[idFieldName]?.string
  }
}

extension SyncUpOutcome {
  /// Reads the outcome from the response to ``SyncUpRecord/request(with:unlessModifiedSince:)``.
  ///
  /// 404 means gone for an update or delete, 412 outdated. A create whose id is not 15 or 18 ASCII letters and digits
  /// is unanswered.
  ///
  /// - Parameters:
  ///   - body: The response's JSON; nil if it has none.
  ///   - error: The error to store for a rejected record.
  public init(status: Int, body: JSONSlice?, error: JSONValue?, of action: SyncUpAction) {
    switch status {
    case 200..<300:
      self = .accepted(
        id: action == .delete ? nil : body?[SyncKeys.responseId]?.string, of: action)
    case 404 where action == .update || action == .delete:
      self = .gone(error ?? Self.error(status))
    case 412: self = .outdated
    case _ where Self.saysNothing(status, hasReason: error != nil): self = .unanswered
    default: self = .rejected(error ?? Self.error(status))
    }
  }

  /// The platform's acceptance of a record: unanswered if it created the record and the id has not the form of a
  /// record's id.
  ///
  /// Ids become parts of paths and queries, and the keys by which entries are found.
  package static func accepted(id: String?, of action: SyncUpAction) -> SyncUpOutcome {
    guard action == .create || action == .upsert, let id, SalesforceId.longForm(of: id) == nil
    else { return .succeeded(id: id) }
    return .unanswered
  }

  /// Whether a response with this status leaves open whether the platform did what was requested: an
  /// intermediary stopped waiting, or the cause of the failure is unknown.
  static func saysNothing(_ status: Int, hasReason: Bool) -> Bool {
    switch status {
    case 408, 425, 499, 502, 504: true
    case 500...: !hasReason
    default: false
    }
  }

  private static func error(_ status: Int) -> JSONValue {
    SyncUpDecision.clientError(
      "HTTP_\(status)", "The server refused the record with status \(status) and gave no reason.")
  }
}
