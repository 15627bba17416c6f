import Crypto
import Foundation
import SalesforceSDKCommon

/// The format of an account file: a short header, then the account's JSON text encrypted with
/// AES-256-GCM (CO-94).
///
/// The header contains the format and an id of the key, so that a wrong key can be distinguished
/// from a damaged file. Header and identity are authenticated: a file that replaces another user's
/// is refused. Tokens are not in the file; the secret store has them.
/// Tokens are not part of it; the secret store keeps those.
enum AccountFile {
  private static let magic = Array("FFAC".utf8)
  private static let version: UInt8 = 1
  private static let keyIdLength = 8
  private static let headerLength = magic.count + 1 + keyIdLength

  /// Returns the encrypted form of `account`, which includes the names of its secrets.
  ///
  /// - Parameter tokens: The tokens, for a storage that has no secret store. Default: none.
  static func seal(
    _ account: UserAccount, secrets: Set<String>, tokens: JSONObject = [:], at place: String,
    with key: SymmetricKey
  ) throws(AccountError) -> [UInt8] {
    let header = magic + [version] + keyId(of: key)
    do {
      let text = try AccountDocument.text(of: account, secrets: secrets, tokens: tokens)
      let box = try AES.GCM.seal(
        Data(text), using: key, authenticating: Data(header) + Data(place.utf8))
      guard let combined = box.combined else {
        throw AccountError(.writeFailed, "\(account) cannot be sealed.")
      }
      return header + Array(combined)
    } catch {
      throw AccountError(.writeFailed, "\(account) cannot be sealed.", cause: error)
    }
  }

  /// Returns the account in `bytes` without its secrets, their names, and the tokens in the text; no names if they
  /// were not recorded.
  ///
  /// - Throws: ``AccountError`` `wrongKey`, `damagedFile`, or `readFailed` for a newer format.
  static func open(
    _ bytes: [UInt8], at place: String, with key: SymmetricKey
  ) throws(AccountError) -> (account: UserAccount, secrets: Set<String>?, tokens: JSONObject) {
    guard bytes.count > headerLength, bytes.starts(with: magic) else {
      throw AccountError(.damagedFile, "The file of account \(place) is not an account file.")
    }
    guard bytes[magic.count] == version else {
      throw AccountError(
        .readFailed,
        "The file of account \(place) has format \(bytes[magic.count]), which is newer than this "
          + "program. Update the program.")
    }
    let header = bytes[..<headerLength]
    guard header.suffix(keyIdLength) == keyId(of: key)[...] else {
      throw AccountError(
        .wrongKey,
        "The file of account \(place) was written with another key. Restore the key or log in again."
      )
    }
    do {
      let box = try AES.GCM.SealedBox(combined: Data(bytes[headerLength...]))
      let text = try AES.GCM.open(
        box, using: key, authenticating: Data(header) + Data(place.utf8))
      return try AccountDocument.account(in: Array(text))
    } catch {
      throw AccountError(
        .damagedFile, "The file of account \(place) is damaged. Log in again.", cause: error)
    }
  }

  /// Returns an id that distinguishes keys and reveals nothing of the key.
  private static func keyId(of key: SymmetricKey) -> [UInt8] {
    let code = HMAC<SHA256>.authenticationCode(for: Data("account file key".utf8), using: key)
    return Array(code.prefix(keyIdLength))
  }
}

