import HTTPTypes
import MobileSyncTestSupport
import SalesforceSDKCore
import Synchronization
@testable import MobileSyncTests

// Creates that a slow server completes after the device has stopped waiting for the response.
extension ConvergenceHistory {
  /// A create that the server has received.
  struct LateCreate: Sendable {
    let request: RestRequest
    /// The time at which the server completes it, in milliseconds since 1970.
    let due: Int64
  }

  /// Lets the server complete a request later if it only creates records.
  ///
  /// - Returns: Whether it does.
  func delay(_ request: InMemoryOrg.Request, by milliseconds: Int64) -> Bool {
    let place = request.line.dropFirst("POST ".count)
    let isCreate =
      place.hasPrefix("/{v}/sobjects/") || place == "/{v}/composite/sobjects"
      || (place.hasPrefix("/{v}/composite") && request.count(of: #""POST""#) > 0
        && ["PATCH", "PUT", "DELETE"].allSatisfy { request.count(of: "\"\($0)\"") == 0 })
    guard request.line.hasPrefix("POST "), isCreate else { return false }
    let create = LateCreate(
      request: RestRequest(method: .post, path: String(place), body: Array(request.body.utf8)),
      due: org.now + milliseconds)
    underWay.withLock { $0.append(create) }
    return true
  }

  /// Lets the server complete creates that are due, before each request.
  func completeLateCreates() {
    org.intervene { [weak self] _, _ in
      await self?.completeDueCreates()
      return .none
    }
  }

  func completeDueCreates() async {
    let now = org.now
    let due = underWay.withLock { creates in
      defer { creates.removeAll { $0.due <= now } }
      return creates.filter { $0.due <= now }
    }
    for create in due { _ = try? await org.response(to: create.request) }
  }
}
