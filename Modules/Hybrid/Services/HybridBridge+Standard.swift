extension HybridBridge {
  /// Creates a bridge with the services of the Mobile SDK and the app's own plug-ins.
  ///
  /// - Parameters:
  ///   - plugins: Registered after those of the Mobile SDK.
  ///   - runsTests: Whether pages can report test results, see ``TestRunnerPlugin``. Default: false.
  /// - Throws: ``HybridError`` `duplicateService`.
  public static func standard(
    host: HybridHost, plugins: [any HybridPlugin] = [], runsTests: Bool = false,
    limits: HybridLimits = HybridLimits()
  ) throws(HybridError) -> HybridBridge {
    var all: [any HybridPlugin] = [
      OAuthPlugin(host: host), NetworkPlugin(host: host), SDKInfoPlugin(host: host),
      AccountManagerPlugin(host: host), SmartStorePlugin(host: host),
      MobileSyncPlugin(host: host),
    ]
    if runsTests { all.append(TestRunnerPlugin()) }
    let bridge = try HybridBridge(plugins: all + plugins, limits: limits)
    bridge.followUsers(of: host.accounts)
    return bridge
  }
}
