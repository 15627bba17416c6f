import SalesforceSDKCommon

/// A call as a page sends it: `{"id", "service", "action", "args": [...]}` (HT-5).
struct HybridFrame {
  /// The id as the page wrote it.
  let id: [UInt8]
  let service: String
  let action: String
  /// The arguments without the version prefix.
  let arguments: [JSONSlice]
  /// The text behind `pluginSDKVersion:`, if the page sent it.
  let version: String?

  /// The parsed form of a frame from a page.
  enum Parsed {
    case call(HybridFrame)
    /// A frame with an id that is not a call: it gets a response, and the connection stays open.
    case refused(id: [UInt8], HybridError)
  }

  static let versionPrefix = "pluginSDKVersion"

  /// Reads a frame.
  ///
  /// - Throws: ``HybridError`` `invalidFrame`, `tooLarge` if there is no id to respond to.
  static func parse(_ text: [UInt8], limits: HybridLimits) throws(HybridError) -> Parsed {
    guard text.count <= limits.maxFrameBytes else {
      throw HybridError(
        .tooLarge,
        "A frame of \(text.count) bytes is longer than the limit of \(limits.maxFrameBytes). Send less at once."
      )
    }
    let json: JSONSlice
    do throws(JSONError) {
      json = try JSONSlice(parsing: text, limits: JSONLimits(maxDepth: limits.maxDepth))
    } catch {
      let failure = HybridError(
        .invalidFrame, "The frame cannot be read: \(error.description)", cause: error)
      if error.code == .tooDeep, let id = leadingId(of: text) { return .refused(id: id, failure) }
      throw failure
    }
    guard let id = json["id"], id.kind == .string || id.kind == .number else {
      throw HybridError(.invalidFrame, "The frame is no call: it needs an id, a text or a number.")
    }
    let idText = Array(id.utf8)
    guard let service = json["service"]?.string, let action = json["action"]?.string,
      let args = json["args"], args.kind == .array
    else {
      return .refused(
        id: idText,
        HybridError(
          .invalidAction,
          "invalid action: a call needs a service and an action, both texts, and args, an array."))
    }
    var arguments = Array(args.elements)
    var version: String?
    if let first = arguments.first?.string, first.hasPrefix(versionPrefix) {
      version = String(first.dropFirst(versionPrefix.count + 1))
      arguments.removeFirst()
    }
    return .call(
      HybridFrame(
        id: idText, service: service, action: action, arguments: arguments, version: version))
  }

  /// The id of a frame that cannot be read as a whole, if it is the frame's first member.
  private static func leadingId(of text: [UInt8]) -> [UInt8]? {
    let start = Array(#"{"id":"#.utf8)
    guard text.starts(with: start) else { return nil }
    guard let end = text.prefix(256).firstIndex(of: UInt8(ascii: ",")) else { return nil }
    let id = Array(text[start.count..<end])
    guard let value = try? JSONSlice(parsing: id), value.kind == .string || value.kind == .number
    else { return nil }
    return Array(value.utf8)
  }
}

/// The frames that go to a page.
enum HybridResponse {
  enum Status: String { case ok, error, pending }

  /// `{"id", "status", "value"?}`.
  static func text(id: [UInt8], _ status: Status, _ value: HybridValue) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(id.count + 32 + (value.json?.count ?? 0))
    bytes.append(contentsOf: #"{"id":"#.utf8)
    bytes.append(contentsOf: id)
    bytes.append(contentsOf: #","status":""#.utf8)
    bytes.append(contentsOf: status.rawValue.utf8)
    bytes.append(UInt8(ascii: "\""))
    if let json = value.json {
      bytes.append(contentsOf: #","value":"#.utf8)
      bytes.append(contentsOf: json)
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  /// `{"event", "detail"}`.
  static func event(_ name: String, _ detail: JSONValue) -> [UInt8] {
    Array(JSONValue.object(["event": .string(name), "detail": detail]).text.utf8)
  }
}
