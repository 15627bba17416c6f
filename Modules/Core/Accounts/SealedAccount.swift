import Crypto
import Foundation
import SalesforceSDKCommon

/// An account with its tokens in one encrypted text, for a storage outside of this device.
///
/// It has the format of an account file (CO-94), with a member `tokens` besides. One text holds the whole session, so
/// that a storage replaces it in one step.
package enum SealedAccount {
  /// Returns the encrypted form of `account`.
  ///
  /// - Parameter place: The location in the storage. The form can be opened only with the same one.
  /// - Throws: ``AccountError`` `writeFailed`.
  package static func seal(
    _ account: UserAccount, at place: String, with key: EncryptionKey
  ) throws(AccountError) -> [UInt8] {
    var tokens = JSONObject()
    for name in AccountSecrets.names {
      if let value = account.credentials[secret: name] { tokens[name] = .string(value) }
    }
    return try AccountFile.seal(
      account, secrets: [], tokens: tokens, at: place, with: key.key)
  }

  /// Returns the account in `bytes`, with its tokens.
  ///
  /// - Throws: ``AccountError`` `wrongKey`, `damagedFile`, or `readFailed` for a newer format.
  package static func open(
    _ bytes: [UInt8], at place: String, with key: EncryptionKey
  ) throws(AccountError) -> UserAccount {
    var (account, _, tokens) = try AccountFile.open(bytes, at: place, with: key.key)
    for name in AccountSecrets.names { account.credentials[secret: name] = tokens[name]?.string }
    return account
  }
}
