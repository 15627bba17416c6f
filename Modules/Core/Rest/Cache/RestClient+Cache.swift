import Foundation
import HTTPTypes
import SalesforceSDKCommon

extension RestClient {
  /// Sends a request through the cache.
  ///
  /// - Parameter fetch: Sends a request to the server.
  func cachedResponse(
    to request: RestRequest, in cache: ResponseCache,
    _ fetch: (RestRequest) async throws -> RestResponse
  ) async throws -> RestResponse {
    let account: UserAccount? =
      if let identity { await session.accounts?.account(for: identity) } else { nil }
    // Without the account there is no server and no owner yet: the client logs in with this request.
    guard session.accounts == nil || account != nil,
      let url = try? request.url(
        base: account?.credentials.base(for: request.host) ?? request.host.base,
        apiVersion: apiVersion
      ).absoluteString
    else { return try await fetch(request) }
    guard request.method == .get else {
      let response = try await fetch(request)
      if request.method != .head, response.isSuccess {
        await cache.removePath(of: url, of: account)
      }
      return response
    }
    guard request.isCacheable else { return try await fetch(request) }
    let known = await cache.entry(for: url, of: account)
    guard var stored = known, stored.fits(request.headers) else {
      return try await insert(try await fetch(request), request, url, cache, account)
    }
    if stored.isFresh(at: cache.time), !CacheControl(request.headers).isNoCache,
      await maySend(request)
    {
      return stored.response
    }
    var conditional = request
    conditional.headers[.ifNoneMatch] = stored.headers[.eTag]
    conditional.headers[.ifModifiedSince] = stored.headers[.lastModified]
    let response = try await fetch(conditional)
    guard response.status == 304 else {
      return try await insert(response, request, url, cache, account)
    }
    stored.revalidate(with: response.headers, at: cache.time)
    await cache.insert(stored, of: account)
    return stored.response
  }

  /// Whether the request could be sent now: a user who is logged out or locked out gets the error of the request, and no
  /// stored response.
  private func maySend(_ request: RestRequest) async -> Bool {
    guard request.requiresAuthentication, let accounts = session.accounts, let identity else {
      return true
    }
    return (try? await accounts.session(of: identity)) != nil
  }

  private func insert(
    _ response: RestResponse, _ request: RestRequest, _ url: String, _ cache: ResponseCache,
    _ account: UserAccount?
  ) async throws -> RestResponse {
    if response.status == 200, CacheControl.isStorable(response.headers) {
      await cache.insert(
        StoredResponse(response, url: url, request: request.headers, receivedTime: cache.time),
        of: account)
    } else if response.isSuccess || response.status == 404 || response.status == 410 {
      await cache.removePath(of: url, of: account)
    }
    return response
  }
}

extension RestRequest {
  /// Whether the cache may respond: no condition, part or session of the caller's own, and no wish not to store.
  fileprivate var isCacheable: Bool {
    let ownNames: [HTTPField.Name] = [
      .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .range, .authorization,
    ]
    return body == nil && upload == nil && ownNames.allSatisfy { headers[$0] == nil }
      && !CacheControl(headers).isNoStore
  }
}
