import EinsteinModels
import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing
import TestSupport

/// BX-45, CO-190: requests to the models' service, and its responses.
@Suite struct ModelsClientTests {
  private func models(
    _ transport: ScriptedTransport, host: String? = "https://api.salesforce.com"
  ) async throws -> ModelsClient {
    var account = UserAccount(
      identity: UserAccountIdentity(
        userId: "005000000000001AAA", organizationId: "00D000000000001EAA"),
      credentials: OAuthCredentials(
        clientId: "c", redirectURI: "http://127.0.0.1/cb", loginServer: .production,
        accessToken: "token", instanceURL: URL(string: "https://acme.my.salesforce.com")),
      profile: UserProfile(username: "jane@example.com"))
    account.credentials.apiInstanceURL = host.flatMap { URL(string: $0) }
    let persister = InMemoryAccountPersister()
    try await persister.save(account)
    let accounts = try await UserAccountManager(persister: persister, transport: transport)
    return try ModelsClient(
      client: RestClient(account: account, accounts: accounts, transport: transport),
      account: account)
  }

  @Test(.covers("BX-45", "CO-190", "CO-109"))
  func `each call is one request with the service's header fields`()
    async throws
  {
    let transport = ScriptedTransport([
      .init(json: #"{"id":"1","generationDetails":{"generations":[]}}"#),
      .init(json: #"{"generation":{"generatedText":"t"}}"#), .init(json: #"{"embeddings":[]}"#),
      .init(json: #"{"message":"thanks"}"#),
    ])
    let models = try await models(transport)
    _ = try await models.chatGenerations(
      model: "a/b", messages: [ChatMessage(role: "user", content: "Hi")],
      localization: ModelLocalization(
        defaultLocale: "en_US", inputLocales: ["de": 0.5], expectedLocales: ["en_US"]),
      tags: ["k": "v"])
    _ = try await models.generations(model: "m", prompt: "P")
    _ = try await models.embeddings(model: "m", input: ["x", "y"])
    var feedback = ModelFeedback(id: "f", generationId: "g", feedback: "GOOD", feedbackText: "t")
    feedback.source = "app"
    #expect(try await models.sendFeedback(feedback) == "thanks")
    let base = "https://api.salesforce.com/einstein/platform/v1"
    #expect(
      transport.requests.map(\.url.absoluteString) == [
        "\(base)/models/a%2Fb/chat-generations", "\(base)/models/m/generations",
        "\(base)/models/m/embeddings", "\(base)/feedback",
      ])
    #expect(
      transport.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) } == [
        #"{"messages":[{"role":"user","content":"Hi"}],"localization":{"defaultLocale":"en_US","#
          + #""inputLocales":[{"locale":"de","probability":0.5}],"expectedLocales":["en_US"]},"#
          + #""tags":{"k":"v"}}"#,
        #"{"prompt":"P"}"#, #"{"input":["x","y"]}"#,
        #"{"id":"f","generationId":"g","feedback":"GOOD","feedbackText":"t","source":"app"}"#,
      ])
    for request in transport.requests {
      #expect(request.method == .post)
      #expect(request.headers[.authorization] == "Bearer token")
      #expect(request.headers[try #require(.init("x-sfdc-app-context"))] == "EinsteinGPT")
      #expect(
        request.headers[try #require(.init("x-client-feature-id"))]
          == "ai-platform-models-connected-app")
    }
  }

  @Test(.covers("BX-45", "CO-190"))
  func `responses are read, and kept as they came`() async throws {
    let transport = ScriptedTransport([
      .init(
        json: #"{"id":"1","generationDetails":{"generations":[{"id":"g","role":"assistant","#
          + #""content":"Hello","parameters":{"finish_reason":"stop"}}],"parameters":{}}}"#),
      .init(
        json: #"{"id":"2","generation":{"id":"g2","generatedText":"Hi","contentQuality":"#
          + #"{"scanToxicity":{"isDetected":false,"categories":[{"categoryName":"hate","score":0.25}]}}},"#
          + #""parameters":{"model":"gpt","usage":{"prompt_tokens":3,"completion_tokens":4,"#
          + #""total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}}}"#),
      .init(
        json: #"{"embeddings":[{"embedding":[3],"index":1},{"embedding":[1,2.5],"index":0}]}"#),
    ])
    let models = try await models(transport)
    let chat = try await models.chatGenerations(model: "m", messages: [])
    #expect(chat.id == "1")
    #expect(chat.choices.map(\.content) == ["Hello"])
    #expect(chat.choices.first?.role == "assistant")
    #expect(chat.choices.first?.finishReason == "stop")
    let answer = try await models.generations(model: "m", prompt: "P")
    #expect(answer.text == "Hi")
    #expect(answer.generationId == "g2")
    #expect(answer.isToxic == false)
    #expect(answer.toxicity == ["hate": 0.25])
    #expect(answer.model == "gpt")
    #expect(answer.usage?.totalTokens == 7)
    #expect(answer.usage?.completionDetails == ["reasoning_tokens": 1])
    #expect(answer.raw["parameters"]?["model"]?.string == "gpt")
    #expect(
      try await models.embeddings(model: "m", input: ["a", "b"]).vectors == [[1, 2.5], [3]])
  }

  @Test(.covers("BX-45", "CO-190"))
  func `what the service refuses is a typed error`() async throws {
    let transport = ScriptedTransport([
      .init(status: 400, json: #"[{"errorCode":"BAD","message":"secret","messageCode":"M1"}]"#),
      .init(status: 500, json: "<html>"), .init(json: "{}"),
    ])
    let models = try await models(transport)
    let error = await #expect(throws: ModelsError.self) {
      try await models.generations(model: "m", prompt: "P")
    }
    #expect(error?.status == 400)
    #expect(error?.errorCode == "BAD")
    #expect(error?.messageCode == "M1")
    #expect(error.map { "\($0)".contains("secret") } == false)
    #expect(
      await #expect(throws: RestError.self) { try await models.embeddings(model: "m", input: []) }?
        .code == .server(500))
    #expect(
      await #expect(throws: RestError.self) { try await models.embeddings(model: "m", input: []) }?
        .code == .malformedResponse)
    await #expect(throws: RestError.self) { try await models.generations(model: "", prompt: "P") }
    await #expect(throws: RestError.self) { _ = try await self.models(transport, host: nil) }
    #expect(transport.requests.count == 3)
  }
}
