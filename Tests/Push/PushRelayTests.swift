import Foundation
import LocalServer
import SalesforcePush
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import PushRelay

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Who gets a notification into the program through the relay?
@Suite(.timeLimit(.minutes(1))) struct PushRelayTests {
  private let vectors: PushVectors

  init() throws { vectors = try PushVectors() }

  private func withRelay(
    _ body: (PushRelay, Box<[PushNotification]>, Box<[PushError.Code]>) async throws -> Void
  ) async throws {
    let arrived = Box<[PushNotification]>([])
    let failures = Box<[PushError.Code]>([])
    let receiver = PushReceiver(decoder: vectors.decoder) { notification in
      arrived.withLock { $0.append(notification) }
    }
    let relay = try await PushRelay.start(receiver, allowsRoot: true) { error in
      failures.withLock { $0.append(error.code) }
    }
    do {
      try await body(relay, arrived, failures)
    } catch {
      await relay.stop()
      throw error
    }
    await relay.stop()
  }

  private func post(
    _ url: String, _ body: [UInt8], token: String?, method: String = "POST",
    headers: [String: String] = [:]
  ) async throws -> Int {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = method
    if method == "POST" { request.httpBody = Data(body) }
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    return try await WebPage.load(request).status
  }

  /// Posts, and expects a status.
  private func post(
    _ url: String, _ body: [UInt8], token: String?, method: String = "POST",
    headers: [String: String] = [:], gives expected: Int,
    location: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    let status = try await post(url, body, token: token, method: method, headers: headers)
    #expect(status == expected, sourceLocation: location)
  }

  @Test(.covers("HT-72.2", "HT-95.5"))
  func `a payload with the token has arrived, decrypted, when the response comes`() async throws {
    try await withRelay { relay, arrived, failures in
      let payload = Array(JSONValue.object(vectors.vectors[0].payload).text.utf8)
      try await post(relay.url, payload, token: relay.token, gives: 202)
      #expect(arrived.withLock { $0.first?.payload["alertBody"]?.string } == "It is 5 o'clock")
      #expect(arrived.withLock { $0.first?.source } == .relayed)
      try await post(relay.url, Array("{}".utf8), token: relay.token, gives: 202)
      #expect(failures.withLock { $0.isEmpty })
    }
  }

  @Test(.covers("HT-95.5"))
  func `a wrong token, host, origin, path, method or size gets nothing in`() async throws {
    try await withRelay { relay, arrived, _ in
      let payload = Array("{}".utf8)
      try await post(relay.url, payload, token: nil, gives: 401)
      try await post(relay.url, payload, token: "", gives: 401)
      try await post(relay.url, payload, token: String(relay.token.dropLast()), gives: 401)
      try await post(relay.url, payload, token: relay.token + "x", gives: 401)
      try await post(relay.url + "/x", payload, token: relay.token, gives: 404)
      try await post(relay.url + "?a=b", payload, token: relay.token, gives: 404)
      try await post(relay.url, payload, token: relay.token, method: "GET", gives: 405)
      try await post(
        relay.url, payload, token: relay.token, headers: ["Origin": "https://evil.example"],
        gives: 403)
      let named = relay.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
      try await post(named, payload, token: relay.token, gives: 421)
      let large = Array(
        #"{"a":"\#(String(repeating: "x", count: PushRelay.maxPayloadBytes))"}"#.utf8)
      try await post(relay.url, large, token: relay.token, gives: 413)
      for body in ["", "[]", "7", "{"] {
        try await post(relay.url, Array(body.utf8), token: relay.token, gives: 400)
      }
      #expect(arrived.withLock { $0.isEmpty })
    }
  }

  @Test(.covers("HT-95.5")) func `the sender does not learn why a payload could not be decrypted`()
    async throws
  {
    try await withRelay { relay, arrived, failures in
      let vector = vectors.vectors[0]
      var statuses: Set<Int> = []
      for (key, value) in [
        ("secret", "AAAA"), ("secret", "!"), ("content", "AAAA"), ("content", "!"),
      ] {
        var payload = vector.payload
        payload[key] = .string(value)
        statuses.insert(
          try await post(relay.url, Array(JSONValue.object(payload).text.utf8), token: relay.token))
      }
      #expect(statuses == [202] && arrived.withLock { $0.isEmpty })
      #expect(
        failures.withLock { $0 } == [
          .undecryptableSecret, .malformedSecret, .undecryptableContent, .malformedContent,
        ])
    }
  }

  @Test(.covers("HT-95.2", "HT-95.5"))
  func `a relay of root's has to be allowed, and two relays have different tokens`() async throws {
    let receiver = PushReceiver(decoder: vectors.decoder) { _ in }
    let error = await #expect(throws: PushRelayError.self) {
      try await PushRelay.start(
        receiver, service: .apple, allowsRoot: false, user: 0, limits: ServerLimits(),
        onFailure: { _ in })
    }
    #expect(error?.code == .root)
    try await withRelay { first, _, _ in
      try await withRelay { second, _, _ in
        #expect(first.token != second.token && first.url != second.url)
        try await post(first.url, Array("{}".utf8), token: second.token, gives: 401)
      }
    }
  }
}

/// A value under a lock that closures share.
private final class Box<Value: Sendable>: Sendable {
  private let value: Mutex<Value>
  init(_ value: Value) { self.value = Mutex(value) }
  func withLock<R: Sendable>(_ body: (inout Value) -> R) -> R {
    value.withLock { value in body(&value) }
  }
}
