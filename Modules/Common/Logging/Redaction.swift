/// The removal of secrets from text before it is logged (CA-20), or becomes part of an error.
public enum Redaction: Sendable {
  /// Members whose string value is masked.
  private static let members: Set<String> = [
    "access_token", "refresh_token", "id_token", "csrf_token", "sid", "lightning_sid",
    "visualforce_sid", "content_sid", "parent_sid", "cookie-sid_client", "cookie-clientsrc",
    "beacon_child_consumer_secret", "code_verifier", "assertion", "accesstoken", "refreshtoken",
  ]
  /// Parameters of URLs and forms whose value is masked.
  private static let parameters: Set<String> = [
    "access_token", "sid", "token", "refresh_token", "code", "assertion", "code_verifier",
    "id_token",
  ]
  /// Members and parameters of which nothing is shown: people choose or type them, so they are short, and
  /// four characters say much.
  private static let typed: Set<String> = [
    "password", "newpassword", "client_secret", "otp", "recaptcha",
  ]

  /// Returns the text with all but the last four characters masked (all of them if there are no
  /// more) in: string values of JSON members that hold tokens, parameters of URLs and forms that
  /// do, and values of `Authorization:` headers. Passwords and one-time codes are removed
  /// completely. The case of names does not matter. Secrets that this process has sent to a server are
  /// masked wherever they stand.
  public static func redact(_ text: String) -> String {
    String(decoding: redact(Array(text.utf8)), as: UTF8.self)
  }

  /// As ``redact(_:)``, for the body of a response.
  package static func redact(_ bytes: [UInt8]) -> [UInt8] {
    SecretsInUse.masking(redactNamed(bytes))
  }

  /// Whether a member or parameter of this name holds a secret.
  package static func isSecret(_ name: String) -> Bool {
    let name = name.lowercased()
    return members.contains(name) || parameters.contains(name) || typed.contains(name)
  }

  private static func redactNamed(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var at = 0
    while at < bytes.count {
      guard isName(bytes[at]) else {
        result.append(bytes[at])
        at += 1
        continue
      }
      var end = at
      while end < bytes.count, isName(bytes[end]) { end += 1 }
      let name = String(decoding: bytes[at..<end], as: UTF8.self).lowercased()
      result += bytes[at..<end]
      if let value = secret(after: end, named: name, in: bytes) {
        result += bytes[end..<value.lowerBound]
        result += masked(bytes[value], showing: typed.contains(name) ? 0 : 4)
        end = value.upperBound
      }
      at = end
    }
    return result
  }

  /// Returns a URL with `[redacted]` in place of the values of the parameters in `names`, whatever
  /// their case; all else stays as it is.
  public static func url(_ url: String, hiding names: [String]) -> String {
    guard !names.isEmpty, let mark = url.firstIndex(of: "?") else { return url }
    let hidden = Set(names.map { $0.lowercased() })
    let start = url.index(after: mark)
    let end = url[start...].firstIndex(of: "#") ?? url.endIndex
    let parts = url[start..<end].split(separator: "&", omittingEmptySubsequences: false)
    let query = parts.map { part -> String in
      guard let equals = part.firstIndex(of: "="),
        hidden.contains(part[..<equals].lowercased())
      else { return String(part) }
      return "\(part[..<equals])=[redacted]"
    }
    return url[..<start] + query.joined(separator: "&") + url[end...]
  }

  /// Returns a person's name as it may be logged: itself in debug builds, `*****` in release
  /// builds.
  ///
  /// The modules of this package never log names of persons; use this in the log messages of your
  /// program.
  public static func personName(_ name: String) -> String {
    #if DEBUG
      personName(name, isRelease: false)
    #else
      personName(name, isRelease: true)
    #endif
  }

  static func personName(_ name: String, isRelease: Bool) -> String { isRelease ? "*****" : name }

  /// The text with line breaks escaped, so that one record is one line.
  static func singleLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x0a || $0 == 0x0d }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The range of the value of `name`, if that is a secret's name and a value follows.
  private static func secret(after start: Int, named name: String, in bytes: [UInt8]) -> Range<Int>?
  {
    if name == "authorization" { return header(after: start, in: bytes) }
    if start < bytes.count, bytes[start] == 0x3d {
      guard parameters.contains(name) || typed.contains(name) else { return nil }
      return run(from: start + 1, in: bytes) { $0 > 0x20 && !"&\"'#;,<>()".utf8.contains($0) }
    }
    guard members.contains(name) || typed.contains(name) else { return nil }
    return member(after: start, in: bytes)
  }

  /// The string after a quoted name and a colon. In JSON inside a JSON string every quote has
  /// backslashes before it; the value ends at the next quote that has as many.
  private static func member(after start: Int, in bytes: [UInt8]) -> Range<Int>? {
    var at = skip(from: start, in: bytes) { $0 == 0x5c }
    let slashes = at - start
    guard at < bytes.count, bytes[at] == 0x22 else { return nil }
    at = skip(from: at + 1, in: bytes) { $0 <= 0x20 }
    guard at < bytes.count, bytes[at] == 0x3a else { return nil }
    at = skip(from: at + 1, in: bytes) { $0 <= 0x20 || $0 == 0x5c }
    guard at < bytes.count, bytes[at] == 0x22 else { return nil }
    let value = at + 1
    at = value
    var before = 0
    while at < bytes.count {
      if bytes[at] == 0x22, before <= slashes { break }
      before = bytes[at] == 0x5c ? before + 1 : 0
      at += 1
    }
    return value..<max(value, at < bytes.count ? at - before : at)
  }

  /// The value of a header: up to the line's or string's end, without the scheme before it.
  private static func header(after start: Int, in bytes: [UInt8]) -> Range<Int>? {
    var at = skip(from: start, in: bytes) { $0 == 0x22 || $0 == 0x27 }
    guard at < bytes.count, bytes[at] == 0x3a else { return nil }
    at = skip(from: at + 1, in: bytes) { $0 == 0x20 || $0 == 0x22 || $0 == 0x27 }
    guard let value = run(from: at, in: bytes, while: { $0 >= 0x20 && $0 != 0x22 && $0 != 0x27 })
    else { return nil }
    if let space = bytes[value].firstIndex(of: 0x20) {
      let rest = skip(from: space, in: bytes) { $0 == 0x20 }
      if rest < value.upperBound { return rest..<value.upperBound }
    }
    return value
  }

  private static func skip(
    from start: Int, in bytes: [UInt8], _ isSkipped: (UInt8) -> Bool
  ) -> Int {
    var at = start
    while at < bytes.count, isSkipped(bytes[at]) { at += 1 }
    return at
  }

  private static func run(
    from start: Int, in bytes: [UInt8], while isPart: (UInt8) -> Bool
  ) -> Range<Int>? {
    let end = skip(from: start, in: bytes, isPart)
    return end > start ? start..<end : nil
  }

  private static func masked(_ value: ArraySlice<UInt8>, showing count: Int) -> [UInt8] {
    let text = String(decoding: value, as: UTF8.self)
    let shown = text.count > count ? text.suffix(count) : ""
    return Array((String(repeating: "*", count: text.count - shown.count) + shown).utf8)
  }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: true
    default: false
    }
  }
}

extension JSONValue {
  /// The value without the secrets in its texts, see ``Redaction/redact(_:)``.
  package var redacted: JSONValue {
    let text = text
    let redacted = Redaction.redact(text)
    if redacted == text { return self }
    return (try? JSONValue(parsing: redacted)) ?? .string(redacted)
  }
}
