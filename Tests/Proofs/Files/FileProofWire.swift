import Foundation
import HTTPTypes
import SalesforceSDKCore
import Synchronization

/// The network of a device, which fails once for each fault that is armed.
final class FileProofWire: HTTPTransport {
  /// What happens to the next request that it is about.
  enum Fault: String, CaseIterable {
    /// The request does not arrive.
    case lostRequest
    /// The request arrives, and its response does not.
    case lostResponse
    /// The request arrives after the client noticed a failure.
    case late
    /// The response is cut.
    case cutBody
    /// The server fails, before or after it did the work.
    case failsBefore, failsAfter
    /// The session has expired.
    case expired
    /// A query fails.
    case queryLost, queryFails
  }

  private struct State {
    var fault: Fault?
    var late: [TransportRequest] = []
  }

  private let wire = URLSessionTransport()
  private let state = Mutex(State())

  func arm(_ fault: Fault?) { state.withLock { $0.fault = fault } }

  /// Lets late requests arrive.
  func deliver() async {
    let late = state.withLock { state in
      defer { state.late = [] }
      return state.late
    }
    for request in late { _ = try? await wire.send(request) }
  }

  func send(_ request: TransportRequest) async throws -> RestResponse {
    let isQuery = request.url.path.contains("/query")
    let fault = state.withLock { state -> Fault? in
      guard let fault = state.fault else { return nil }
      let isHit =
        switch fault {
        case .queryLost, .queryFails: isQuery
        default: request.method == .post && request.url.path.contains("/sobjects/")
        }
      if isHit { state.fault = nil }
      return isHit ? fault : nil
    }
    let lost = TransportError(.unreachable, "The connection ended.")
    switch fault {
    case nil: return try await wire.send(request)
    case .lostRequest, .queryLost: throw lost
    case .lostResponse:
      _ = try await wire.send(request)
      throw lost
    case .late:
      var copy = request
      copy.body = try request.upload?.bytes() ?? request.body
      copy.upload = nil
      copy.progress = nil
      let kept = copy
      state.withLock { $0.late.append(kept) }
      throw lost
    case .cutBody:
      var response = try await wire.send(request)
      response.body = Array(response.body.prefix(response.body.count / 2))
      return response
    case .failsBefore, .queryFails: return RestResponse(status: 500, body: Array("[]".utf8))
    case .failsAfter:
      _ = try await wire.send(request)
      return RestResponse(status: 500, body: Array("[]".utf8))
    case .expired:
      let body = #"[{"errorCode":"INVALID_SESSION_ID","message":"Session expired or invalid"}]"#
      return RestResponse(status: 401, body: Array(body.utf8))
    }
  }
}
