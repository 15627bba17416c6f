public import HTTPTypes

/// The measurements of one call of a ``RestClient``. They contain the host, but no path, query or
/// token.
public struct TransferMetrics: Sendable, Hashable {
  /// The HTTP method.
  public let method: HTTPRequest.Method
  /// The server's name.
  public let host: String
  /// The status of the last response; `nil` if there was none.
  public let status: Int?
  /// The time from the start of the call to its end, with all waits and repetitions.
  public let duration: Duration
  /// The size of the request's body.
  public let sentBytes: Int64
  /// The size of the last response's body, as far as it was read.
  public let receivedBytes: Int64
  /// The number of times the request was sent again, after a refresh or a failure.
  public let repetitions: Int
}
