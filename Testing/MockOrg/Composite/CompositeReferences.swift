import SalesforceSDKCommon

/// The responses that later sub-requests of a composite request refer to: `@{NewAccount.id}`.
struct CompositeReferences {
  private var bodies: [String: JSONSlice] = [:]

  /// Keeps the body of a sub-request's response.
  mutating func record(_ body: [UInt8], as name: String) {
    bodies[name] = try? JSONSlice(parsing: body)
  }

  /// `text` with every reference replaced by what it names.
  ///
  /// - Parameter escaping: The text is JSON, and references stand inside its strings.
  /// - Throws: ``ServerError`` `PROCESSING_HALTED` if a reference names nothing.
  func resolve(_ text: String, escaping: Bool) throws(ServerError) -> String {
    var result = ""
    var rest = text[...]
    while let start = Self.firstReference(in: rest) {
      guard let end = rest[start...].firstIndex(of: "}") else { break }
      result += rest[..<start]
      let path = String(rest[start..<end].dropFirst(2))
      guard let value = value(at: path) else {
        let name = path.prefix { $0 != "." && $0 != "[" }
        throw ServerError(
          "PROCESSING_HALTED",
          "Invalid reference specified. No value for \(path) found in \(name). Reference expression: "
            + "@{\(path)}")
      }
      result += escaping ? String(JSONValue.string(value).text.dropFirst().dropLast()) : value
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func firstReference(in text: Substring) -> Substring.Index? {
    var from = text.startIndex
    while let at = text[from...].firstIndex(of: "@") {
      let next = text.index(after: at)
      if next < text.endIndex, text[next] == "{" { return at }
      from = next
    }
    return nil
  }

  /// The text of what `NewAccount.id` or `Found.records[0].Id` names; nil if it names nothing, null or
  /// a container.
  private func value(at path: String) -> String? {
    let steps = path.split(whereSeparator: { $0 == "." || $0 == "[" })
    guard let name = steps.first, var value = bodies[String(name)] else { return nil }
    for step in steps.dropFirst() {
      let inner =
        step.hasSuffix("]")
        ? Int(step.dropLast()).flatMap { value[$0] } : value[String(step)]
      guard let inner else { return nil }
      value = inner
    }
    switch value.kind {
    case .string: return value.string
    case .number, .bool: return value.description
    case .null, .object, .array: return nil
    }
  }
}
