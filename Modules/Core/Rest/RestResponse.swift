public import HTTPTypes
public import SalesforceSDKCommon

/// The complete response to one request.
public struct RestResponse: Sendable, Equatable {
  /// The HTTP status.
  public var status: Int
  /// The header fields.
  public var headers: HTTPFields
  /// The body, decompressed; empty if there was none, as for a 204.
  public var body: [UInt8]

  /// Creates a response.
  public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Creates a response with a JSON text as its body.
  public init(status: Int = 200, json: String) {
    self.init(
      status: status, headers: [.contentType: "application/json;charset=UTF-8"],
      body: Array(json.utf8))
  }

  /// Whether the status is one of 200...299.
  public var isSuccess: Bool { (200...299).contains(status) }

  /// The body as text; invalid UTF-8 becomes U+FFFD.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// Returns the body as JSON. It is validated in one pass; members are then read in place.
  ///
  /// - Throws: ``RestError`` `emptyResponse`, or `malformedResponse` if it is not JSON.
  public func json() throws(RestError) -> JSONSlice {
    guard !body.isEmpty else {
      throw RestError(.emptyResponse, "The response (status \(status)) has no body.")
    }
    do throws(JSONError) {
      return try JSONSlice(parsing: body)
    } catch {
      throw RestError(
        .malformedResponse, "The response (status \(status)) is not JSON.", body: body, cause: error
      )
    }
  }

  /// Returns the body as the caller's type.
  ///
  /// - Throws: ``RestError`` `emptyResponse`, or `malformedResponse` if it is not JSON of that type.
  public func decode<T: Decodable>(as type: T.Type = T.self) throws(RestError) -> T {
    let json = try json()
    do throws(JSONError) {
      return try json.decode(as: type)
    } catch {
      throw RestError(
        .malformedResponse, "The response (status \(status)) is no \(type).", body: body,
        cause: error)
    }
  }
}

/// The status and the size of the body, never its text: it may contain tokens or records.
extension RestResponse: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(status), \(body.count) bytes" }
  public var debugDescription: String { description }
}
