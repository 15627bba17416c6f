import HTTPTypes

/// Follows the redirects that the call's ``RedirectRule`` allows. Any other redirect is the response.
struct RedirectInterceptor: RestInterceptor {
  /// Whether a response with this status and these header fields is a redirect that will be followed.
  typealias Condition = @Sendable (_ status: Int, _ headers: HTTPFields) -> Bool

  func intercept(_ call: RestCall, next: Next) async throws -> RestResponse {
    guard var wire = call.wire else { return try await next(call) }
    var call = call
    let rule = call.redirects
    for _ in 0..<max(0, rule.maxRedirects) {
      call.wire = wire
      call.isFollowed = { [wire] in rule.request(after: $0, $1, to: wire) != nil }
      let response = try await next(call)
      guard let following = rule.request(after: response, to: wire) else { return response }
      wire = following
    }
    call.wire = wire
    call.isFollowed = nil
    return try await next(call)
  }
}
