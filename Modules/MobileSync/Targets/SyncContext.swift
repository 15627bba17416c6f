import HTTPTypes
public import SalesforceSDKCommon
public import SalesforceSDKCore
public import SmartStore
import Synchronization

/// A sender of the requests of syncs, such as a `RestClient`.
///
/// `RestClient` conforms to it; a test can pass a sender that follows a script.
public protocol SyncRequestSender: Sendable {
  /// Sends a request and returns the response, whatever its status.
  ///
  /// - Throws: An error of the sender's choice if there is no complete response;
  ///   `CancellationError` unchanged.
  func response(to request: RestRequest) async throws -> RestResponse

  /// The API version that `/{v}` at the start of a path stands for. Default:
  /// `RestRequest.defaultAPIVersion`.
  ///
  /// Requests that contain other requests, such as composite ones, need it.
  var apiVersion: String { get }

  /// The time of any response that the sender has received from the server. Default: nil.
  ///
  /// The engine searches for unacknowledged creates by the server's time. If a manager has no
  /// response before its first create, the engine uses this time; if it is nil, the engine sends a
  /// small request.
  var serverTime: SalesforceDate? { get }
}

extension SyncRequestSender {
  /// `RestRequest.defaultAPIVersion`.
  public var apiVersion: String { RestRequest.defaultAPIVersion }
  /// nil.
  public var serverTime: SalesforceDate? { nil }
}

extension RestClient: SyncRequestSender {}

/// A count of requests, shared by the copies of a context.
final class RequestCount: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add() { count.add(1, ordering: .relaxed) }
}

/// The environment of a target during one run. Each call receives it; do not store it.
public struct SyncContext: Sendable {
  /// The store.
  public let store: SmartStore
  /// The soup of the sync.
  public internal(set) var soupName: String
  /// The sync.
  public let syncId: Int64
  /// The user that sends the requests; nil if the manager was created without one, and then the
  /// creators of records are unknown.
  public let userId: String?
  /// The handling of records that were changed on both sides, from the sync's options. The engine
  /// applies it. A target may add a check by the server, such as a condition on the modification
  /// date.
  public let mergeMode: SyncMergeMode

  /// The state that the target stored for its next run, see ``SyncPage/targetState``; nil if there
  /// is none.
  public internal(set) var targetState: JSONObject?

  /// The ``SyncPage/checkpoint`` of the last saved page of any run; nil if there is none.
  ///
  /// It is also nil in a run that has to download records again that an earlier run skipped because
  /// of unsynced edits; a target that reads changes from a checkpoint then starts over.
  public internal(set) var checkpoint: JSONObject?

  let sender: any SyncRequestSender
  let signal: StopSignal
  /// The server's time according to its responses.
  let serverClock: ServerClock
  /// The number of requests that the server may have worked on.
  var processed = RequestCount()
  /// The soups that were searched for records with several entries.
  var doubles = DoubleSearch()
  /// Waits, as the manager's environment says.
  var wait: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// The maximum time in which the server may complete a create after this device stopped waiting for the response.
  var lateArrival = Duration.seconds(60)
  /// Whether a stop waits until the current batch is complete.
  var completesBatch = false

  /// The API version that `/{v}` stands for, for requests that contain other requests.
  public var apiVersion: String { sender.apiVersion }

  /// Ends the run here if the manager is stopping. Call it between several requests of one call.
  ///
  /// - Throws: An error that the target must rethrow.
  public func checkStop() throws {
    try Task.checkCancellation()
    if let interruption = signal.current, !completesBatch || interruption == .closed {
      throw interruption
    }
  }

  /// Waits, unless the manager is stopping. A stop is noticed after 200 ms at the latest.
  ///
  /// - Throws: As ``checkStop()``.
  func pause(for time: Duration) async throws {
    var rest = time
    while rest > .zero {
      try checkStop()
      let slice = min(rest, .milliseconds(200))
      try await wait(slice)
      rest -= slice
    }
    try checkStop()
  }

