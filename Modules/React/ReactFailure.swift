import SalesforceHybridSDK
import SalesforceSDKCommon

/// The errors of modules whose error callbacks receive an object with `message`.
enum ReactFailure {
  /// Runs `body` and gives its error that form: members that the error brings as JSON text stay.
  static func asObject(
    of call: HybridCall, _ body: () async throws -> HybridValue
  ) async throws -> HybridValue {
    do {
      return try await body()
    } catch {
      let failure = HybridError(error)
      var members = JSONObject()
      if let object = failure.value.object {
        members = object
      } else if let text = failure.value.string, let json = try? JSONValue(parsing: text) {
        members = json.object ?? [:]
      }
      if members["message"] == nil {
        members["message"] = .string("\(call.action) failed: \(failure.message)")
      }
      throw HybridError(
        failure.code, failure.message, value: .object(members), cause: failure.cause)
    }
  }
}

extension HybridCall {
  /// The largest whole number that a double holds exactly: React Native sends every number as a double.
  private static let greatestInteger: Int64 = 1 << 53

  /// Refuses ids that a double cannot hold exactly: they would mean another entry, cursor or sync.
  ///
  /// - Throws: ``HybridError`` `invalidArguments`.
  func checkNumbers(_ keys: String...) throws(HybridError) {
    let message = message
    for key in keys {
      guard let value = message[key] else { continue }
      for number in value.kind == .array ? Array(value.elements) : [value] {
        guard number.kind == .number else { continue }
        guard let integer = number.int64, abs(integer) <= Self.greatestInteger else {
          throw message.invalid(key, "made of whole numbers up to 2^53")
        }
      }
    }
  }
}
