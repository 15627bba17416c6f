public import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// The handling of navigations and of loaded and failed pages.
extension HybridContainer {
  /// The action of the window.
  enum Decision {
    case allow, cancel
    case load(URL, cookies: JSONValue)

    var json: JSONObject {
      switch self {
      case .allow: ["action": "allow"]
      case .cancel: ["action": "cancel"]
      case .load(let url, let cookies):
        ["action": "load", "url": .string(url.absoluteString), "cookies": cookies]
      }
    }
  }

  func navigate(
    _ url: URL, _ isUserGesture: Bool, _ call: HybridCall
  ) async throws -> Decision {
    let scheme = url.scheme?.lowercased() ?? ""
    if ["about", "blob", "data"].contains(scheme) { return .allow }
    if url.absoluteString == Self.restartAddress {
      let (page, account) = await firstPage(call)
      return .load(page, cookies: cookies(account))
    }
    let (servers, base) = state.withLock { ($0.servers, $0.base) }
    let pages = await loginPages()
    if let expired = ExpiredSession(
      url, loginPages: pages, base: base, admits: { servers.admits($0) })
    {
      return await renew(expired)
    }
    if servers.admits(url) { return .allow }
    guard ["http", "https", "mailto", "tel"].contains(scheme), isUserGesture else {
      // Without a click it may be a frame of a page, or a page that wants to send the user away.
      HybridLogger.log.warning(
        "A page went to \(url.origin ?? scheme), which is no allowed origin, without a click: cancelled."
      )
      return .cancel
    }
    Task { [openOutside] in await openOutside(url) }
    return .cancel
  }

  /// Renews the session and returns to the page; shows the error page if that was done for the page three times
  /// already (HT-17).
  private func renew(_ expired: ExpiredSession) async -> Decision {
    guard let account = await host.accounts.current else { return .cancel }
    let target = expired.returnURL ?? (app.isLocal ? localPage(app.startPage) : remotePage(account))
    let renewals = state.withLock { state in
      state.renewals[target.absoluteString, default: 0] += 1
      return state.renewals[target.absoluteString] ?? 0
    }
    guard renewals <= 3 else {
      return .load(
        errorPage("The session expires again and again."), cookies: cookies(account))
    }
    switch await renewed(account) {
    case .done(let account): return .load(target, cookies: cookies(account))
    case .unreachable(let message), .ended(let message):
      return .load(errorPage(message), cookies: cookies(account))
    }
  }

  /// The result of a renewal of the session.
  enum Renewal: Sendable {
    case done(UserAccount)
    case unreachable(String)
    case ended(String)
  }

  /// Sends one cheap request, which refreshes an expired token. Concurrent callers share it.
  func renewed(_ account: UserAccount) async -> Renewal {
    let task = state.withLock { state in
      if let current = state.renewal { return current }
      let task = Task { [self] in
        defer { self.state.withLock { $0.renewal = nil } }
        do {
          _ = try await host.client(account).response(to: .resources())
          return Renewal.done(await host.accounts.account(for: account.identity) ?? account)
        } catch {
          let current = await host.accounts.account(for: account.identity)
          let message = HybridError(error).message
          return current?.loginState == .loggedIn ? .unreachable(message) : .ended(message)
        }
      }
      state.renewal = task
      return task
    }
    return await task.value
  }

  /// The org's login page and single sign-on addresses, requested once for a user; none if the org names none.
  private func loginPages() async -> [URL] {
    if let known = state.withLock({ $0.loginPages }) { return known }
    guard let account = await host.accounts.current else { return [] }
    let server = account.credentials.loginServer
    var pages: [URL] = []
    if server != .production, server != .sandbox {
      var request = RestRequest(path: "/.well-known/auth-configuration", endpoint: "")
      request.host = .base(server.url)
      request.requiresAuthentication = false
      if let response = try? await host.client().response(to: request), response.isSuccess,
        let configuration = try? OrgAuthConfiguration(parsing: response.body)
      {
        pages =
          [configuration.loginPageURL].compactMap(\.self)
          + (configuration.singleSignOnURLs ?? [])
      }
    }
    state.withLock { [pages] in $0.loginPages = pages }
    return pages
  }

  func didLoad(_ url: URL) {
    let isHome = state.withLock { state in
      state.renewals[url.absoluteString] = nil
      let isServerPage =
        url.scheme?.hasPrefix("http") == true && url.host() != "localhost"
        && !["/secur/frontdoor.jsp", "/secur/contentDoor"].contains(url.path())
      guard isServerPage, !app.isLocal, !state.knowsHome, state.base != nil else { return false }
      state.knowsHome = true
      return true
    }
    guard isHome, url.absoluteString != app.unauthenticatedStartPage?.absoluteString else { return }
    do {
      // An address may contain what is meant for the user alone.
      try DurableFile(homeFile).replace(with: Array(url.absoluteString.utf8))
    } catch {
      HybridLogger.log.warning("The app's home page cannot be kept: \(error)")
    }
  }

  /// The app's home page: the first server page that loaded; nil before there is one (HT-16).
  public var homeURL: URL? {
    guard let text = try? DurableFile(homeFile).read(maxBytes: Self.maxAddressBytes) else {
      return nil
    }
    return URL(string: String(decoding: text, as: UTF8.self))
  }

  /// No address of a page is longer: 64 KiB.
  private static let maxAddressBytes = 1 << 16

  func didFail(_ url: URL, _ message: String?) -> Decision {
    let text = message ?? "The page cannot be loaded."
    guard url.host() == "localhost" else { return .load(errorPage(text), cookies: []) }
    // The app's own error page is missing: the container's is there. That one is not loaded again.
    if url.path() == "/_error" { return .cancel }
    return .load(
      URL(string: Self.errorAddress + "#" + (errorPage(text).fragment() ?? "")) ?? url,
      cookies: [])
  }
}

extension URL {
  /// Scheme, host and port.
  var origin: String? {
    guard let scheme, let host = host(percentEncoded: false) else { return nil }
    return "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "")
  }
}
