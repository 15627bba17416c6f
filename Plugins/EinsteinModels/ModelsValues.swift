public import SalesforceSDKCommon
import SalesforceSDKCore

/// One turn of a conversation.
public struct ChatMessage: Sendable, Hashable {
  /// The role of the author: `user`, `assistant` or `system`.
  public var role: String
  /// The text of the turn.
  public var content: String

  /// Creates a turn.
  public init(role: String, content: String) {
    self.role = role
    self.content = content
  }

  var json: JSONValue { .object(["role": .string(role), "content": .string(content)]) }
}

/// The languages of a prompt and its response.
public struct ModelLocalization: Sendable, Hashable {
  /// The default language, such as `en_US`.
  public var defaultLocale: String
  /// The probable languages of the prompt, with their probabilities.
  public var inputLocales: [String: Double]
  /// The permitted languages of the response.
  public var expectedLocales: [String]

  /// Creates a localization.
  public init(
    defaultLocale: String, inputLocales: [String: Double] = [:], expectedLocales: [String] = []
  ) {
    self.defaultLocale = defaultLocale
    self.inputLocales = inputLocales
    self.expectedLocales = expectedLocales
  }

  var json: JSONValue {
    let inputs = inputLocales.sorted { $0.key < $1.key }.map { locale, probability in
      JSONValue.object(["locale": .string(locale), "probability": .double(probability)])
    }
    return .object([
      "defaultLocale": .string(defaultLocale), "inputLocales": .array(inputs),
      "expectedLocales": .array(expectedLocales.map { .string($0) }),
    ])
  }
}

/// The continuation of a conversation.
public struct ChatGenerations: Sendable, Equatable {
  /// One way to continue it.
  public struct Choice: Sendable, Equatable {
    /// Its id, for feedback.
    public let id: String?
    /// The role of the author.
    public let role: String?
    /// The text.
    public let content: String
    /// The reason for its end.
    public let finishReason: String?
  }

  /// The response's id.
  public let id: String?
  /// The ways to continue, the best first.
  public let choices: [Choice]
  /// The response as it came.
  public let raw: JSONSlice

  init(_ json: JSONSlice) throws(RestError) {
    guard let list = json["generationDetails"]?["generations"], list.kind == .array else {
      throw .unreadable("chat generations")
    }
    id = json["id"]?.string
    choices = list.elements.map {
      Choice(
        id: $0["id"]?.string, role: $0["role"]?.string, content: $0["content"]?.string ?? "",
        finishReason: $0["parameters"]?["finish_reason"]?.string)
    }
    raw = json
  }
}

/// The response to a prompt.
public struct Generation: Sendable, Equatable {
  /// The number of used tokens.
  public struct Usage: Sendable, Hashable {
    /// Of the prompt.
    public let promptTokens: Int
    /// Of the response.
    public let completionTokens: Int
    /// Of both.
    public let totalTokens: Int
    /// The use of the response's tokens, by the service's names.
    public let completionDetails: [String: Int]
    /// The use of the prompt's tokens, by the service's names.
    public let promptDetails: [String: Int]
  }

  /// The response's id.
  public let id: String?
  /// The id of the generated text, for feedback.
  public let generationId: String?
  /// The generated text.
  public let text: String
  /// Whether the service found the text harmful; `nil` if it did not check.
  public let isToxic: Bool?
  /// The degree of harm, by kind.
  public let toxicity: [String: Double]
  /// The model that generated the response.
  public let model: String?
  /// The number of used tokens; `nil` if the service does not return it.
  public let usage: Usage?
  /// The response as it came.
  public let raw: JSONSlice

  init(_ json: JSONSlice) throws(RestError) {
    guard let generation = json["generation"], let text = generation["generatedText"]?.string else {
      throw .unreadable("a generation")
    }
    id = json["id"]?.string
    generationId = generation["id"]?.string
    self.text = text
    let scan = generation["contentQuality"]?["scanToxicity"]
    isToxic = scan?["isDetected"]?.bool
    var toxicity: [String: Double] = [:]
    let categories = (scan?["categories"]?.elements).map { Array($0) } ?? []
    for category in categories {
      if let name = category["categoryName"]?.string {
        toxicity[name] = category["score"]?.double
      }
    }
    self.toxicity = toxicity
    model = json["parameters"]?["model"]?.string
    usage = json["parameters"]?["usage"].map { Usage($0) }
    raw = json
  }
}

extension Generation.Usage {
  fileprivate init(_ json: JSONSlice) {
    func count(_ key: String) -> Int { Int(clamping: json[key]?.int64 ?? 0) }
    func details(_ key: String) -> [String: Int] {
      var counts: [String: Int] = [:]
      guard let members = json[key], members.kind == .object else { return [:] }
      for (name, value) in members.members {
        if let number = value.int64 { counts[name] = Int(clamping: number) }
      }
      return counts
    }
    self.init(
      promptTokens: count("prompt_tokens"), completionTokens: count("completion_tokens"),
      totalTokens: count("total_tokens"), completionDetails: details("completion_tokens_details"),
      promptDetails: details("prompt_tokens_details"))
  }
}

/// Texts as vectors.
public struct Embeddings: Sendable, Equatable {
  /// One vector for each text, in the order of the texts.
  public let vectors: [[Double]]
  /// The response as it came.
  public let raw: JSONSlice

  init(_ json: JSONSlice) throws(RestError) {
    guard let list = json["embeddings"], list.kind == .array else {
      throw .unreadable("embeddings")
    }
    let indexed = list.elements.enumerated().map { place, item in
      (
        item["index"]?.int64 ?? Int64(place),
        item["embedding"]?.elements.compactMap(\.double) ?? []
      )
    }
    vectors = indexed.sorted { $0.0 < $1.0 }.map(\.1)
    raw = json
  }
}

/// A user's feedback on a response.
public struct ModelFeedback: Sendable, Hashable {
  /// The feedback's id, which the app creates.
  public var id: String
  /// The id of the generated text.
  public var generationId: String
  /// `GOOD` or `BAD`.
  public var feedback: String
  /// The user's text.
  public var feedbackText: String?
  /// The place where the user saw the response.
  public var source: String?
  /// The text that the app derived from the response.
  public var appGeneration: String?
  /// The id of the derived text.
  public var appGenerationId: String?
  /// Additional feedback of the app.
  public var appFeedback: JSONObject?

  /// Creates a feedback.
  public init(id: String, generationId: String, feedback: String, feedbackText: String? = nil) {
    self.id = id
    self.generationId = generationId
    self.feedback = feedback
    self.feedbackText = feedbackText
  }

  var json: JSONObject {
    var json: JSONObject = [
      "id": .string(id), "generationId": .string(generationId), "feedback": .string(feedback),
    ]
    for (key, value) in [
      ("feedbackText", feedbackText), ("source", source), ("appGeneration", appGeneration),
      ("appGenerationId", appGenerationId),
    ] {
      if let value { json[key] = .string(value) }
    }
    if let appFeedback { json["appFeedback"] = .object(appFeedback) }
    return json
  }
}

extension RestError {
  fileprivate static func unreadable(_ what: String) -> RestError {
    RestError(.malformedResponse, "The service's response holds no \(what).")
  }
}