  /// Sends a request, with sync's qualifier in the user agent, and returns the response.
  ///
  /// - Returns: The response, also one with a status outside of 200 to 299.
  /// - Throws: ``SyncError`` `transport` without a response; `invalidRequest` if nothing was sent;
  ///   `unexpectedResponse` if the response is invalid or too long; `server` for statuses that
  ///   affect the whole run: 401 if the session could not be renewed, 429 and 503.
  public func response(to request: RestRequest) async throws -> RestResponse {
    try checkStop()
    var request = request
    request.userAgentQualifier = "MobileSync"
    let response: RestResponse
    do {
      response = try await sender.response(to: request)
    } catch let error as CancellationError {
      throw error
    } catch let error as StopSignal.Interruption {
      throw error
    } catch {
      let failure = Self.sendingError(error, request)
      if RequestEnd(failure, after: .zero) != .notProcessed { processed.add() }
      throw failure
    }
    if response.isSuccess, let date = response.headers[.date].flatMap(SalesforceDate.parseHTTP) {
      serverClock.note(date)
    }
    switch response.status {
    case 401, 429, 503:
      let failure = Self.serverError(response, request)
      if RequestEnd(failure, after: .zero) != .notProcessed { processed.add() }
      throw failure
    default:
      processed.add()
      return response
    }
  }

  /// Returns the server's current time, in milliseconds since 1970: the time of its last response
  /// plus the time since then. If there was no response yet, a small request fetches one.
  ///
  /// - Returns: nil if the server's responses have no dates.
  /// - Throws: As ``response(to:)``.
  public func serverTime() async throws -> Int64? {
    try await learnServerTime()
    return serverClock.estimate
  }

  /// Fetches the server's time if it is unknown, so that nothing depends on the clock of this
  /// machine.
  ///
  /// - Throws: As ``response(to:)``.
  func learnServerTime() async throws {
    if serverClock.now != nil { return }
    if let time = sender.serverTime { return serverClock.note(time) }
    _ = try await response(to: .resources())
  }

  /// Sends a request and returns the JSON of the response.
  ///
  /// Runs apart from the caller, since reading a page takes time.
  ///
  /// - Throws: As ``response(to:)``; ``SyncError`` `server` for every status outside of 200 to 299,
  ///   `unexpectedResponse` if the response is not JSON.
  @concurrent public func json(for request: RestRequest) async throws -> JSONSlice {
    try await datedJSON(for: request).json
  }

  /// Sends a request and returns the JSON of the response with a time before the server began to work on it.
  ///
  /// - Returns: `startedAfter` is by the server's clock, in milliseconds since 1970: the date of the response
  ///   less the time that it took and 5 seconds, by which clocks of the server may differ. nil if the response
  ///   has no date.
  /// - Throws: As ``json(for:)``.
  @concurrent public func datedJSON(
    for request: RestRequest
  ) async throws -> (json: JSONSlice, startedAfter: Int64?) {
    let start = serverClock.instant()
    let response = try await response(to: request)
    let allowance = serverClock.instant() - start + .seconds(5)
    let date = response.headers[.date].flatMap(SalesforceDate.parseHTTP)?.milliseconds
    return (
      try Self.json(of: response, to: request),
      date.map { $0 - Int64((allowance / .milliseconds(1)).rounded(.up)) }
    )
  }

  private static func json(
    of response: RestResponse, to request: RestRequest
  ) throws -> JSONSlice {
    guard (200..<300).contains(response.status) else {
      throw serverError(response, request)
    }
    do {
      return try JSONSlice(parsing: response.body)
    } catch {
      throw SyncError(
        .unexpectedResponse,
        "The response to \(request) is not JSON. Check for a proxy or a captive portal.",
        status: response.status, body: beginning(of: response.body), cause: error)
    }
  }

  /// Returns the error for a response that is JSON but not of the form that the request returns.
  public static func unexpectedForm(
    _ json: JSONSlice, of request: RestRequest, expected: String
  ) -> SyncError {
    SyncError(
      .unexpectedResponse, "The response to \(request) is not \(expected).",
      body: beginning(of: json.utf8))
  }

  /// Reads the ids of records, to find ghosts.
  ///
  /// An unreadable id is an error, because its record would otherwise count as gone.
  ///
  /// - Parameter request: The request that returned them.
  /// - Throws: ``SyncError`` `unexpectedResponse` if a record has no text in the field.
  public static func ids(
    of records: some Sequence<JSONSlice>, in field: String, from request: RestRequest
  ) throws(SyncError) -> Set<String> {
    var ids: Set<String> = []
    for record in records {
      guard let id = record[field]?.string, !id.isEmpty else {
        throw unexpectedForm(
          record, of: request, expected: "a list of records with the field '\(field)'")
      }
      ids.insert(id)
    }
    return ids
  }

