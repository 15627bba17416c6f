import SalesforceSDKCommon

/// A request for a resource, admitted by the guards.
struct InspectorCall: Sendable {
  let method: String
  /// The path behind `api/`, in parts.
  let segments: [String]
  let parameters: Parameters
  /// The last event that the client has, of an event stream.
  let lastEventId: Int?
  /// Reads the body.
  let body: @Sendable () async throws -> JSONObject
}

/// The response to a call.
enum InspectorReply: Sendable {
  case document(status: Int, headers: [(String, String)], bytes: [UInt8])
  case events(InspectorStream)

  static func json(_ value: JSONValue, status: Int = 200) -> InspectorReply {
    .document(status: status, headers: [], bytes: Array(value.text.utf8))
  }

  init(_ failure: InspectorFailure) {
    var headers = failure.headers
    if failure.status == 503 { headers.append(("Retry-After", "1")) }
    self = .document(
      status: failure.status, headers: headers,
      bytes: Array(JSONValue.object(["error": failure.document]).text.utf8))
  }

  /// The response with the end of its connection.
  var closingConnection: InspectorReply {
    guard case .document(let status, let headers, let bytes) = self else { return self }
    return .document(status: status, headers: headers + [("Connection", "close")], bytes: bytes)
  }
}

/// The query of an address.
struct Parameters: Sendable {
  private let pairs: [(name: String, value: String)]

  init(_ query: Substring) { pairs = PercentEncoding.pairs(ofForm: query) }

  /// The value; nil if there is none, or an empty one.
  subscript(name: String) -> String? {
    pairs.first { $0.name == name && !$0.value.isEmpty }?.value
  }

  /// Refuses unknown query parameters.
  func check(_ known: String...) throws(InspectorFailure) {
    for (name, _) in pairs where !known.contains(name) {
      throw InspectorFailure("invalidRequest", "Unknown parameter '\(name)'. Remove it.")
    }
  }

  /// A number in digits.
  func number(
    _ name: String, in range: ClosedRange<Int>, default usual: Int
  ) throws(InspectorFailure) -> Int {
    guard let text = self[name] else { return usual }
    guard let number = Int(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      range.contains(number)
    else {
      throw InspectorFailure(
        "invalidRequest",
        "The parameter '\(name)' is a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// One of a list of words; nil if it is not given.
  func word(_ name: String, of words: [String]) throws(InspectorFailure) -> String? {
    guard let word = self[name] else { return nil }
    guard words.contains(word) else {
      throw InspectorFailure(
        "invalidRequest", "The parameter '\(name)' is one of \(words.joined(separator: ", ")).")
    }
    return word
  }
}
