import SalesforceSDKCommon

/// The restrictions of the clipboard that the device's organization or the orgs of its users require (CO-176).
///
/// | demand | source |
/// | --- | --- |
/// | ``clearsOnBackground`` | `ClearClipboardOnBackground` of the managed configuration, or ``isConfinedToApp`` |
/// | ``isConfinedToApp`` | the connected app's custom attribute `DISABLE_EXTERNAL_PASTE` of any user |
public struct ClipboardPolicy: Sendable, Hashable {
  /// Whether the clipboard has to be cleared when the app goes to the background.
  public let clearsOnBackground: Bool
  /// Whether what is copied in the app may be pasted only there.
  public let isConfinedToApp: Bool

  /// Reads the policy.
  ///
  /// - Parameters:
  ///   - managed: The managed configuration.
  ///   - profiles: The profiles of all users; the strictest policy applies.
  public init(managed: ManagedConfiguration, profiles: some Sequence<UserProfile>) {
    isConfinedToApp = profiles.contains { profile in
      LockPolicy.isOn(profile.customAttributes?["DISABLE_EXTERNAL_PASTE"]) == true
    }
    clearsOnBackground = managed.clearsClipboardOnBackground || isConfinedToApp
  }
}

/// The result of ``UserAccountManager/clearClipboard(_:)``.
public enum ClipboardOutcome: String, Sendable {
  /// No policy requires it.
  case notRequired
  /// The program cleared the clipboard.
  case cleared
  /// A policy requires it, and the program reaches no clipboard. Show it in the developer information.
  case unsupported
}

extension UserAccountManager {
  /// The restrictions of the clipboard for the present users.
  ///
  /// - Throws: ``OAuthError`` `badManagedConfiguration` (681): the restrictions are unknown.
  public var clipboardPolicy: ClipboardPolicy {
    get throws(OAuthError) {
      ClipboardPolicy(
        managed: try options.managed?.current ?? ManagedConfiguration(),
        profiles: accounts.map(\.profile))
    }
  }

  /// Clears the clipboard if a policy requires it, or if the restrictions are unknown. Call it when the app goes to the
  /// background.
  ///
  /// - Parameter clear: Clears the program's clipboard; nil for a program that reaches none, such as a service.
  public func clearClipboard(_ clear: (@Sendable () async -> Void)?) async -> ClipboardOutcome {
    guard (try? clipboardPolicy.clearsOnBackground) ?? true else { return .notRequired }
    guard let clear else { return .unsupported }
    await clear()
    return .cleared
  }
}