/// The JSON text of an account file. The file's header contains its version.
enum AccountDocument {
  /// Returns the text of `account`, without its secrets but with their names, and with `tokens`.
  static func text(
    of account: UserAccount, secrets: Set<String>, tokens: JSONObject = [:]
  ) throws(JSONError) -> [UInt8] {
    let credentials = account.credentials
    var object: JSONObject = [
      "userId": .string(account.userId),
      "organizationId": .string(account.organizationId),
      "loginState": .string(account.loginState.rawValue),
      "identifier": .string(credentials.identifier),
      "clientId": .string(credentials.clientId),
      "redirectURI": .string(credentials.redirectURI),
      "loginServer": .string(credentials.loginServer.url.absoluteString),
      "usesHybridGrants": .bool(credentials.usesHybridGrants),
      "scopes": .array(credentials.scopes.map { .string($0) }),
      "secrets": .array(secrets.sorted().map { .string($0) }),
      "username": .string(account.profile.username),
      "profile": .object(account.profile.raw),
    ]
    let optional: [(String, String?)] = [
      ("instanceURL", credentials.instanceURL?.absoluteString),
      ("apiInstanceURL", credentials.apiInstanceURL?.absoluteString),
      ("communityId", credentials.communityId),
      ("communityURL", credentials.communityURL?.absoluteString),
      ("identityURL", credentials.identityURL?.absoluteString),
      ("tokenFormat", credentials.tokenFormat),
      ("displayName", account.profile.displayName),
      ("email", account.profile.email),
    ]
    for (key, value) in optional where value != nil { object[key] = value.map { .string($0) } }
    if let issuedAt = credentials.issuedAtMilliseconds { object["issuedAt"] = .integer(issuedAt) }
    var webSession = JSONObject()
    for (key, value) in credentials.webSession.sorted(by: { $0.key < $1.key })
    where OAuthKeys.webSessionServices[key] == nil {
      webSession[key] = .string(value)
    }
    object["webSession"] = .object(webSession)
    if !credentials.additionalFields.isEmpty {
      object["additionalFields"] = .object(
        JSONObject(
          credentials.additionalFields.sorted { $0.key < $1.key }
            .map { (key: $0.key, value: .string($0.value)) }))
    }
    if !tokens.isEmpty { object["tokens"] = .object(tokens) }
    if !account.customData.isEmpty { object["customData"] = .object(account.customData) }
    if let policy = account.lockPolicy { object["lockPolicy"] = .object(policy.json) }
    if !account.dataKeepers.isEmpty {
      object["dataKeepers"] = .array(account.dataKeepers.sorted().map { .string($0) })
    }
    return try JSONValue.object(object).serialized()
  }

  /// Returns the account in `text` without its secrets, their names, and the tokens in it; no names if they were not
  /// recorded.
  static func account(
    in text: [UInt8]
  ) throws -> (account: UserAccount, secrets: Set<String>?, tokens: JSONObject) {
    let json = try JSONSlice(parsing: text)
    func string(_ key: String) throws(AccountError) -> String {
      guard let value = json[key]?.string else {
        throw AccountError(.damagedFile, "The account file lacks \(key).")
      }
      return value
    }
    func url(_ key: String) -> URL? { json[key]?.string.flatMap { URL(string: $0) } }
    var credentials = OAuthCredentials(
      identifier: try string("identifier"), clientId: try string("clientId"),
      redirectURI: try string("redirectURI"), loginServer: try LoginServer(string("loginServer")),
      usesHybridGrants: json["usesHybridGrants"]?.bool ?? true)
    credentials.instanceURL = url("instanceURL")
    credentials.apiInstanceURL = url("apiInstanceURL")
    credentials.communityId = json["communityId"]?.string
    credentials.communityURL = url("communityURL")
    credentials.identityURL = url("identityURL")
    credentials.issuedAtMilliseconds = json["issuedAt"]?.int64
    credentials.tokenFormat = json["tokenFormat"]?.string
    credentials.scopes = json["scopes"]?.elements.compactMap(\.string) ?? []
    for (key, value) in json["webSession"]?.members.map({ ($0.key, $0.value.string) }) ?? [] {
      credentials.webSession[key] = value
    }
    for (key, value) in json["additionalFields"]?.members.map({ ($0.key, $0.value.string) }) ?? [] {
      credentials.additionalFields[key] = value
    }
    var account = UserAccount(
      identity: UserAccountIdentity(
        userId: try string("userId"), organizationId: try string("organizationId")),
      credentials: credentials,
      profile: UserProfile(
        username: try string("username"), displayName: json["displayName"]?.string,
        email: json["email"]?.string, raw: json["profile"]?.value.object ?? [:]))
    account.customData = json["customData"]?.value.object ?? [:]
    account.lockPolicy = json["lockPolicy"].flatMap { LockPolicy($0) }
    account.dataKeepers = Set(json["dataKeepers"]?.elements.compactMap(\.string) ?? [])
    account.loginState = UserAccount.LoginState(rawValue: try string("loginState")) ?? .notLoggedIn
    return (
      account, (json["secrets"]?.elements.compactMap(\.string)).map { Set($0) },
      json["tokens"]?.value.object ?? [:]
    )
  }
}
