import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforcePush

/// Encrypted notifications that OpenSSL made, with the key pair for which it made them.
struct PushVectors {
  struct Vector: Sendable, CustomTestStringConvertible {
    let padding: String
    let secret: String
    let content: String
    let plaintext: String

    var testDescription: String { "\(padding), \(plaintext.utf8.count) bytes" }

    /// The payload in Apple's form.
    var payload: JSONObject {
      [
        "encrypted": true, "secret": .string(secret), "content": .string(content),
        "aps": ["alert": ["title": "t", "body": "b"], "badge": 3], "other": 1,
      ]
    }
  }

  let vectors: [Vector]
  let secrets = InMemorySecretStore()
  let publicKey: String

  init() throws {
    let url = try #require(
      Bundle.module.url(
        forResource: "push-vectors", withExtension: "json", subdirectory: "Resources"))
    let json = try JSONSlice(parsing: Array(try Data(contentsOf: url)))
    func text(_ json: JSONSlice, _ key: String) throws -> String { try #require(json[key]?.string) }
    vectors = try (json["vectors"].map { Array($0.elements) } ?? []).map {
      Vector(
        padding: try text($0, "padding"), secret: try text($0, "secret"),
        content: try text($0, "content"), plaintext: try text($0, "plaintext"))
    }
    publicKey = try text(json, "publicKey")
    let key = try #require(Data(base64Encoded: try text(json, "privateKey")))
    try secrets.write(Array(key), for: PushKey.secretName)
  }

  var decoder: PushDecoder { PushDecoder(key: PushKey(in: secrets)) }
}
