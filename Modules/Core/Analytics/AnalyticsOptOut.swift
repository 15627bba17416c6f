import Foundation
import SalesforceSDKCommon

/// Whether the events of one user in one community are stored and sent, in a file (CA-44).
///
/// The org's administrator decides by the custom attribute `ailtn_enabled` of the connected app, at each login.
/// Without it, what the program set stays; a value that came from an earlier attribute does not.
struct AnalyticsOptOut: Sendable {
  static let fileName = "analytics.json"
  private static let enabledKey = "ailtn_enabled"
  private static let isByOrgKey = "ailtn_enabled_by_org"

  private let preferences: Preferences

  init(in folder: URL) throws(PreferencesError) {
    preferences = try Preferences(folder.appending(path: Self.fileName))
  }

  /// Whether events are stored and sent. Default: true.
  var isEnabled: Bool { preferences[Self.enabledKey]?.bool ?? true }

  /// Stores the program's decision.
  func set(_ isEnabled: Bool) throws(PreferencesError) {
    try preferences.update { settings in
      settings[Self.enabledKey] = .bool(isEnabled)
      settings[Self.isByOrgKey] = nil
    }
  }

  /// Applies the org's decision in the profile of a login.
  func apply(_ profile: UserProfile) throws(PreferencesError) {
    let flag = profile.customAttributes?[Self.enabledKey].flatMap(AnalyticsFlag.read)
    guard flag != nil || preferences[Self.isByOrgKey] != nil else { return }
    try preferences.update { settings in
      settings[Self.enabledKey] = flag.map { .bool($0) }
      settings[Self.isByOrgKey] = flag == nil ? nil : true
    }
  }
}
