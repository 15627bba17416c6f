public import SalesforceHybridSDK

/// The native modules that `react-native-force` calls, as services of a `HybridBridge`.
///
/// Each module has its name on iOS and its name on Android. A method takes one object and gets one
/// response, like a call of any other service. The methods work as for pages.
///
/// ```swift
/// let bridge = try HybridBridge.standard(host: host, plugins: ReactModules.plugins(host: host))
/// ```
public enum ReactModules: Sendable {
  /// The modules for login, requests, stores and syncs.
  public static func plugins(host: HybridHost) -> [any HybridPlugin] {
    [
      ReactOAuthModule(host: host), ReactNetModule(host: host), ReactSmartStoreModule(host: host),
      ReactMobileSyncModule(host: host),
    ]
  }
}
