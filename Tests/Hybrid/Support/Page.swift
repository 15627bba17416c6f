import SalesforceHybridSDK
import SalesforceSDKCommon
import Synchronization

/// A page on a bridge, without a browser: it sends calls and keeps every frame that it receives.
final class Page: Sendable {
  let session: HybridSession
  private let inbox: Inbox
  private let lastId = Mutex(0)

  init(_ bridge: HybridBridge) throws {
    let inbox = Inbox()
    self.inbox = inbox
    session = try bridge.connect { inbox.add($0) }
  }

  /// All frames so far.
  var frames: [JSONValue] { inbox.frames }

  /// The texts of all frames so far.
  var texts: [String] { inbox.texts }

  /// Sends a frame as it is.
  func send(_ text: String) async throws { try await session.receive(Array(text.utf8)) }

  /// Sends a call without waiting for its response.
  func post(_ service: String, _ action: String, _ args: JSONValue...) async throws -> Int {
    let id = lastId.withLock { id in
      id += 1
      return id
    }
    let frame: JSONValue = [
      "id": .integer(Int64(id)), "service": .string(service), "action": .string(action),
      "args": .array(args),
    ]
    try await send(frame.text)
    return id
  }

  /// The response to a call.
  func response(_ id: Int) async -> JSONValue {
    await inbox.first {
      $0["id"] == .integer(Int64(id)) && $0["status"]?.string != "pending"
    }
  }

  /// The first frame that fulfils a condition, waiting for it.
  func frame(where isWanted: @escaping @Sendable (JSONValue) -> Bool) async -> JSONValue {
    await inbox.first(where: isWanted)
  }

  /// Carries out a call of a service with one object.
  func call(_ service: String, _ action: String, _ message: JSONValue = [:]) async throws
    -> JSONValue
  {
    await response(try await post(service, action, message))
  }

  /// The value of a call that succeeds; nil if it has none.
  func value(_ service: String, _ action: String, _ message: JSONValue = [:]) async throws
    -> JSONValue?
  {
    let response = try await call(service, action, message)
    guard response["status"] == "ok" else { throw Refused(value: response["value"] ?? .null) }
    return response["value"]
  }

  /// The value of a call that fails, as a text.
  func failure(_ service: String, _ action: String, _ message: JSONValue = [:]) async throws
    -> String
  {
    let response = try await call(service, action, message)
    guard response["status"] == "error" else { return "no error: \(response)" }
    return response["value"]?.string ?? response["value"]?.text ?? "no value"
  }

  struct Refused: Error { let value: JSONValue }
}

/// The frames that a page received, and those who wait for one.
private final class Inbox: Sendable {
  private struct Waiting {
    let isWanted: @Sendable (JSONValue) -> Bool
    let continuation: CheckedContinuation<JSONValue, Never>
  }
  private struct State {
    var texts: [String] = []
    var frames: [JSONValue] = []
    var waiting: [Waiting] = []
  }
  private let state = Mutex(State())

  var frames: [JSONValue] { state.withLock { $0.frames } }
  var texts: [String] { state.withLock { $0.texts } }

  func add(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let frame = (try? JSONValue(parsing: text)) ?? .null
    let woken = state.withLock { state in
      state.texts.append(text)
      state.frames.append(frame)
      let woken = state.waiting.filter { $0.isWanted(frame) }
      state.waiting.removeAll { $0.isWanted(frame) }
      return woken
    }
    for one in woken { one.continuation.resume(returning: frame) }
  }

  func first(where isWanted: @escaping @Sendable (JSONValue) -> Bool) async -> JSONValue {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> JSONValue? in
        if let known = state.frames.first(where: isWanted) { return known }
        state.waiting.append(Waiting(isWanted: isWanted, continuation: continuation))
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
