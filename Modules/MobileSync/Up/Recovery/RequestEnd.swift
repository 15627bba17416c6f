import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The end of a request without a usable response: for how long the server may still work on it.
///
/// A search that finds no record proves only after that time that the server does not create one.
enum RequestEnd: Sendable, Equatable {
  /// The server did nothing: there was no connection to it, or it refused the request before it worked on it. There is
  /// nothing to search for.
  case notProcessed
  /// The server's work is over: it has begun to respond, or the request was not sent.
  case over
  /// The connection broke after the request had been under way for this time.
  case broken(after: Duration)
  /// The server was silent, a gateway gave up, or the process ended.
  case unknown

  /// The shortest time for which the server may work on a request whose connection broke.
  private static let leastLateness = Duration.seconds(5)
  /// The time in which a server that is not slow responds.
  private static let usualTime = Duration.seconds(3)

  /// The time from now on in which the server may complete the request.
  ///
  /// A server that had not responded for more than some seconds is slow: it gets several times as long again.
  func lateness(atMost longest: Duration) -> Duration {
    switch self {
    case .notProcessed, .over: .zero
    case .broken(let time): min(Self.leastLateness + max(time - Self.usualTime, .zero) * 4, longest)
    case .unknown: longest
    }
  }

  /// The end of a request that failed with an error.
  ///
  /// - Parameter time: The time since it was sent.
  init(_ error: any Error, after time: Duration) {
    switch error {
    // A stop ends a run between two requests.
    case is StopSignal.Interruption: self = .over
    case let error as SyncError: self.init(error, after: time)
    case let error as RestError: self.init(error, after: time)
    case let error as TransportError: self.init(RestError(error), after: time)
    default: self = .unknown
    }
  }

  private init(_ error: SyncError, after time: Duration) {
    if let status = error.status {
      let isRefusal = status == 429 || status == 503 && Self.isOfPlatform(error.body)
      self = isRefusal ? .notProcessed : Self.isOpen(status) ? .unknown : .over
      return
    }
    switch error.code {
    case .invalidRequest, .noRestClient, .unexpectedResponse: self = .over
    case .transport:
      if let cause = error.cause, !(cause is SyncError) {
        self.init(cause, after: time)
      } else {
        self = .unknown
      }
    default: self = .unknown
    }
  }

  private init(_ error: RestError, after time: Duration) {
    if let status = error.status {
      self = Self.isOpen(status) ? .unknown : .over
      return
    }
    switch error.code {
    case .timedOut: self = .unknown
    case .unreachable: self = error.hadNoConnection ? .notProcessed : .broken(after: time)
    default: self = .over
    }
  }

  /// Whether a body is the platform's own list of errors, and not that of something in front of it.
  private static func isOfPlatform(_ body: String?) -> Bool {
    guard let body, let json = try? JSONSlice(parsing: body) else { return false }
    return json[0]?["errorCode"]?.string != nil
  }

  /// Whether a response with this status can come before the server's work is over.
  private static func isOpen(_ status: Int) -> Bool {
    [408, 425, 499, 502, 504].contains(status)
  }
}

extension RestError {
  /// Whether there was no connection to the server, so that nothing was sent.
  fileprivate var hadNoConnection: Bool {
    guard let code = (cause as? URLError)?.code else { return false }
    return [
      .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
    ].contains(code)
  }
}
