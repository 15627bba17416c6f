import ArgumentParser
import SalesforceSDKCommon

/// Field values of a command line, each written `FIELD=VALUE`.
struct FieldValues {
  let object: JSONObject

  /// Reads the values: JSON, or else text.
  ///
  /// - Throws: `ValidationError` for a text without a name and `=`.
  init(_ texts: [String]) throws {
    object = JSONObject(
      try texts.map { text in
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
          throw ValidationError("'\(text)' is not a field value. Write FIELD=VALUE.")
        }
        let value = String(text[text.index(after: equals)...])
        return (
          key: String(text[..<equals]), value: (try? JSONValue(parsing: value)) ?? .string(value)
        )
      })
  }
}
