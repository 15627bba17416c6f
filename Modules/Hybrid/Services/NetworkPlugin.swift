import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `com.salesforce.network`: REST requests of pages, with the session and the token refresh of the current user
/// (HT-8).
public struct NetworkPlugin: HybridPlugin {
  /// The service.
  public let serviceNames = ["com.salesforce.network"]

  private let host: HybridHost

  /// Creates the service.
  public init(host: HybridHost) { self.host = host }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    guard call.action == "pgSendRequest" else { throw call.invalidAction() }
    do {
      return try await send(call)
    } catch let error as Failure {
      throw HybridError(.failed, error.message, value: .string(error.json.text))
    } catch {
      let message = HybridError(error).message
      let json: JSONObject = ["error": .string(message)]
      throw HybridError(
        .failed, message, value: .string(JSONValue.object(json).text), cause: error)
    }
  }

  /// A response whose status is not 2xx.
  private struct Failure: Error {
    let message: String
    let json: JSONValue
  }

  private func send(_ call: HybridCall) async throws -> HybridValue {
    let message = call.message
    let request = try PageRequest(message, uploadFolders: host.uploadFolders).request
    let response = try await client(call, request).response(to: request)
    guard response.isSuccess else { throw Self.failure(response) }
    if try message.flag("returnBinary") {
      return HybridValue([
        "encodedBody": .string(Data(response.body).base64EncodedString()),
        "contentType": response.headers[.contentType].map { .string($0) } ?? .null,
      ])
    }
    return Self.value(of: response.body)
  }

  private func client(
    _ call: HybridCall, _ request: RestRequest
  ) async throws -> RestClient {
    let account = await host.accounts.current
    if request.requiresAuthentication { try call.checkUser() }
    if let account { return host.client(account) }
    guard !request.requiresAuthentication else {
      throw HybridError(.notAuthenticated, "No user account found")
    }
    return host.client()
  }

  /// An object or an array as it came, other bodies as a text, an empty one as no value.
  private static func value(of body: [UInt8]) -> HybridValue {
    guard !body.isEmpty else { return .none }
    if let json = container(body) { return HybridValue(json) }
    return HybridValue(.string(String(decoding: body, as: UTF8.self)))
  }

  private static func container(_ body: [UInt8]) -> JSONSlice? {
    guard let json = try? JSONSlice(parsing: body), [.object, .array].contains(json.kind) else {
      return nil
    }
    return json
  }

  private static func failure(_ response: RestResponse) -> Failure {
    var headers = JSONObject()
    for field in response.headers { headers[field.name.rawName] = .string(field.value) }
    let body: JSONValue =
      container(response.body)?.value ?? .string(String(decoding: response.body, as: UTF8.self))
    let message = "The server responded with status \(response.status)."
    return Failure(
      message: message,
      json: [
        "error": .string(message),
        "response": [
          "headers": .object(headers), "statusCode": .integer(Int64(response.status)),
          "body": body,
        ],
      ])
  }
}
