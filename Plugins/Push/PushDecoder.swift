import Crypto
import CryptoExtras
import Foundation
public import SalesforceSDKCommon

/// The form of push notifications: that of Apple's service or of Android's.
public struct PushService: Sendable, Hashable, CustomStringConvertible {
  /// The platform's name of it, such as `androidGcm`.
  public let rawValue: String

  /// Apple's.
  public static let apple = PushService(rawValue: "Apple")
  /// Android's.
  public static let android = PushService(rawValue: "androidGcm")

  /// The service with the platform's name; nil for another name.
  public init?(_ word: String) {
    guard let service = [Self.apple, .android].first(where: { $0.rawValue == word }) else {
      return nil
    }
    self = service
  }

  private init(rawValue: String) { self.rawValue = rawValue }

  /// The platform's name.
  public var description: String { rawValue }
}

/// A decoder of encrypted push notifications (CO-142).
///
/// Never reveal the errors to the sender; ``PushReceiver`` does not. Because the older padding is
/// accepted, a sender that can submit payloads and sees the error of each could recover the secret
/// of a recorded payload.
public struct PushDecoder: Sendable {
  private let key: PushKey

  /// Creates a decoder with the key pair of the installation.
  public init(key: PushKey) { self.key = key }

  /// Returns the payload with its content decrypted; a plaintext payload is returned unchanged.
  ///
  /// In Apple's form, the members of the content replace `content` in the payload, and `alertTitle`
  /// and `alertBody` are in `aps.alert`, too. In Android's form, `content` is the decrypted text,
  /// and `secret` is removed.
  ///
  /// - Throws: ``PushError`` with a number of -1001...-1012; `keyUnavailable`.
  public func decode(
    _ payload: JSONObject, from service: PushService = .apple
  ) throws(PushError) -> JSONObject {
    guard Self.isEncrypted(payload) else { return payload }
    guard let secret = payload["secret"]?.string else {
      throw PushError(.noSecret, "The encrypted notification has no secret.")
    }
    guard let content = payload["content"]?.string else {
      throw PushError(.noContent, "The encrypted notification has no content.")
    }
    if service == .apple { try Self.checkAlert(payload) }
    let text = try decrypt(content: content, secret: secret)
    guard let json = try? JSONSlice(parsing: text), let members = json.value.object else {
      throw PushError(.contentNotObject, "The decrypted notification is not a JSON object.")
    }
    var decoded = payload
    guard service == .apple else {
      decoded["secret"] = nil
      decoded["content"] = .string(String(decoding: text, as: UTF8.self))
      return decoded
    }
    decoded["content"] = nil
    for (name, value) in members { decoded[name] = value }
    if var aps = decoded["aps"]?.object, var alert = aps["alert"]?.object {
      if let title = members["alertTitle"]?.string { alert["title"] = .string(title) }
      if let body = members["alertBody"]?.string { alert["body"] = .string(body) }
      aps["alert"] = .object(alert)
      decoded["aps"] = .object(aps)
    }
    return decoded
  }

  private static func isEncrypted(_ payload: JSONObject) -> Bool {
    let value = payload["encrypted"]
    return value?.bool ?? (value?.string?.lowercased() == "true")
  }

  private static func checkAlert(_ payload: JSONObject) throws(PushError) {
    guard let aps = payload["aps"]?.object else {
      throw PushError(.noAPS, "The encrypted notification has no aps.")
    }
    guard let alert = aps["alert"]?.object else {
      throw PushError(.noAlert, "The encrypted notification has no alert.")
    }
    guard alert["title"]?.string != nil else {
      throw PushError(.noAlertTitle, "The alert of the encrypted notification has no title.")
    }
    guard alert["body"]?.string != nil else {
      throw PushError(.noAlertBody, "The alert of the encrypted notification has no body.")
    }
  }

  private func decrypt(content: String, secret: String) throws(PushError) -> [UInt8] {
    guard let secret = Data(base64Encoded: secret) else {
      throw PushError(.malformedSecret, "The secret of the notification is not base64.")
    }
    guard let key = try key.privateKey() else {
      throw PushError(
        .noPrivateKey,
        "This installation has no key pair for notifications. Register the device first.")
    }
    guard let keys = Self.keys(secret, key) else {
      throw PushError(
        .undecryptableSecret,
        "The secret of the notification was not encrypted for this installation. Register the device again."
      )
    }
    guard let content = Data(base64Encoded: content) else {
      throw PushError(.malformedContent, "The content of the notification is not base64.")
    }
    guard let start = try? AES._CBC.IV(ivBytes: keys.dropFirst(16)),
      let text = try? AES._CBC.decrypt(
        content, using: SymmetricKey(data: keys.prefix(16)), iv: start)
    else {
      throw PushError(.undecryptableContent, "The content of the notification cannot be decrypted.")
    }
    return Array(text)
  }

  /// The 32 bytes of a secret: by OAEP with SHA-256, else by the older padding.
  private static func keys(_ secret: Data, _ key: _RSA.Encryption.PrivateKey) -> [UInt8]? {
    for padding in [
      _RSA.Encryption.Padding.PKCS1_OAEP_SHA256, ._WEAK_AND_INSECURE_PKCS_V1_5,
    ] {
      if let keys = try? key.decrypt(secret, padding: padding), keys.count == 32 {
        return Array(keys)
      }
    }
    return nil
  }
}
