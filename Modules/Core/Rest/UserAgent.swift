import Foundation
import SalesforceSDKCommon
import Synchronization

/// The user agent of every request (CO-180):
///
/// `SalesforceMobileSDK/<version> <os>/<os version> (<model>) <app>/<app version> <type><qualifier>
/// uid_<installation> ftr_<markers>`
public struct UserAgent: Sendable, Equatable {
  /// The application's name. A blank name is ignored: the former name stays.
  public var appName: String {
    didSet { if appName.trimmed.isEmpty { appName = oldValue } }
  }
  /// The application's version, `1.2` or `1.2(345)`.
  public var appVersion: String
  /// The application's type: `Native`, `Hybrid` or `ReactNative` (CO-10). Default: `Native`.
  public var appType: String
  /// The id of the installation; omitted if empty.
  public var installationId: String
  /// The operating system.
  public var systemName: String
  /// Its version.
  public var systemVersion: String
  /// The device's model, or the processor's architecture.
  public var model: String

  /// Creates the description of an application on this machine.
  ///
  /// - Parameter appName: Default, also for a blank name: the name of the executable.
  public init(
    appName: String = UserAgent.processName, appVersion: String = "1.0", installationId: String = ""
  ) {
    self.appName = appName.trimmed.isEmpty ? UserAgent.processName : appName
    self.appVersion = appVersion
    self.appType = Self.nativeType
    self.installationId = installationId
    self.systemName = UserAgent.systemName
    self.systemVersion = UserAgent.systemVersion
    self.model = UserAgent.architecture
  }

  /// Returns the header's value.
  ///
  /// - Parameter qualifier: Follows the application's type, such as `MobileSync`.
  public func text(
    qualifier: String? = nil, markers: FeatureMarkers = .shared
  ) -> String {
    let parts = [
      "SalesforceMobileSDK/\(SDKVersion.current)", "\(systemName)/\(systemVersion)", "(\(model))",
      "\(appName)/\(appVersion)", appType + (qualifier ?? ""),
      installationId.isEmpty ? nil : "uid_\(installationId)", "ftr_\(markers.text)",
    ]
    // Only printable ASCII may stand in a header.
    let text = parts.compactMap(\.self).joined(separator: " ").unicodeScalars
      .filter { (0x20...0x7E).contains($0.value) }
    return String(String.UnicodeScalarView(text))
  }

  package static let nativeType = "Native"
  package static let hybridType = "Hybrid"

  /// The name of the running program.
  public static var processName: String { ProcessInfo.processInfo.processName }
}

/// The version of this package.
public enum SDKVersion: Sendable {
  /// `major.minor.patch`.
  public static let current = "0.1.0"
}

/// The features in use, as short codes in the user agent (CO-183).
///
/// Registering a code twice, or removing one that is not registered, changes nothing. Codes consist
/// of letters, digits and underscores.
public final class FeatureMarkers: Sendable {
  /// The markers of this process.
  public static let shared = FeatureMarkers()

  private let markers = Mutex<Set<String>>([])

  /// Creates an empty set.
  public init() {}

  /// Adds a code.
  ///
  /// - Precondition: It consists of ASCII letters, digits and underscores.
  public func register(_ marker: String) {
    precondition(
      !marker.isEmpty && marker.utf8.allSatisfy { $0 < 128 }
        && marker.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" },
      "\(marker) is no feature marker")
    markers.withLock { _ = $0.insert(marker) }
  }

  /// Removes a code.
  public func unregister(_ marker: String) {
    markers.withLock { _ = $0.remove(marker) }
  }

  /// The codes, sorted without regard to case and joined by dots.
  public var text: String {
    markers.withLock { Array($0) }
      .sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }
      .joined(separator: ".")
  }
}
