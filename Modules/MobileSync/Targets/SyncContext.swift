import HTTPTypes
public import SalesforceSDKCommon
public import SalesforceSDKCore
public import SmartStore

/// A sender of the requests of syncs, such as a `RestClient`.
///
/// `RestClient` is one; a test gives one that plays a script.
public protocol SyncRequestSender: Sendable {
  /// Sends a request and returns the response, whatever its status.
  ///
  /// - Throws: An error of the sender's choice if there is no complete response; `CancellationError` as
  ///   it is.
  func response(to request: RestRequest) async throws -> RestResponse

  /// The API version that `/{v}` at the start of a path stands for. Default:
  /// `RestRequest.defaultAPIVersion`.
  ///
  /// Requests that carry other requests, such as a composite one, need it.
  var apiVersion: String { get }

  /// The time of a response that the sender has received from the server, whatever it was for. Default: nil.
  ///
  /// A create whose response is lost is searched for by its time on the server, so before the first create of a
  /// manager that has no response yet, the engine gets this time, and where it is nil sends a small request.
  var serverTime: SalesforceDate? { get }
}

extension SyncRequestSender {
  /// `RestRequest.defaultAPIVersion`.
  public var apiVersion: String { RestRequest.defaultAPIVersion }
  /// nil.
  public var serverTime: SalesforceDate? { nil }
}

extension RestClient: SyncRequestSender {}

/// The environment of a target during one run. Each call receives it; do not keep it.
public struct SyncContext: Sendable {
  /// The store.
  public let store: SmartStore
  /// The soup of the sync.
  public internal(set) var soupName: String
  /// The sync.
  public let syncId: Int64
  /// The user whose requests these are; nil if the manager was made without one, and then the creators of records
  /// are unknown.
  public let userId: String?
  /// What happens to records that were changed on both sides, as the sync's options say. The engine sees
  /// to it; a target that can let the server look again, as with a condition on a date, may do so.
  public let mergeMode: SyncMergeMode

  /// What the target of this sync has kept for its next run, see ``SyncPage/targetState``; nil if nothing.
  public internal(set) var targetState: JSONObject?

  /// The ``SyncPage/checkpoint`` of the last page that was saved, in whatever run that was; nil if there is none.
  ///
  /// It is nil, too, in a run that has to bring records again which an earlier one skipped because of unsynced
  /// edits: a target that reads changes from a checkpoint on starts over then.
  public internal(set) var checkpoint: JSONObject?

  let sender: any SyncRequestSender
  let signal: StopSignal
  /// What the responses say of the server's time.
  let serverClock: ServerClock
  /// Which soups were searched for records with several entries.
  var doubles = DoubleSearch()
  /// Whether a stop waits: a batch that has begun is completed.
  var completesBatch = false

  /// The API version that `/{v}` stands for, for requests that carry other requests.
  public var apiVersion: String { sender.apiVersion }

  /// Ends the run here if the manager is to stop. To be called between several requests of one
  /// call.
  ///
  /// - Throws: An error that the target passes on.
  public func checkStop() throws {
    try Task.checkCancellation()
    if let interruption = signal.current, !completesBatch || interruption == .closed {
      throw interruption
    }
  }

  /// Sends a request with sync's mark in the user agent and returns the response.
  ///
  /// - Returns: The response, also one with a status outside of 200 to 299.
  /// - Throws: ``SyncError`` `transport` without a response; `invalidRequest` if nothing was sent;
  ///   `unexpectedResponse` if what came is not a response, or too long; `server` for what concerns the
  ///   whole run and not one request: 401 after the session could not be renewed, 429 and 503.
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
      throw Self.sendingError(error, request)
    }
    if response.isSuccess, let date = response.headers[.date].flatMap(SalesforceDate.parseHTTP) {
      serverClock.note(date)
    }
    switch response.status {
    case 401, 429, 503: throw Self.serverError(response, request)
    default: return response
    }
  }

  /// The time on the server, in milliseconds since 1970, as of its last response and what has passed since then. If
  /// there was none, a small request fetches it.
  ///
  /// - Returns: nil if its responses have no dates.
  /// - Throws: As ``response(to:)``.
  public func serverTime() async throws -> Int64? {
    try await learnServerTime()
    return serverClock.estimate
  }

  /// Sees to it that the server's time is known, so that nothing depends on the clock of this machine.
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
    let start = ContinuousClock.now
    let response = try await response(to: request)
    let allowance = ContinuousClock.now - start + .seconds(5)
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

  /// The error for a response that is JSON but not of the form that the request returns.
  public static func unexpectedForm(
    _ json: JSONSlice, of request: RestRequest, expected: String
  ) -> SyncError {
    SyncError(
      .unexpectedResponse, "The response to \(request) is not \(expected).",
      body: beginning(of: json.utf8))
  }

  /// The ids of records, for finding ghosts.
  ///
  /// A record whose id cannot be read would pass for one that is gone, so it is an error.
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

  /// The error for a response, whatever its status, that the server cannot have sent.
  public static func unexpectedResponse(
    _ response: RestResponse, to request: RestRequest, expected: String
  ) -> SyncError {
    SyncError(
      .unexpectedResponse,
      "The response to \(request) is not \(expected). Look at what stands between this program and the "
        + "server.", status: response.status, body: beginning(of: response.body))
  }

  /// The error for a response whose status is not one of success.
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
    if let error = error as? OAuthError, !error.code.isRetryable {
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

  /// What a failed exchange means for the work that was requested.
  private enum Failure {
    /// The request never left.
    case nothingSent
    /// The server may have done it; the response is unusable.
    case unusableResponse
    /// The server may have done it, and trying again may help.
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
    String(decoding: body.prefix(4_096), as: UTF8.self)
  }
}

extension SyncContext {
  /// Makes a context for calling a target in a test of its own; in a run the engine makes it.
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
