import Foundation
import SalesforceSDKCommon

extension UserAccountManager {
  /// Logs a user in.
  ///
  /// On return the account is on disk. An existing account gets new tokens and keeps all data; the
  /// former refresh token is revoked on the server. A login at a server that the account does not
  /// know never replaces the account: it throws `foreignServer`, unless ``confirmMove(of:to:)`` was
  /// called.
  ///
  /// - Parameter makesCurrent: Whether the account becomes the current user. Default: true.
  /// - Throws: ``OAuthError`` if the server, the user or the presenter refused; its
  ///   ``OAuthError/Code/effect`` is the next step. `managedAppRequired` or `screenLockRequired` if the
  ///   app does not meet the org's requirements. ``TransportError`` if the server was not
  ///   reached. ``AccountError`` `illegalState` while another login is in progress,
  ///   `foreignServer`, `writeFailed`. `CancellationError`, also after ``cancelLogin()``. After an
  ///   error nothing has changed; only if the disk refuses to undo the login, which is logged, the
  ///   account may exist after the next start.
  @discardableResult
  public func logIn(
    _ method: LoginMethod, makesCurrent: Bool = true
  ) async throws -> UserAccount {
    let work = try await method.begin(self)
    return try await asLogin(method.type, at: method.server) {
      try await work(self, makesCurrent)
    }
  }

  /// Cancels the login in progress, like cancelling its task, and closes everything that it opened.
  ///
  /// - Returns: Whether a login was in progress.
  @discardableResult
  public func cancelLogin() -> Bool {
    guard let login else { return false }
    login.cancel()
    return true
  }

  /// Returns the progress of logins from now on. Each call returns a separate stream, which buffers
  /// all events until they are read, and ends with ``close()``.
  public func loginEvents() -> some AsyncSequence<LoginEvent, Never> & Sendable {
    loginSource.stream()
  }

  /// Runs `body` as the only login, and sends events about its outcome.
  func asLogin(
    _ type: LoginType, at server: LoginServer,
    _ body: @escaping @Sendable () async throws -> UserAccount
  ) async throws -> UserAccount {
    guard login == nil else {
      throw AccountError(.illegalState, "A login is already at work. Finish or cancel it first.")
    }
    // An administrator may have changed it since the start.
    options.managed?.reload()
    try options.managed?.current.check(type, at: server)
    if type == .native { show(.headlessLogin) }
    let task = Task {
      try await Telemetry.measure(.login) { recording in
        recording?.setDimension("type", "\(type)")
        return try await self.handlingErrors(at: server, login: type, body)
      }
    }
    login = task
    defer { login = nil }
    loginSource.send(LoginEvent(kind: .willLogIn, server: server, type: type))
    do {
      let account = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      loginSource.send(LoginEvent(kind: .didLogIn(account), server: server, type: type))
      return account
    } catch {
      let isCancelled = error is CancellationError || (error as? OAuthError)?.code == .cancelled
      loginSource.send(
        LoginEvent(
          kind: isCancelled ? .didCancel : .didFail(error), server: server, type: type))
      throw error
    }
  }
}
