import SalesforceHybridSDK
import SalesforceReact
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

/// Does each native call end in one callback, in the form of its platform?
struct ReactBridgeTests {
  static let store = "SFSmartStoreReactBridge"
  static let global: JSONObject = ["isGlobalStore": true, "soupName": "notes"]

  @Test(.covers("HT-39")) func `on iOS one callback receives an error or a result`() async throws {
    try await TestHost.with(modules: ReactModules.plugins) { host in
      let react = try ReactBridge(host.bridge)
      let exists = await Self.callback {
        react.call(Self.store, "soupExists", Self.global, callback: $0)
      }
      #expect(exists.error == nil)
      #expect(exists.result == false)
      let user = await Self.callback {
        react.call(Self.store, "soupExists", ["soupName": "s"], callback: $0)
      }
      #expect(user.error?.string?.hasPrefix("soupExists failed: no store found") == true)
      #expect(user.result == nil)
      let unknown = await Self.callback {
        react.call("SFNoBridge", "soupExists", [:], callback: $0)
      }
      #expect(unknown.error?.string?.hasPrefix("invalid action") == true)
      let sync = await Self.callback {
        react.call("SFMobileSyncReactBridge", "getSyncStatus", [:], callback: $0)
      }
      #expect(sync.error?["message"]?.string?.contains("neither syncId") == true)
    }
  }

  @Test(.covers("HT-39")) func `on Android two callbacks receive JSON texts`() async throws {
    try await TestHost.with(modules: ReactModules.plugins) { host in
      let react = try ReactBridge(host.bridge)
      let name = "it's \"quoted\"\n"
      let indexes: JSONValue = [["path": "Id", "type": "string"]]
      let registered = await Self.callbacks {
        react.call(
          "SmartStoreReactBridge", "registerSoup",
          ["isGlobalStore": true, "soupName": .string(name), "indexes": indexes], success: $0,
          failure: $1)
      }
      #expect(registered.map { try? JSONValue(parsing: $0) } == .success(.string(name)))
      let exists = await Self.callbacks {
        react.call("SmartStoreReactBridge", "soupExists", Self.global, success: $0, failure: $1)
      }
      #expect(exists == .success("false"))
      let failed = await Self.callbacks {
        react.call(
          "SalesforceOauthReactBridge", "getAuthCredentials", [:], success: $0, failure: $1)
      }
      #expect(failed == .failure(Text(text: "Not authenticated")))
      let request = await Self.callbacks {
        react.call(
          "SalesforceNetReactBridge", "sendRequest", ["path": "/x"], success: $0, failure: $1)
      }
      guard case .failure(let error) = request else {
        Issue.record("the request succeeded")
        return
      }
      #expect(try JSONValue(parsing: error.text)["error"] == "No user account found")
    }
  }

  @Test(.covers("HT-39"))
  func `calls keep their order, and a closed bridge gives each pending call an error`()
    async throws
  {
    let latch = Latch()
    let bridge = try HybridBridge(plugins: [Slow(name: "slow", keepsOrder: true, latch), Echo()])
    let react = try ReactBridge(bridge)
    let calls = Mutex<[String]>([])
    for number in 0..<10 {
      react.call("slow", "wait", [:]) { error, _ in
        calls.withLock { $0.append("\(number) \(error?.string?.contains("closed") ?? false)") }
      }
    }
    let echo = await Self.callback { react.call("echo", "echo", ["a": 1], callback: $0) }
    #expect(echo.result == [["a": 1]])
    react.close()
    #expect(calls.withLock { Set($0) } == Set((0..<10).map { "\($0) true" }))
    let late = await Self.callback { react.call("echo", "echo", [:], callback: $0) }
    #expect(late.error?.string?.contains("closed") == true)
    latch.open()
    await bridge.close()
    #expect(calls.withLock { $0.count } == 10)
    #expect(throws: HybridError.self) { try ReactBridge(bridge) }
  }

  private static func callback(
    _ call: (@escaping @Sendable (JSONValue?, JSONValue?) -> Void) -> Void
  ) async -> (error: JSONValue?, result: JSONValue?) {
    await withCheckedContinuation { continuation in
      call { continuation.resume(returning: ($0, $1)) }
    }
  }

  struct Text: Error, Equatable { let text: String }

  private static func callbacks(
    _ call: (@escaping @Sendable (String) -> Void, @escaping @Sendable (String) -> Void) -> Void
  ) async -> Result<String, Text> {
    await withCheckedContinuation { continuation in
      call({ continuation.resume(returning: .success($0)) }) {
        continuation.resume(returning: .failure(Text(text: $0)))
      }
    }
  }
}
