#if os(Linux)
  import Foundation
  import Glibc
  public import SalesforceSDKCore
  import Synchronization

  /// Authenticates the user of this process by PAM, so by whatever the device's administrator has chosen:
  /// a password, a fingerprint, a smart card (CO-156).
  ///
  /// It is available if PAM has a service file of the given name, because PAM refuses every user for a
  /// service without one. A file that asks for the login's password:
  ///
  /// ```
  /// @include common-auth
  /// @include common-account
  /// ```
  ///
  /// PAM counts wrong attempts and delays the next ones as its modules say. A failed authentication is
  /// `refused` and logs out no user.
  public struct PAMAuthenticator: DeviceAuthenticator {
    /// The default service, `fieldforce`.
    public static let defaultService = "fieldforce"

    private let service: String
    private let prompt: any SystemPrompt
    /// The folder with the service files, if it is not the system's.
    private let folder: URL?

    /// Creates an authenticator.
    ///
    /// - Parameters:
    ///   - service: The name of PAM's service, and of its file in `/etc/pam.d`.
    ///   - prompt: Asks the user what PAM wants to know.
    public init(service: String = Self.defaultService, prompt: some SystemPrompt) {
      self.init(service: service, prompt: prompt, folder: nil)
    }

    init(service: String, prompt: some SystemPrompt, folder: URL?) {
      self.service = service
      self.prompt = prompt
      self.folder = folder
    }

    /// Whether PAM has a file for the service.
    public var isAvailable: Bool {
      // A name with a slash would lead to other files.
      guard !service.isEmpty, !service.contains("/") else { return false }
      let folders = folder.map { [$0.path] } ?? ["/etc/pam.d", "/usr/lib/pam.d"]
      return folders.contains { access("\($0)/\(service)", R_OK) == 0 }
    }

    /// Authenticates the user of this process.
    ///
    /// - Throws: ``LockError`` `unavailable` without a service file or if PAM cannot work, `refused`, `cancelled`;
    ///   `CancellationError`.
    public func authenticate(for policy: LockPolicy) async throws {
      guard isAvailable else {
        throw LockError(
          .unavailable,
          "PAM has no service \(service). Put a file of this name into /etc/pam.d, or use another DeviceAuthenticator."
        )
      }
      guard let user = Self.userName else {
        throw LockError(.unavailable, "The system knows no name of the user \(getuid()).")
      }
      let conversation = PAMConversation(prompt)
      let result: Result<Void, LockError> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          // PAM's modules block, and ask the user while they do.
          Thread.detachNewThread { [service, folder] in
            continuation.resume(
              returning: Result { () throws(LockError) in
                try PAMTransaction.authenticate(
                  user, for: service, folder: folder?.path, conversation)
              })
          }
        }
      } onCancel: {
        conversation.cancel()
      }
      try Task.checkCancellation()
      try result.get()
    }

    /// The name of the user who started the process.
    private static var userName: String? {
      var record = passwd()
      var found: UnsafeMutablePointer<passwd>?
      var buffer = [CChar](repeating: 0, count: 16_384)
      guard getpwuid_r(getuid(), &record, &buffer, buffer.count, &found) == 0, found != nil
      else { return nil }
      return String(cString: record.pw_name)
    }
  }
#endif
