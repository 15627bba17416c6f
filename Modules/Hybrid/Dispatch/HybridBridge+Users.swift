import SalesforceSDKCommon
import SalesforceSDKCore

/// A bridge's record of changes of the current user (HT-21).
struct UserChanges {
  /// A number that increases before and after each change. If it still has the value at the arrival
  /// of a call, the call was made for the present user.
  var number = 0
  /// The calls of pages that change the user now.
  var calls = 0
  /// The user whom the pages know as the current one; `nil` before the first change.
  var known: UserAccountIdentity??
}

extension HybridBridge {
  /// The number of changes of the current user.
  var userNumber: Int { withUsers { $0.number } }

  /// Follows the current user until the bridge is closed. When the program changes the user, the
  /// pages load again.
  ///
  /// Calls that wait at this time are executed for the new user, because the program controls the
  /// change.
  func followUsers(of accounts: UserAccountManager) {
    // Subscribed before any page can connect, so that no change is missed.
    let events = accounts.events()
    start { [self] in
      for await event in events {
        let previous: UserAccountIdentity?
        switch event.kind {
        case .didBecomeCurrent(let former): previous = former
        case .didResignCurrent: previous = event.account.identity
        default: continue
        }
        let number = userNumber
        let current = await accounts.current?.identity
        let (isNews, former) = withUsers { users -> (Bool, UserAccountIdentity?) in
          // A page that has changed the user since makes the pages load again itself.
          guard users.calls == 0, users.number == number else { return (false, nil) }
          let known = users.known ?? previous
          users.known = .some(current)
          return (known != current, known)
        }
        if isNews { await reloadPages(after: former) }
      }
    }
  }

  /// Makes all pages load again. A page drops what it keeps of the former user; a window shows the pages of the next
  /// user in a profile of its own.
  func reloadPages(after former: UserAccountIdentity?) async {
    guard let container, let window = container.window else {
      return await send(event: "fieldforceReload", detail: .null)
    }
    let profile = await container.removedProfile(of: former)
    await send(
      event: "fieldforceReload",
      detail: ["removedProfile": profile.map { .string($0) } ?? .null], to: window)
  }
}

extension HybridCall {
  /// Runs what may change the current user. Calls that arrived before and are not carried out yet fail.
  ///
  /// - Parameter reloadsPages: Whether all pages load again after the response, if the user has changed.
  func changingUser<Result>(
    of host: HybridHost, reloadsPages: (_ former: UserAccountIdentity?) -> Bool = { _ in true },
    _ change: () async throws -> Result
  ) async throws -> Result {
    let bridge = owner.bridge
    let former = await host.accounts.current?.identity
    bridge.withUsers { users in
      users.number += 1
      users.calls += 1
    }
    let outcome: Swift.Result<Result, any Error>
    do {
      outcome = .success(try await change())
    } catch {
      outcome = .failure(error)
    }
    let account = await host.accounts.current
    if let account, account.identity != former { await host.userDidChange?(account) }
    bridge.withUsers { users in
      users.number += 1
      users.calls -= 1
      users.known = .some(account?.identity)
    }
    if account?.identity != former, reloadsPages(former) {
      afterResponse { [bridge] _ in await bridge.reloadPages(after: former) }
    }
    return try outcome.get()
  }

  /// Refuses a call that was made before the current user changed: its data belongs to the former user.
  ///
  /// To be called when the account for the call is known.
  ///
  /// - Throws: ``HybridError`` `userChanged`.
  func checkUser() throws(HybridError) {
    guard userNumber == owner.bridge.userNumber else {
      throw HybridError(
        .userChanged,
        "Cannot carry out \(action): the current user changed after the call. Nothing was done. Call again."
      )
    }
  }
}
