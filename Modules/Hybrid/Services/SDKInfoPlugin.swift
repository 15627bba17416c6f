public import SalesforceSDKCommon
import SalesforceSDKCore

/// `com.salesforce.sdkinfo`: information about the host and the app (HT-9).
public struct SDKInfoPlugin: HybridPlugin {
  /// The service.
  public let serviceNames = ["com.salesforce.sdkinfo"]

  private let host: HybridHost

  /// Creates the service.
  public init(host: HybridHost) { self.host = host }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    switch call.action {
    case "getInfo":
      let plugins = call.pluginNames.filter { $0.hasPrefix("com.salesforce.") }
      return HybridValue([
        "sdkVersion": .string(HybridBridge.javaScriptVersion),
        "fieldforceVersion": .string(SDKVersion.current),
        "appName": .string(host.app.name),
        "appVersion": .string(host.app.version),
        "forcePluginsAvailable": .array(plugins.map { .string($0) }),
        "bootConfig": .object(host.app.bootConfiguration),
      ])
    case "registerAppFeature":
      if let feature = try feature(call) { FeatureMarkers.shared.register(feature) }
      return .none
    case "unregisterAppFeature":
      if let feature = try feature(call) { FeatureMarkers.shared.unregister(feature) }
      return .none
    default:
      throw call.invalidAction()
    }
  }

  /// The longest code of a feature. All codes are a part of each request's user agent.
  private static let maxFeatureBytes = 32

  /// The feature of a call; nil for an empty one, which means nothing.
  private func feature(_ call: HybridCall) throws(HybridError) -> String? {
    guard let feature = try call.message.text("feature"), !feature.isEmpty else { return nil }
    guard feature.utf8.count <= Self.maxFeatureBytes,
      feature.unicodeScalars.allSatisfy({
        $0 == "_" || $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0)
      })
    else {
      throw call.message.invalid(
        "feature",
        "a code of at most \(Self.maxFeatureBytes) ASCII letters, digits and underscores")
    }
    return feature
  }
}

/// `com.salesforce.testrunner`: lets pages of a test suite report, for hosts that run such suites (HT-14).
public struct TestRunnerPlugin: HybridPlugin {
  /// The service.
  public let serviceNames = ["com.salesforce.testrunner"]

  private let onComplete: @Sendable (JSONSlice) async -> Void

  /// Creates the service.
  ///
  /// - Parameter onComplete: Receives `{testName, success, message, testDuration}` of each test.
  public init(onComplete: @escaping @Sendable (JSONSlice) async -> Void = { _ in }) {
    self.onComplete = onComplete
  }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    switch call.action {
    case "onReadyForTests":
      return .none
    case "onTestComplete":
      if let result = call.arguments.first { await onComplete(result) }
      return .none
    default:
      throw call.invalidAction()
    }
  }
}