  /// Returns the error for a response of any status that the server cannot have sent.
  public static func unexpectedResponse(
    _ response: RestResponse, to request: RestRequest, expected: String
  ) -> SyncError {
    SyncError(
      .unexpectedResponse,
      "The response to \(request) is not \(expected). Look at what stands between this program and the "
        + "server.", status: response.status, body: beginning(of: response.body))
  }

  /// Returns the error for a response whose status is not a success.
  public static func serverError(_ response: RestResponse, _ request: RestRequest) -> SyncError {
    SyncError(
      .server, sentence(RestError(response: response, to: request)), status: response.status,
      body: beginning(of: response.body))
  }

  private static func sendingError(_ error: any Error, _ request: RestRequest) -> SyncError {
    if let error = error as? SyncError { return error }
    if let error = error as? RestError {
      if let status = error.status {
        return SyncError(
          .server, sentence(error), status: status, body: beginning(of: error.body), cause: error)
      }
      if error.code == .notAuthenticated {
        return SyncError(
          .noRestClient, "Cannot send \(request): no authenticated user. Log in first.",
          cause: error)
      }
    }
    if let error = error as? OAuthError,
      error.code == .malformedResponse || error.isUnexpectedResponse
    {
      return SyncError(
        .unexpectedResponse,
        "The session could not be renewed for \(request): what responded is not the login server. Check for a proxy "
          + "or a captive portal, and try again.", cause: error)
    }
    if let error = error as? OAuthError, !error.isRetryable {
      return SyncError(
        .server, "The session could not be renewed for \(request). Log in again.", status: 401,
        cause: error)
    }
    if let error = error as? AccountError {
      return SyncError(
        .noRestClient,
        "The account's tokens cannot be used for \(request): \(error.message) Correct that first.",
        cause: error)
    }
    // Errors of our own modules hold no record data; what others say may.
    let reason =
      (error as? RestError)?.description ?? (error as? TransportError)?.description
      ?? (error as? OAuthError)?.description ?? "\(type(of: error))"
    switch Failure(error) {
    case .nothingSent:
      return SyncError(
        .invalidRequest,
        "\(request) cannot be sent (\(reason)). Correct the target or the account's server.",
        cause: error)
    case .unusableResponse:
      return SyncError(
        .unexpectedResponse,
        "The response to \(request) cannot be used (\(reason)). Look at what stands between this "
          + "program and the server, or let the target ask for less.", cause: error)
    case .noResponse:
      return SyncError(
        .transport,
        "The server did not respond to \(request) (\(reason)). Try again when it can be reached.",
        cause: error)
    }
  }

  /// The consequence of a failed exchange for the requested work.
  private enum Failure {
    /// The request was not sent.
    case nothingSent
    /// The server may have executed it; the response is unusable.
    case unusableResponse
    /// The server may have executed it; a retry may help.
    case noResponse

    init(_ error: any Error) {
      switch error {
      case let error as RestError: self.init(error.code)
      case let error as TransportError: self.init(RestError(error).code)
      default: self = .noResponse
      }
    }

    private init(_ code: RestError.Code) {
      switch code {
      case .invalidRequest, .insecureURL, .tooManyRecords: self = .nothingSent
      case .tooLarge, .malformedResponse, .emptyResponse: self = .unusableResponse
      default: self = .noResponse
      }
    }
  }

  /// The message of a refused request, with the server's codes and the remedy.
  private static func sentence(_ error: RestError) -> String {
    error.message
  }

  /// As much of a body as an error keeps.
  private static func beginning(of body: some Collection<UInt8>) -> String {
    // A secret at the end must not lose the part by which it is known.
    String(decoding: Redaction.redact(Array(body.prefix(32_768))).prefix(4_096), as: UTF8.self)
  }
}

extension SyncContext {
  /// Creates a context for tests that call a target directly; in a run, the engine creates it.
  ///
  /// - Parameters:
  ///   - store: The store that the target may read.
  ///   - sender: Sends its requests.
  public init(
    store: SmartStore, soupName: String, syncId: Int64 = 1, userId: String? = nil,
    mergeMode: SyncMergeMode, sender: any SyncRequestSender
  ) {
    self.init(
      store: store, soupName: soupName, syncId: syncId, userId: userId, mergeMode: mergeMode,
      sender: sender, signal: StopSignal(), serverClock: ServerClock())
  }
}
