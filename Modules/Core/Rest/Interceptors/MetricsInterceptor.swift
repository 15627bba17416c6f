import HTTPTypes
import SalesforceSDKCommon

/// Measures each call for the client's observer, the tracer, the metrics backend and the log.
struct MetricsInterceptor: RestInterceptor {
  let observer: (@Sendable (TransferMetrics) -> Void)?
  let apiVersion: String

  func intercept(_ call: RestCall, next: Next) async throws -> RestResponse {
    try await Telemetry.measure(.request) { recording in
      let isLogged = CoreLogger.log.isEnabled(.debug)
      guard observer != nil || isLogged || recording != nil else { return try await next(call) }
      var call = call
      let progress = call.progress ?? TransferProgress()
      call.progress = progress
      let start = ContinuousClock.now
      defer {
        let metrics = TransferMetrics(
          of: call, progress.amounts, start.duration(to: .now))
        let path = safePath(of: call.request)
        observer?(metrics)
        recording?.describe(metrics, path: path)
        if isLogged { CoreLogger.log.debug("\(RequestLine(metrics, path: path))") }
      }
      return try await next(call)
    }
  }

  private func safePath(of request: RestRequest) -> String {
    RequestLine.safePath(
      request.isAbsolute ? request.path : request.target(apiVersion: apiVersion))
  }
}

extension TransferMetrics {
  /// - Parameter amounts: The amounts counted by a transport that counts.
  fileprivate init(
    of call: RestCall, _ amounts: TransferProgress.Amounts, _ duration: Duration
  ) {
    let cost = call.exchange.account
    self.init(
      method: call.request.method, host: cost.host, status: cost.status, duration: duration,
      sentBytes: cost.sentBytes, receivedBytes: max(cost.receivedBytes, amounts.received),
      repetitions: max(0, cost.attempts - 1))
  }
}

extension RequestLine {
  fileprivate init(_ metrics: TransferMetrics, path: String) {
    self.init(
      method: metrics.method, path: path, status: metrics.status, duration: metrics.duration,
      sentBytes: metrics.sentBytes, receivedBytes: metrics.receivedBytes)
  }
}

extension Telemetry.Recording {
  /// Records a request: method, host, path without query and values, status, sizes.
  fileprivate func describe(_ metrics: TransferMetrics, path: String) {
    setDimension("http.request.method", metrics.method.rawValue)
    setDimension("http.response.status_code", metrics.status.map(String.init) ?? "none")
    set("server.address", metrics.host)
    set("url.path", path)
    set("http.request.body.size", Int(metrics.sentBytes))
    set("http.response.body.size", Int(metrics.receivedBytes))
    set("http.request.resend_count", metrics.repetitions)
    if let status = metrics.status, status >= 400 { setOutcome("refused") }
  }
}
