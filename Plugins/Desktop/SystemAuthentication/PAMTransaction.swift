#if os(Linux)
  import CPAM
  import SalesforceSDKCore

  /// One authentication by PAM, on the thread that calls.
  enum PAMTransaction {
    /// - Parameter folder: The folder with the service files; `nil` for the system's.
    /// - Throws: ``LockError`` `unavailable`, `refused`, `cancelled`.
    static func authenticate(
      _ user: String, for service: String, folder: String?, _ conversation: PAMConversation
    ) throws(LockError) {
      var handle: OpaquePointer?
      // PAM copies the structure, and the conversation outlives the handle.
      var functions = pam_conv(
        conv: PAMConversation.function,
        appdata_ptr: Unmanaged.passUnretained(conversation).toOpaque())
      let started =
        folder.map { pam_start_confdir(service, user, &functions, $0, &handle) }
        ?? pam_start(service, user, &functions, &handle)
      guard started == PAM_SUCCESS, let handle else {
        throw LockError(.unavailable, "PAM cannot start an authentication (\(started)).")
      }
      var status = pam_authenticate(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK))
      // An account that has expired or is locked proves nothing.
      if status == PAM_SUCCESS { status = pam_acct_mgmt(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK)) }
      let reason = String(cString: pam_strerror(handle, status))
      pam_end(handle, status)
      guard status != PAM_SUCCESS else { return }
      if conversation.wasCancelled {
        throw LockError(.cancelled, "The authentication was cancelled. The app stays locked.")
      }
      switch status {
      case PAM_AUTHINFO_UNAVAIL, PAM_SERVICE_ERR, PAM_OPEN_ERR, PAM_SYMBOL_ERR,
        PAM_BUF_ERR, PAM_ABORT, PAM_MODULE_UNKNOWN, PAM_CRED_INSUFFICIENT:
        throw LockError(
          .unavailable,
          "PAM cannot authenticate for the service \(service): \(reason). Check its file in /etc/pam.d."
        )
      default:
        throw LockError(.refused, "PAM did not authenticate \(user): \(reason). Try again.")
      }
    }
  }
#endif
