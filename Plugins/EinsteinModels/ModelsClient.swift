public import Foundation
import HTTPTypes
public import SalesforceSDKCommon
public import SalesforceSDKCore

/// A client of the platform's language models (BX-45, CO-190). The account needs the scope `sfap_api`.
///
/// ```swift
/// let models = try ModelsClient(client: client, account: account)
/// let response = try await models.generations(model: "sfdc_ai__DefaultGPT4Omni", prompt: "Hello")
/// print(response.text)
/// ```
///
/// Every call throws ``ModelsError`` if the service refuses the request, and otherwise the errors
/// of `RestClient.send(_:)`. Requests are not free, so they are never repeated after a lost
/// response.
public struct ModelsClient: Sendable {
  private let client: RestClient
  private let host: URL

  /// Creates a client for the account of `client`.
  ///
  /// - Throws: `RestError` `invalidRequest` if the login named no server for these services.
  public init(client: RestClient, account: UserAccount) throws(RestError) {
    guard let host = account.credentials.apiInstanceURL else {
      throw RestError(
        .invalidRequest,
        "\(account) has no server for models. Log in with the scope sfap_api.")
    }
    self.client = client
    self.host = host
  }

  /// Continues a conversation.
  ///
  /// - Parameter model: The model's API name.
  /// - Throws: `RestError` `invalidRequest` if the model has no name.
  public func chatGenerations(
    model: String, messages: [ChatMessage], localization: ModelLocalization? = nil,
    tags: JSONObject? = nil
  ) async throws -> ChatGenerations {
    var body: JSONObject = ["messages": .array(messages.map(\.json))]
    if let localization { body["localization"] = localization.json }
    if let tags { body["tags"] = .object(tags) }
    return try ChatGenerations(await ask(model, "chat-generations", body))
  }

  /// Returns the response to a prompt.
  ///
  /// - Parameter model: The model's API name.
  /// - Throws: `RestError` `invalidRequest` if the model has no name.
  public func generations(
    model: String, prompt: String, localization: ModelLocalization? = nil, tags: JSONObject? = nil
  ) async throws -> Generation {
    var body: JSONObject = ["prompt": .string(prompt)]
    if let localization { body["localization"] = localization.json }
    if let tags { body["tags"] = .object(tags) }
    return try Generation(await ask(model, "generations", body))
  }

  /// Turns texts into vectors, one for each.
  ///
  /// - Parameter model: The model's API name.
  /// - Throws: `RestError` `invalidRequest` if the model has no name.
  public func embeddings(model: String, input: [String]) async throws -> Embeddings {
    try Embeddings(await ask(model, "embeddings", ["input": .array(input.map { .string($0) })]))
  }

  /// Sends a user's feedback on a response.
  ///
  /// - Returns: The service's message.
  public func sendFeedback(_ feedback: ModelFeedback) async throws -> String {
    let json = try await send("feedback", feedback.json)
    return json["message"]?.string ?? ""
  }

  private func ask(_ model: String, _ what: String, _ body: JSONObject) async throws -> JSONSlice {
    guard !model.isEmpty else {
      throw RestError(.invalidRequest, "The name of the model is empty.")
    }
    return try await send("models/\(PercentEncoding.encode(model))/\(what)", body)
  }

  private func send(_ path: String, _ body: JSONObject) async throws -> JSONSlice {
    var request = RestRequest(
      method: .post, path: "/einstein/platform/v1/\(path)",
      headers: [.contentType: "application/json;charset=utf-8"],
      body: Array(JSONValue.object(body).text.utf8), host: .base(host), endpoint: "")
    for (name, value) in Self.fields {
      if let name = HTTPField.Name(name) { request.headers[name] = value }
    }
    let response = try await client.response(to: request)
    guard response.isSuccess else { throw ModelsError(response) ?? RestError(response) }
    return try response.json()
  }

  private static let fields = [
    ("x-sfdc-app-context", "EinsteinGPT"),
    ("x-client-feature-id", "ai-platform-models-connected-app"),
  ]
}

/// The service refused a request.
public struct ModelsError: Error, Sendable, CustomStringConvertible {
  /// The HTTP status.
  public let status: Int
  /// The service's error code.
  public let errorCode: String
  /// The service's sentence.
  public let message: String
  /// The service's code of the message.
  public let messageCode: String?
  /// The response as it was received.
  public let raw: String

  /// `nil` if the response is not an error of the service.
  init?(_ response: RestResponse) {
    guard let json = try? response.json() else { return nil }
    let faults = json.kind == .array ? Array(json.elements) : [json]
    guard let first = faults.first, let code = first["errorCode"]?.string else { return nil }
    status = response.status
    errorCode = code
    message = first["message"]?.string ?? ""
    messageCode = first["messageCode"]?.string
    raw = response.text
  }

  /// Status and code, without the message, which may quote the prompt.
  public var description: String { "the models' service responded with \(status) (\(errorCode))" }
}

extension RestError {
  fileprivate init(_ response: RestResponse) {
    self.init(
      .server(response.status), "the models' service responded with \(response.status)",
      body: response.body)
  }
}

extension ModelsError: LocalizedError {
  /// Status, code and the service's message.
  public var errorDescription: String? { "\(description): \(message)" }
}
