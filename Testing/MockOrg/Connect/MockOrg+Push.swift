import Crypto
import CryptoExtras
import Foundation
public import SalesforceSDKCommon

/// What a push service would deliver to one registered device.
public struct MockOrgPush: Sendable, Equatable {
  /// The id of the device's record.
  public let deviceId: String
  /// The device token.
  public let connectionToken: String
  /// `Apple` or `androidGcm`.
  public let serviceType: String
  /// What the device gets; encrypted if it has registered a key.
  public let payload: JSONObject
}

extension MockOrg {
  /// What the push services would deliver for a notification to the devices of a user, one for each token.
  ///
  /// - Parameter userID: The org's own user if nil.
  /// - Throws: ``MockOrgError`` `refused` if a device has registered what is no public key.
  public func pushes(
    of notification: MockOrgNotification, userID: String? = nil
  ) async throws(MockOrgError) -> [MockOrgPush] {
    let devices = try await query(
      "SELECT Id, ConnectionToken, ServiceType, RsaPublicKey, CipherName FROM MobilePushServiceDevice "
        + "WHERE OwnerId = '\(userID ?? self.userID)' ORDER BY CreatedDate DESC, Id DESC")
    var tokens: Set<String> = []
    var pushes: [MockOrgPush] = []
    for device in devices {
      guard let id = device["Id"]?.string, let token = device["ConnectionToken"]?.string,
        let service = device["ServiceType"]?.string, tokens.insert(token).inserted
      else { continue }
      pushes.append(
        MockOrgPush(
          deviceId: id, connectionToken: token, serviceType: service,
          payload: try payload(
            of: notification, isApple: service == "Apple", key: device["RsaPublicKey"]?.string,
            cipher: device["CipherName"]?.string)))
    }
    return pushes
  }

  private func payload(
    of notification: MockOrgNotification, isApple: Bool, key: String?, cipher: String?
  ) throws(MockOrgError) -> JSONObject {
    let content: JSONObject = [
      "alertTitle": .string(notification.title), "alertBody": .string(notification.body),
      "notifType": .string(notification.type), "nid": .string(notification.id),
      "sid": .string(notification.target), "oid": .string(organizationID),
    ]
    guard let key, !key.isEmpty else {
      var payload = content
      if isApple { payload["aps"] = Self.alert(notification.title, notification.body) }
      return payload
    }
    do {
      guard let der = Data(base64Encoded: key) else { throw CocoaError(.coderInvalidValue) }
      let keys = RandomBytes.make(32)
      let secret = try _RSA.Encryption.PublicKey(derRepresentation: der).encrypt(
        keys,
        padding: cipher == "RSA_OAEP_SHA256" ? .PKCS1_OAEP_SHA256 : ._WEAK_AND_INSECURE_PKCS_V1_5)
      let text = try AES._CBC.encrypt(
        Array(JSONValue.object(content).text.utf8), using: SymmetricKey(data: keys.prefix(16)),
        iv: AES._CBC.IV(ivBytes: keys.dropFirst(16)))
      var payload: JSONObject = [
        "encrypted": isApple ? true : "true", "secret": .string(secret.base64EncodedString()),
        "content": .string(text.base64EncodedString()),
      ]
      // What is shown if the app does not decrypt it.
      if isApple { payload["aps"] = Self.alert("New notification", "Open the app to read it.") }
      return payload
    } catch {
      throw MockOrgError(.refused, "INVALID_FIELD: RsaPublicKey is no public key.", cause: error)
    }
  }

  private static func alert(_ title: String, _ body: String) -> JSONValue {
    ["alert": ["title": .string(title), "body": .string(body)], "mutable-content": 1]
  }
}
