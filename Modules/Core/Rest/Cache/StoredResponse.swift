import HTTPTypes
import SalesforceSDKCommon

/// A response as the cache keeps it, with what decides whether it may be used again.
///
/// Its bytes are a line of JSON, a line feed, and the body.
struct StoredResponse: Equatable {
  /// The address of the request, which the name of the value does not tell.
  let url: String
  var status: Int
  var headers: HTTPFields
  let body: [UInt8]
  /// The values of the request's fields that `Vary` names, by lower-case name.
  let varying: [String: String]
  /// The time of receipt or of the last revalidation, in milliseconds since 1970.
  var receivedTime: Int64

  init(
    _ response: RestResponse, url: String, request: HTTPFields, receivedTime: Int64
  ) {
    self.url = url
    status = response.status
    headers = response.headers
    body = response.body
    self.receivedTime = receivedTime
    let names = Self.varyingNames(of: response.headers)
    varying = Dictionary(
      names.map { ($0, Self.value(of: $0, in: request)) }, uniquingKeysWith: { first, _ in first })
  }

  /// Reads the bytes; nil if they are not those of a response.
  init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
      let json = try? JSONSlice(parsing: Array(bytes[..<end])), let url = json["url"]?.string,
      let status = json["status"]?.int64, let time = json["time"]?.int64
    else { return nil }
    self.url = url
    self.status = Int(clamping: status)
    receivedTime = time
    headers = HTTPFields()
    for field in json["headers"].map({ Array($0.elements) }) ?? [] {
      guard let text = field[0]?.string, let name = HTTPField.Name(text) else { return nil }
      headers.append(HTTPField(name: name, value: field[1]?.string ?? ""))
    }
    varying = (json["vary"]?.value.object ?? [:]).reduce(into: [:]) {
      $0[$1.key] = $1.value.string ?? ""
    }
    body = Array(bytes[bytes.index(after: end)...])
  }

  var bytes: [UInt8] {
    var varied = JSONObject()
    for (name, value) in varying { varied[name] = .string(value) }
    let json: JSONObject = [
      "url": .string(url), "status": .integer(Int64(status)), "time": .integer(receivedTime),
      "headers": .array(headers.map { [.string($0.name.rawName), .string($0.value)] }),
      "vary": .object(varied),
    ]
    return Array(JSONValue.object(json).text.utf8) + [UInt8(ascii: "\n")] + body
  }

  var response: RestResponse { RestResponse(status: status, headers: headers, body: body) }

  /// Whether the response belongs to a request with these fields.
  func fits(_ request: HTTPFields) -> Bool {
    varying.allSatisfy { Self.value(of: $0.key, in: request) == $0.value }
  }

  /// Whether the response may be used without a request. A clock that was set back makes it stale.
  func isFresh(at time: Int64) -> Bool {
    let age = time - receivedTime
    return age >= 0 && age < CacheControl.freshness(of: headers) * 1_000
  }

  /// Takes the fields of a 304, which replace those of the same name.
  mutating func revalidate(with fields: HTTPFields, at time: Int64) {
    for field in fields where !Self.isAboutBody(field.name) {
      headers[values: field.name] = fields[values: field.name]
    }
    receivedTime = time
  }

  private static func isAboutBody(_ name: HTTPField.Name) -> Bool {
    [.contentLength, .contentEncoding, .contentType, .transferEncoding].contains(name)
  }

  private static func varyingNames(of headers: HTTPFields) -> [String] {
    headers[values: .vary].flatMap { $0.split(separator: ",") }
      .map { String($0).trimmed.lowercased() }
      // The token changes with each refresh, and the cache belongs to one user anyway.
      .filter { !$0.isEmpty && $0 != "authorization" }
  }

  private static func value(of name: String, in headers: HTTPFields) -> String {
    HTTPField.Name(name).map { headers[values: $0].joined(separator: ", ") } ?? ""
  }
}
