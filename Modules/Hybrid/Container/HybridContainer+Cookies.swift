import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// The cookies of the window's engine.
extension HybridContainer {
  func cookies(_ account: UserAccount?) -> JSONValue {
    let cookies = account.map { SessionCookie.all(of: $0) } ?? []
    return .array(
      cookies.map { cookie in
        [
          "name": .string(cookie.name), "value": .string(cookie.value),
          "host": .string(cookie.host), "isSecure": .bool(cookie.isSecure),
          "includesSubdomains": .bool(cookie.includesSubdomains),
        ]
      })
  }

  /// Sends new cookies to the window and waits until it has set them, at most five seconds.
  func renewCookies(of account: UserAccount, on bridge: HybridBridge) async {
    guard let window = window else { return }
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let fuse = Task { [weak self] in
      try? await Task.sleep(for: .seconds(5))
      self?.didSetCookies(number)
    }
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiting[number] = continuation }
      Task {
        await bridge.send(
          event: "fieldforceCookies",
          detail: ["number": .integer(number), "cookies": cookies(account)], to: window)
      }
    }
    fuse.cancel()
  }

  func didSetCookies(_ number: Int64) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
  }

  /// Sends new cookies after each refresh of the current user's token (HT-15), until the bridge is
  /// closed.
  private func followRefreshes(on bridge: HybridBridge) {
    bridge.start { [self, weak bridge] in
      for await event in host.accounts.events() {
        guard case .didRefreshToken = event.kind, let bridge,
          let account = await host.accounts.current, account.identity == event.account.identity
        else { continue }
        await renewCookies(of: account, on: bridge)
      }
    }
  }

  /// The session of the window, once there is one.
  var window: HybridSession.ID? { state.withLock { $0.window } }

  /// Names the session of the window. Calls of all other sessions are refused.
  public func attach(_ session: HybridSession) {
    state.withLock { $0.window = session.id }
    followRefreshes(on: session.bridge)
  }
}
