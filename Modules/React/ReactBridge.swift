public import SalesforceHybridSDK
public import SalesforceSDKCommon
import Synchronization

/// A caller of the modules of ``ReactModules`` in React Native's calling conventions: with one
/// callback on iOS, and with two callbacks for texts on Android.
///
/// Each call results in exactly one call of one callback, even if the module or method does not
/// exist or the bridge is closed first. Callbacks run in the order in which responses arrive; they
/// must not block.
///
/// ```swift
/// let react = try ReactBridge(bridge)
/// react.call("SFSmartStoreReactBridge", "soupExists", ["soupName": "notes"]) { error, exists in }
/// ```
public final class ReactBridge: Sendable {
  private let calls = PendingCalls()
  private let session: HybridSession
  private let frames: AsyncStream<(id: Int64, frame: [UInt8])>.Continuation

  /// Connects to a bridge that has the modules.
  ///
  /// - Throws: `HybridError` `closed`.
  public init(_ bridge: HybridBridge) throws(HybridError) {
    session = try bridge.connect { [calls] in calls.receive($0) }
    let (stream, frames) = AsyncStream.makeStream(of: (id: Int64, frame: [UInt8]).self)
    self.frames = frames
    // Ends with the stream, which `close` finishes.
    Task { [session, calls] in
      for await (id, frame) in stream {
        do throws(HybridError) {
          try await session.receive(frame)
        } catch {
          calls.finish(id, .failure(ReactCallFailure(value: error.value)))
        }
      }
    }
  }

  deinit { close() }

  /// Calls a method in the form of iOS.
  ///
  /// - Parameter callback: Called once: with an error and nil, or with nil and the result, which is null for
  ///   a method without one.
  public func call(
    _ module: String, _ method: String, _ arguments: JSONObject,
    callback: @escaping @Sendable (_ error: JSONValue?, _ result: JSONValue?) -> Void
  ) {
    send(module, method, arguments) { response in
      switch response {
      case .success(let value): callback(nil, value)
      case .failure(let failure): callback(failure.value, nil)
      }
    }
  }

  /// Calls a method in the form of Android.
  ///
  /// - Parameters:
  ///   - success: Called once with the result as JSON text, `null` for a method without one; or
  ///   - failure: called once with the error: a text, or an object as JSON text.
  public func call(
    _ module: String, _ method: String, _ arguments: JSONObject,
    success: @escaping @Sendable (String) -> Void,
    failure: @escaping @Sendable (String) -> Void
  ) {
    send(module, method, arguments) { response in
      switch response {
      case .success(let value): success(value.text)
      case .failure(let error): failure(error.value.string ?? error.value.text)
      }
    }
  }

  /// Ends the connection. Pending calls get an error; accepted calls are still executed.
  public func close() {
    frames.finish()
    session.end()
    calls.close()
  }

  private func send(
    _ module: String, _ method: String, _ arguments: JSONObject,
    _ response: @escaping PendingCalls.Response
  ) {
    guard let id = calls.add(response) else { return response(.failure(.closed)) }
    let frame: JSONValue = [
      "id": .integer(id), "service": .string(module), "action": .string(method),
      "args": [.object(arguments)],
    ]
    frames.yield((id, Array(frame.text.utf8)))
  }
}

/// The value that an error callback receives.
private struct ReactCallFailure: Error {
  let value: JSONValue

  static let closed = ReactCallFailure(
    value: "The bridge was closed before the call had its response. Connect again.")
}

/// The calls without a response, by their ids.
private final class PendingCalls: Sendable {
  typealias Response = @Sendable (Result<JSONValue, ReactCallFailure>) -> Void

  private struct State {
    var lastId: Int64 = 0
    var isClosed = false
    var responses: [Int64: Response] = [:]
  }

  private let state = Mutex(State())

  /// The id of a new call; nil after the end.
  func add(_ response: @escaping Response) -> Int64? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.lastId += 1
      state.responses[state.lastId] = response
      return state.lastId
    }
  }

  /// Receives a frame of the bridge. Events and parts of results have no callback here.
  func receive(_ frame: [UInt8]) {
    guard let json = try? JSONSlice(parsing: frame), let id = json["id"]?.int64,
      let status = json["status"]?.string, status != "pending"
    else { return }
    let value = json["value"]?.value ?? .null
    finish(id, status == "ok" ? .success(value) : .failure(ReactCallFailure(value: value)))
  }

  func finish(_ id: Int64, _ result: Result<JSONValue, ReactCallFailure>) {
    state.withLock { $0.responses.removeValue(forKey: id) }?(result)
  }

  func close() {
    let pending = state.withLock { state in
      defer { state.responses = [:] }
      state.isClosed = true
      return Array(state.responses.values)
    }
    for response in pending { response(.failure(.closed)) }
  }
}
