import SalesforceSDKCommon

/// A URL between an identity provider's app and the apps that log in through it: `SCHEME://oauth2/v1.0/COMMAND?PARAMETERS`
/// (CO-161, CO-169). It needs no other part of the SDK.
///
/// ```swift
/// let request = IdentityURL(scheme: "acmeidp", command: .authRequest(…))
/// open(request.text)
/// switch try IdentityURL(parsing: text)?.command { … }
/// ```
///
/// Reading says that a URL has the form, and nothing about its sender: compare the state, and check whom a redirect URI belongs to.
public struct IdentityURL: Sendable, Equatable {
  /// The scheme of the app that is to receive it.
  public let scheme: String
  /// What it says.
  public let command: IdentityCommand

  /// The longest URL, in bytes.
  public static let maxLength = 65_536

  /// Makes a URL.
  ///
  /// - Precondition: The scheme has the form of one: a letter, then letters, digits, `+`, `-` and `.`.
  public init(scheme: String, command: IdentityCommand) {
    precondition(Self.isScheme(scheme), "\(scheme) is no scheme of URLs")
    self.scheme = scheme
    self.command = command
  }

  /// Reads a URL; nil for one of another grammar, which another handler may know.
  ///
  /// Commands count in either case, parameters that are not known are ignored, and the names of both platforms are read.
  ///
  /// - Throws: ``IdentityURLError`` if it has the grammar and cannot be used.
  public init?(parsing text: String) throws(IdentityURLError) {
    guard let mark = text.firstRange(of: "://") else { return nil }
    let scheme = String(text[..<mark.lowerBound])
    var rest = text[mark.upperBound...]
    if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
    let path = rest.prefix { $0 != "?" }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard Self.isScheme(scheme), parts.count == 3, parts[0].lowercased() == "oauth2",
      parts[1].lowercased() == "v1.0",
      let name = Name(rawValue: parts[2].lowercased())
    else { return nil }
    guard text.utf8.count <= Self.maxLength else {
      throw IdentityURLError(.tooLong, "The URL has more than \(Self.maxLength) bytes. Send less.")
    }
    let parameters = try Parameters(rest.dropFirst(path.count + 1))
    self.scheme = scheme
    command = try Self.command(name, parameters)
  }

  /// The URL in the guide's form.
  public var text: String {
    let (name, items) = contents
    let query = items.compactMap { key, value in
      value.map { "\(key)=\(PercentEncoding.encode($0))" }
    }
    let path = "\(scheme)://oauth2/v1.0/\(name.rawValue)"
    return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
  }

  private static func isScheme(_ text: String) -> Bool {
    guard let first = text.utf8.first, (65...90).contains(first) || (97...122).contains(first)
    else {
      return false
    }
    return text.utf8.allSatisfy { byte in
      (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte)
        || "+-.".utf8.contains(byte)
    }
  }

  /// The words of the grammar.
  private enum Name: String {
    case authrequest, authresponse, error, idpinit, idpauthcodeinit
  }

  private static func command(
    _ name: Name, _ parameters: Parameters
  ) throws(IdentityURLError) -> IdentityCommand {
    switch name {
    case .authrequest:
      let scopes = parameters["scopes"]?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
      return .authRequest(
        .init(
          clientId: try parameters.required("oauth_client_id"),
          redirectURI: try parameters.required("oauth_redirect_uri"),
          codeChallenge: try parameters.required("code_challenge"),
          scopes: Set(scopes.filter { !$0.isEmpty }), user: try parameters.user(),
          loginHost: parameters["login_host"], state: parameters["state"],
          appName: parameters["app_name"]))
    case .authresponse:
      return .authResponse(
        .init(
          code: try parameters.required("code"), loginHost: try parameters.required("login_host"),
          state: parameters["state"]))
    case .error:
      guard let code = parameters["error_code"] ?? parameters["errorCode"] else {
        throw parameters.missing("error_code")
      }
      return .failure(
        .init(
          code: code,
          description: parameters["error_desc"] ?? parameters["errorDescription"] ?? "",
          reason: parameters["error_reason"] ?? parameters["errorReason"] ?? "",
          state: parameters["state"]))
    case .idpinit:
      return .login(
        .init(
          user: try parameters.user(), loginHost: parameters["login_host"],
          startURL: parameters["start_url"]))
    case .idpauthcodeinit:
      guard let user = try parameters.user() else { throw parameters.missing("user_hint") }
      return .loginWithCode(
        .init(
          user: user, code: try parameters.required("code"),
          keychainReference: try parameters.required("keychain_reference"),
          keychainGroup: try parameters.required("keychain_group")))
    }
  }

  private var contents: (Name, [(String, String?)]) {
    switch command {
    case .authRequest(let request):
      (
        .authrequest,
        [
          ("oauth_client_id", request.clientId), ("oauth_redirect_uri", request.redirectURI),
          ("code_challenge", request.codeChallenge),
          ("scopes", request.scopes.union(["refresh_token"]).sorted().joined(separator: ",")),
          ("user_hint", request.user?.description), ("login_host", request.loginHost),
          ("state", request.state), ("app_name", request.appName),
        ]
      )
    case .authResponse(let response):
      (
        .authresponse,
        [("code", response.code), ("state", response.state), ("login_host", response.loginHost)]
      )
    case .failure(let failure):
      (
        .error,
        [
          ("error_code", failure.code), ("error_desc", failure.description),
          ("error_reason", failure.reason), ("state", failure.state), ("errorCode", failure.code),
          ("errorDescription", failure.description), ("errorReason", failure.reason),
        ]
      )
    case .login(let login):
      (
        .idpinit,
        [
          ("user_hint", login.user?.description), ("login_host", login.loginHost),
          ("start_url", login.startURL),
        ]
      )
    case .loginWithCode(let login):
      (
        .idpauthcodeinit,
        [
          ("user_hint", login.user.description), ("code", login.code),
          ("keychain_reference", login.keychainReference), ("keychain_group", login.keychainGroup),
        ]
      )
    }
  }
}

/// The parameters of a URL, each of which occurs once.
private struct Parameters {
  private var values: [String: String] = [:]

  init(_ query: Substring) throws(IdentityURLError) {
    for item in query.split(separator: "&") {
      let key = item.prefix { $0 != "=" }
      guard let name = Self.decoded(key), let value = Self.decoded(item.dropFirst(key.count + 1))
      else {
        throw IdentityURLError(
          .malformed, "A parameter is not percent-encoded UTF-8, or holds control characters.")
      }
      // Of two values, one reader takes the first and another the last: so neither counts.
      guard values.updateValue(value, forKey: name) == nil else {
        throw IdentityURLError(
          .malformed, "A parameter occurs twice. Send it once.", parameter: name)
      }
    }
  }

  /// The value of a parameter; nil if it is missing or empty.
  subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

  func required(_ name: String) throws(IdentityURLError) -> String {
    guard let value = self[name] else { throw missing(name) }
    return value
  }

  func user() throws(IdentityURLError) -> IdentityUser? {
    guard let hint = self["user_hint"] else { return nil }
    guard let user = IdentityUser(hint: hint) else {
      throw IdentityURLError(
        .malformed, "The hint names no org and user. Send their ids with a colon between them.",
        parameter: "user_hint")
    }
    return user
  }

  func missing(_ name: String) -> IdentityURLError {
    IdentityURLError(.missing, "The parameter \(name) is missing. Send it.", parameter: name)
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
        continue
      }
      guard rest.count >= 2, let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))
      else {
        return nil
      }
      bytes += value
      rest = rest.dropFirst(2)
    }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
