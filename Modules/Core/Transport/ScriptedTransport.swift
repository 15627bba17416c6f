import Synchronization

/// A transport without a network, for tests: it responds by a script and records the requests.
///
/// ```swift
/// let transport = ScriptedTransport { request in
///   request.url.path() == "/services/data/" ? .init(json: "[]") : .init(status: 404)
/// }
/// ```
public final class ScriptedTransport: HTTPTransport {
  /// Returns the response to one request; it may throw ``TransportError``, or suspend to simulate a
  /// slow server.
  public typealias Script = @Sendable (TransportRequest) async throws -> RestResponse

  private let script: Script
  private let received = Mutex<[TransportRequest]>([])

  /// Creates a transport that calls `script` for each response, and retains it.
  public init(_ script: @escaping Script) {
    self.script = script
  }

  /// Creates a transport that returns these responses in order, one per request, and throws
  /// ``TransportError`` `unreachable` after the last.
  public convenience init(_ responses: [RestResponse]) {
    let rest = Remaining(responses)
    self.init { request in
      guard let response = rest.next() else {
        throw TransportError(.unreachable, "The script has no response left for \(request).")
      }
      return response
    }
  }

  /// The requests received so far, in order of arrival.
  public var requests: [TransportRequest] { received.withLock { $0 } }

  public func send(_ request: TransportRequest) async throws -> RestResponse {
    try Task.checkCancellation()
    received.withLock { $0.append(request) }
    return try await script(request)
  }
}

/// The responses not yet returned.
private final class Remaining: Sendable {
  private let responses: Mutex<ArraySlice<RestResponse>>

  init(_ responses: [RestResponse]) {
    self.responses = Mutex(responses[...])
  }

  func next() -> RestResponse? { responses.withLock { $0.popFirst() } }
}
