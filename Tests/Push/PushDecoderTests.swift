import Foundation
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

@testable import SalesforcePush

/// Are encrypted notifications decrypted as the platform does it, and does anything else give its own error?
@Suite struct PushDecoderTests {
  private let vectors: PushVectors

  init() throws { vectors = try PushVectors() }

  private func code(_ body: () throws -> Void) -> PushError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? PushError)?.code
    }
  }

  @Test(.covers("CO-142.1", "BX-92"))
  func `what OpenSSL encrypted with either padding is decrypted`() throws {
    #expect(Set(vectors.vectors.map(\.padding)) == ["oaep", "pkcs1"])
    for vector in vectors.vectors {
      guard let members = try? JSONSlice(parsing: vector.plaintext).value.object else {
        #expect(code { _ = try vectors.decoder.decode(vector.payload) } == .contentNotObject)
        #expect(
          code { _ = try vectors.decoder.decode(vector.payload, from: .android) }
            == .contentNotObject)
        continue
      }
      let decoded = try vectors.decoder.decode(vector.payload)
      for (name, value) in members { #expect(decoded[name] == value) }
      #expect(decoded["content"] == nil && decoded["other"]?.int64 == 1)
      let alert = decoded["aps"]?["alert"]
      #expect(
        alert?["title"] == members["alertTitle"] ?? "t"
          && alert?["body"] == members["alertBody"] ?? "b")
      #expect(decoded["aps"]?["badge"]?.int64 == 3)
      var android = vector.payload
      android["aps"] = nil
      android["encrypted"] = "true"
      let text = try vectors.decoder.decode(android, from: .android)
      #expect(text["content"]?.string == vector.plaintext && text["secret"] == nil)
    }
  }

  @Test(.covers("CO-142.2")) func `what is not encrypted is returned as it is`() throws {
    let plain: JSONObject = ["aps": ["alert": "x"], "secret": "s", "content": "c"]
    for flag in [nil, false, "false", "yes", 1, .null] as [JSONValue?] {
      var payload = plain
      payload["encrypted"] = flag
      #expect(try vectors.decoder.decode(payload) == payload)
    }
  }

  @Test(.covers("CO-142.3", "BX-92"))
  func `each thing that is wrong has its number, and the first counts`() throws {
    let vector = vectors.vectors[0]
    let other = vectors.vectors[2]
    func changed(_ change: (inout JSONObject) -> Void) -> Int? {
      var payload = vector.payload
      change(&payload)
      return code { _ = try vectors.decoder.decode(payload) }?.number
    }
    #expect(changed { $0["secret"] = nil } == -1001)
    #expect(changed { $0["secret"] = 7 } == -1001)
    #expect(changed { $0["content"] = nil } == -1002)
    #expect(changed { $0["aps"] = ["alert": ["body": "b"]] } == -1003)
    #expect(changed { $0["aps"] = ["alert": ["title": "t"]] } == -1004)
    #expect(changed { $0["aps"] = nil } == -1005)
    #expect(changed { $0["aps"] = ["alert": "text"] } == -1006)
    #expect(changed { $0["secret"] = "not base64!" } == -1007)
    #expect(changed { $0["secret"] = "AAAA" } == -1009)
    #expect(changed { $0["content"] = "not base64!" } == -1010)
    #expect(changed { $0["content"] = "AAAA" } == -1011)
    #expect(changed { $0["content"] = "" } == -1011)
    #expect(changed { $0["secret"] = .string(other.secret) } == -1011)
    #expect(
      changed {
        $0["content"] = nil; $0["secret"] = nil
      } == -1001)
    let none = PushDecoder(key: PushKey(in: InMemorySecretStore()))
    #expect(code { _ = try none.decode(vector.payload) }?.number == -1008)
    let secrets = InMemorySecretStore()
    _ = try PushKey(in: secrets).publicKey()
    let foreign = PushDecoder(key: PushKey(in: secrets))
    #expect(code { _ = try foreign.decode(vector.payload) }?.number == -1009)
    secrets.setLocked(true)
    #expect(code { _ = try foreign.decode(vector.payload) } == .keyUnavailable)
  }

  @Test(.covers("CO-142.3"))
  func `1,000 changed payloads give typed errors, or what was encrypted`() throws {
    var generator = SeededGenerator(seed: 20)
    let decoder = vectors.decoder
    var refused = 0
    for round in 0..<1_000 {
      let vector = vectors.vectors[round % 6]
      var text = Array(JSONValue.object(vector.payload).text.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: text.indices, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: text.remove(at: place)
        case 1: text.insert(UInt8.random(in: 32..<127, using: &generator), at: place)
        case 2: text[place] = UInt8.random(in: .min ... .max, using: &generator)
        default: text[place] = "ABCDEFabcdef0123+/=".utf8.randomElement(using: &generator) ?? 65
        }
      }
      guard let payload = try? JSONSlice(parsing: text).value.object else { continue }
      for service in [PushService.apple, .android] {
        do throws(PushError) {
          _ = try decoder.decode(payload, from: service)
        } catch {
          refused += 1
          #expect(error.code.number != nil)
        }
      }
    }
    #expect(refused > 500)
  }

  @Test(.covers("CO-141"))
  func `the key pair is made once, survives, and is one that OpenSSL reads`() async throws {
    let secrets = InMemorySecretStore()
    let first = try PushKey(in: secrets).publicKey()
    #expect(try PushKey(in: secrets).publicKey() == first)
    #expect(try PushKey(in: vectors.secrets).publicKey() == vectors.publicKey)
    let folder = try TemporaryFolder()
    try Data(base64Encoded: first)?.write(to: folder.file("key.der"))
    let ended = try await Subprocess.run(
      .name("openssl"),
      arguments: [
        "pkey", "-pubin", "-inform", "DER", "-in", folder.file("key.der").path,
        "-text", "-noout",
      ],
      output: .string(limit: 10_000), error: .discarded)
    #expect(ended.standardOutput.contains("2048 bit"))
    secrets.setLocked(true)
    #expect(code { _ = try PushKey(in: secrets).publicKey() } == .keyUnavailable)
    secrets.setLocked(false)
    try secrets.write([1, 2, 3], for: PushKey.secretName)
    #expect(code { _ = try PushKey(in: secrets).publicKey() } == .keyUnavailable)
    #expect(try secrets.read(PushKey.secretName) == [1, 2, 3])
  }

  @Test(.covers("HT-13")) func `a page gets the data with payload and foreground`() {
    let message = PushNotification(payload: ["a": 1], isForeground: false, source: .relayed)
      .hybridMessage
    #expect(message == ["a": 1, "payload": ["a": 1], "foreground": false])
  }
}
