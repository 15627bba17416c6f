import FieldforceGzip
import HTTPTypes
public import SalesforceAnalytics
public import SalesforceSDKCommon

/// A publisher that sends events in the form of `AILTNTransform` to the platform's AILTN service,
/// with the session of one account (CA-42).
///
/// An expired token is refreshed as for every request. A failure is logged and never leads to a
/// login.
public struct AILTNPublisher: EventPublisher {
  private let client: @Sendable () async -> RestClient?

  /// Sends with `client`.
  public init(client: RestClient) {
    self.init { client }
  }

  /// - Parameter client: nil if there is none any more; then nothing is sent.
  init(_ client: @escaping @Sendable () async -> RestClient?) {
    self.client = client
  }

  public func publish(_ events: [JSONObject]) async -> Bool {
    guard !events.isEmpty else { return true }
    guard let client = await client() else { return false }
    do {
      _ = try await client.send(try Self.request(events))
      return true
    } catch {
      CoreLogger.log.warning(
        "\(events.count) analytics events could not be published.", error: error)
      return false
    }
  }

  /// The request with the events as log lines in its body.
  ///
  /// - Throws: `JSONError` for a number that JSON cannot write; ``RestError`` `invalidRequest` if there is no memory
  ///   to compress the body.
  static func request(_ events: [JSONObject]) throws -> RestRequest {
    guard let body = Gzip.compressed(try body(events)) else {
      throw RestError(.invalidRequest, "The analytics events could not be compressed. Try again.")
    }
    var request = RestRequest(
      method: .post, path: "/{v}/connect/proxy/app-analytics-logging", body: body)
    request.headers[.contentType] = "application/json"
    request.headers[.contentEncoding] = "gzip"
    return request
  }

  /// The log lines as JSON: of each event its schema, and the rest as a text of JSON.
  static func body(_ events: [JSONObject]) throws(JSONError) -> [UInt8] {
    var lines: [JSONValue] = []
    for event in events {
      var rest = event
      let schema = rest.removeValue(forKey: "schemaType") ?? .null
      let payload = String(decoding: try JSONValue.object(rest).serialized(), as: UTF8.self)
      lines.append([
        "code": "ailtn", "data": ["schemaType": schema, "payload": .string(payload)],
      ])
    }
    return try JSONValue.object(["logLines": .array(lines)]).serialized()
  }
}
