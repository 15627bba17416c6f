public import SalesforceSDKCommon
import SalesforceSDKCore

/// One turn of a conversation.
public struct ChatMessage: Sendable, Hashable {
  /// Who speaks: `user`, `assistant` or `system`.
  public var role: String
  /// What is said.
  public var content: String

  /// Makes a turn.
  public init(role: String, content: String) {
    self.role = role
    self.content = content
  }

  var json: JSONValue { .object(["role": .string(role), "content": .string(content)]) }
}

/// The languages of a prompt and its response.
public struct ModelLocalization: Sendable, Hashable {
  /// The language if nothing else says one, such as `en_US`.
  public var defaultLocale: String
  /// The languages that the question is probably in, with how probable each is.
  public var inputLocales: [String: Double]
  /// The languages that the response may be in.
  public var expectedLocales: [String]

  /// Makes a localization.
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
    /// Who speaks.
    public let role: String?
    /// What is said.
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
  /// How many tokens were used.
  public struct Usage: Sendable, Hashable {
    /// Of the prompt.
    public let promptTokens: Int
    /// Of the response.
    public let completionTokens: Int
    /// Of both.
    public let totalTokens: Int
    /// What the response's tokens were used for, by the service's names.
    public let completionDetails: [String: Int]
    /// What the prompt's tokens were used for, by the service's names.
    public let promptDetails: [String: Int]
  }

  /// The response's id.
  public let id: String?
  /// The id of the generated text, for feedback.
  public let generationId: String?
  /// The generated text.
  public let text: String
  /// Whether the service found the text harmful; `nil` if it did not look.
  public let isToxic: Bool?
  /// How harmful, by kind.
  public let toxicity: [String: Double]
  /// The model that generated the response.
  public let model: String?
  /// How many tokens were used; `nil` if the service does not say.
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
  /// The feedback's id, made by the app.
  public var id: String
  /// The id of the generated text.
  public var generationId: String
  /// `GOOD` or `BAD`.
  public var feedback: String
  /// What the person wrote.
  public var feedbackText: String?
  /// Where the person saw it.
  public var source: String?
  /// What the app made of the response.
  public var appGeneration: String?
  /// The id of that.
  public var appGenerationId: String?
  /// What the app adds.
  public var appFeedback: JSONObject?

  /// Makes a feedback.
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
