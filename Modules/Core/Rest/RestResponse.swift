public import HTTPTypes
public import SalesforceSDKCommon

/// A response of the REST API.
public struct RestResponse: Sendable, Equatable {
  /// The HTTP status.
  public let status: Int
  /// The header fields.
  public let headers: HTTPFields
  /// The body as it came; empty for a 204.
  public let body: [UInt8]

  /// Makes a response.
  public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Whether the status is one of 200...299.
  public var isSuccess: Bool { (200...299).contains(status) }

  /// The body as text; bytes that are no UTF-8 become U+FFFD.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// The body as JSON: one pass that validates, after which members are read where they stand.
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

  /// The body as a type of the caller's.
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

/// The status and the size of the body, never its text.
extension RestResponse: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(status), \(body.count) bytes" }
  public var debugDescription: String { description }
}
