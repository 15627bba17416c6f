import SalesforceSDKCommon

/// A request as the org's resources see it, whether it came over HTTP or inside a composite one.
struct OrgRequest: Sendable {
  var method: String
  /// The path's segments, percent-decoded.
  var path: [String]
  var query: [(name: String, value: String)]
  /// Header values by lower-case name.
  var headers: [String: String]
  var body: [UInt8]

  init(
    method: String, target: String, headers: [String: String] = [:], body: [UInt8] = []
  ) {
    self.method = method.uppercased()
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0].split(separator: "/").map { FormText.decoded($0, plusIsBlank: false) }
    query = parts.count > 1 ? FormText.pairs(parts[1]) : []
    self.headers = headers
    self.body = body
    // Clients whose transport knows no PATCH tunnel it through POST.
    if self.method == "POST", let tunnelled = self[query: "_HttpMethod"] {
      self.method = tunnelled.uppercased()
    }
  }

  /// The value of a query parameter.
  subscript(query name: String) -> String? { query.first { $0.name == name }?.value }

  /// The body as JSON.
  ///
  /// - Throws: ``ServerError`` `JSON_PARSER_ERROR` or, for a body of another type,
  ///   `UNSUPPORTED_MEDIA_TYPE`.
  func json() throws(ServerError) -> JSONSlice {
    if let type = headers["content-type"]?.lowercased(), !body.isEmpty,
      !type.contains("json"), !type.hasPrefix("text/plain")
    {
      throw ServerError(
        status: 415, "UNSUPPORTED_MEDIA_TYPE",
        "Content-Type header specified in HTTP request is not supported: \(type)")
    }
    if body.isEmpty {
      throw .jsonParser("The HTTP entity body is required, but this request has no entity body.")
    }
    do {
      return try JSONSlice(parsing: body)
    } catch {
      let (line, column) = TextPosition.of(offset: error.byteOffset ?? 0, in: body)
      throw .jsonParser("\(error.message) at [line:\(line), column:\(column)]")
    }
  }

  /// The body as a JSON object.
  func object() throws(ServerError) -> JSONSlice {
    let json = try json()
    guard json.kind == .object else {
      throw .jsonParser("The entity body has to be a JSON object at [line:1, column:1]")
    }
    return json
  }
}

/// An answer of the org.
struct OrgAnswer: Sendable {
  var status: Int
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []
  var contentType = "application/json;charset=UTF-8"

  /// An answer without a body.
  static func empty(_ status: Int = 204) -> OrgAnswer { OrgAnswer(status: status) }

  /// An answer whose body `write` makes.
  static func json(
    _ status: Int = 200, _ write: (inout JSONWriter) throws -> Void
  ) rethrows -> OrgAnswer {
    var writer = JSONWriter()
    try write(&writer)
    return OrgAnswer(status: status, body: writer.bytes)
  }

  /// The answer to a request that fails with `error`.
  init(_ error: ServerError) {
    var writer = JSONWriter()
    writer.beginArray()
    writer.beginObject()
    writer.key("message")
    writer.string(error.message)
    writer.key("errorCode")
    writer.string(error.code)
    if let fields = error.fields {
      writer.key("fields")
      writer.strings(fields)
    }
    writer.endObject()
    writer.endArray()
    self.init(status: error.status, body: writer.bytes)
  }

  init(
    status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    contentType: String = "application/json;charset=UTF-8"
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.contentType = contentType
  }
}

extension JSONWriter {
  /// Writes an array of strings.
  mutating func strings(_ values: [String]) {
    beginArray()
    for value in values { string(value) }
    endArray()
  }

  /// Writes a string or null.
  mutating func string(orNull value: String?) {
    if let value { string(value) } else { null() }
  }
}

/// The text of URL queries and form bodies.
enum FormText {
  /// Name and value of each pair of `a=1&b=2`.
  static func pairs(_ text: some StringProtocol) -> [(name: String, value: String)] {
    text.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        decoded(parts[0], plusIsBlank: true),
        parts.count > 1 ? decoded(parts[1], plusIsBlank: true) : ""
      )
    }
  }

  /// A text with its percent escapes resolved; an escape that is none stays as it is.
  static func decoded(_ text: some StringProtocol, plusIsBlank: Bool) -> String {
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count)
    var index = 0
    while index < source.count {
      let byte = source[index]
      if byte == UInt8(ascii: "%"), index + 2 < source.count,
        let high = hexDigit(source[index + 1]), let low = hexDigit(source[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
        continue
      }
      bytes.append(byte == UInt8(ascii: "+") && plusIsBlank ? UInt8(ascii: " ") : byte)
      index += 1
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A text as a value in a URL's query.
  static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += byte < 16 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
