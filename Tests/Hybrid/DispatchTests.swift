import SalesforceHybridSDK
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

/// Does each call get one response, in the right order, whatever a page sends?
struct DispatchTests {
  @Test(.covers("HT-5"))
  func `a call gets one response with its id as the page wrote it`() async throws {
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    for id in ["7", "\"a\\u0041\"", "1.50", "\"\""] {
      try await page.send(#"{"id":\#(id),"service":"echo","action":"echo","args":[1]}"#)
    }
    for id: JSONValue in [7, "aA", .double(1.5), ""] {
      _ = await page.frame { $0["id"] == id }
    }
    await bridge.close()
    #expect(
      Set(page.texts) == [
        #"{"id":7,"status":"ok","value":[1]}"#,
        #"{"id":"a\u0041","status":"ok","value":[1]}"#,
        #"{"id":1.50,"status":"ok","value":[1]}"#, #"{"id":"","status":"ok","value":[1]}"#,
      ])
  }

  @Test(.covers("HT-5"))
  func `an unknown service or action, and a call without its parts, get an error`()
    async throws
  {
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    #expect(try await page.failure("unknown", "echo").hasPrefix("invalid action"))
    #expect(try await page.failure("echo", "shout").hasPrefix("invalid action"))
    for call in [
      #"{"id":90}"#, #"{"id":91,"service":"echo","action":"echo"}"#,
      #"{"id":92,"service":1,"action":"echo","args":[]}"#,
      #"{"id":93,"service":"echo","action":"echo","args":{}}"#,
    ] {
      try await page.send(call)
    }
    for id in 90...93 { #expect(await page.response(id)["status"] == "error") }
    await bridge.close()
  }

  @Test(.covers("HT-5"))
  func `a response without a value, parts before it, and an error of any kind of value`()
    async throws
  {
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    try await page.send(#"{"id":1,"service":"echo","action":"nothing","args":[]}"#)
    #expect(await page.response(1) == ["id": 1, "status": "ok"])
    try await page.send(#"{"id":2,"service":"echo","action":"parts","args":["a",{"b":1}]}"#)
    _ = await page.response(2)
    try await page.send(#"{"id":3,"service":"echo","action":"fail","args":[{"message":"m"}]}"#)
    #expect(await page.response(3)["value"] == ["message": "m"])
    await bridge.close()
    #expect(
      page.texts.filter { $0.hasPrefix(#"{"id":2"#) } == [
        #"{"id":2,"status":"pending","value":"a"}"#,
        #"{"id":2,"status":"pending","value":{"b":1}}"#, #"{"id":2,"status":"ok"}"#,
      ])
  }

  @Test(.covers("HT-6"))
  func `the version prefix is dropped, its absence and other first arguments are fine`()
    async throws
  {
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    let cases: [(JSONValue, JSONValue)] = [
      (["pluginSDKVersion:14.0.0", 1], [1]), (["pluginSDKVersion:14.0.0"], []), ([], []),
      ([.null, 2], [.null, 2]), ([3, "pluginSDKVersion:1"], [3, "pluginSDKVersion:1"]),
      (["other", 4], ["other", 4]),
    ]
    for (number, (sent, received)) in cases.enumerated() {
      try await page.send(
        #"{"id":\#(number),"service":"echo","action":"echo","args":\#(sent.text)}"#)
      #expect(await page.response(number)["value"] == received)
    }
    await bridge.close()
  }

  @Test(.covers("HT-29", "SS-235"))
  func `calls of a plug-in that keeps order get responses in order, others overtake`()
    async throws
  {
    let latch = Latch()
    let bridge = try HybridBridge(plugins: [Slow(name: "ordered", keepsOrder: true, latch), Echo()])
    let page = try Page(bridge)
    var ids: [Int] = []
    for _ in 0..<100 { ids.append(try await page.post("ordered", "wait")) }
    let other = try await page.post("echo", "echo")
    #expect(await page.response(other)["status"] == "ok")
    #expect(page.frames.count == 1)
    latch.open()
    for id in ids { _ = await page.response(id) }
    await bridge.close()
    #expect(page.frames.dropFirst().map { $0["id"]?.int64 } == ids.map { Int64($0) })
  }

  @Test
  func `a thousand calls at once all get their response`() async throws {
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    var ids: [Int] = []
    for number in 0..<1_000 {
      ids.append(try await page.post("echo", "echo", .integer(Int64(number))))
    }
    for id in ids { #expect(await page.response(id)["status"] == "ok") }
    await bridge.close()
    #expect(page.frames.count == 1_000)
  }

  @Test
  func `a session accepts no more calls than the limits allow until some have their response`()
    async throws
  {
    let latch = Latch()
    var limits = HybridLimits()
    limits.maxPendingCalls = 3
    let bridge = try HybridBridge(
      plugins: [Slow(name: "slow", keepsOrder: false, latch)], limits: limits)
    let page = try Page(bridge)
    let accepted = Mutex(0)
    let sending = Task {
      for _ in 0..<10 {
        _ = try await page.post("slow", "wait")
        accepted.withLock { $0 += 1 }
      }
    }
    for _ in 0..<200 { await Task.yield() }
    #expect(accepted.withLock { $0 } <= 3)
    latch.open()
    try await sending.value
    await bridge.close()
    #expect(accepted.withLock { $0 } == 10)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a cancelled caller does not wait for room`() async throws {
    let latch = Latch()
    var limits = HybridLimits()
    limits.maxPendingCalls = 1
    let bridge = try HybridBridge(
      plugins: [Slow(name: "slow", keepsOrder: false, latch)], limits: limits)
    let page = try Page(bridge)
    let first = try await page.post("slow", "wait")
    let waiting = Task { try await page.post("slow", "wait") }
    for _ in 0..<200 { await Task.yield() }
    waiting.cancel()
    let error = await #expect(throws: HybridError.self) { try await waiting.value }
    #expect(error?.code == .closed)
    latch.open()
    #expect(await page.response(first)["status"] == "ok")
    await bridge.close()
  }

  @Test
  func `a frame that names no id is refused and the session stays usable`() async throws {
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    for text in [
      "", "{", "[]", "null", "7", "{}", #"{"id":null}"#, #"{"id":[]}"#, "\u{FEFF}{}",
      String(repeating: "[", count: 10_000),
    ] {
      await #expect(throws: HybridError.self) { try await page.send(text) }
    }
    await #expect(throws: HybridError.self) {
      try await page.session.receive([0x22, 0xff, 0x22])
    }
    let long = #"{"id":1,"service":"echo","action":"echo","args":[""#
    await #expect(throws: HybridError.self) {
      try await page.send(long + String(repeating: "x", count: 17 << 20) + #""]}"#)
    }
    #expect(try await page.value("echo", "echo") == [[:]])
    await bridge.close()
  }

  @Test
  func `a call that nests 10,000 levels deep gets an error`() async throws {
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
    try await page.send(#"{"id":"deep","service":"echo","action":"echo","args":[\#(deep)]}"#)
    let response = await page.frame { $0["id"] == "deep" }
    #expect(response["status"] == "error")
    await bridge.close()
  }

  @Test
  func
    `calls that were accepted are carried out after the page went away, and nothing is delivered`()
    async throws
  {
    let latch = Latch()
    let slow = Slow(name: "ordered", keepsOrder: true, latch)
    let bridge = try HybridBridge(plugins: [slow])
    let page = try Page(bridge)
    for _ in 0..<5 { _ = try await page.post("ordered", "wait") }
    page.session.end()
    await #expect(throws: HybridError.self) { _ = try await page.post("ordered", "wait") }
    latch.open()
    await bridge.close()
    #expect(slow.done.withLock { $0 } == 5)
    #expect(slow.ended.withLock { $0 } == 1)
    #expect(page.frames.isEmpty)
    #expect(bridge.sessionCount == 0)
    #expect(throws: HybridError.self) { try Page(bridge) }
  }

  @Test
  func `two plug-ins with the same service are refused`() {
    #expect(throws: HybridError.self) { try HybridBridge(plugins: [Echo(), Echo()]) }
  }

  @Test(.timeLimit(.minutes(2)))
  func `5,000 seeded mutations of frames each get one response with their id, or end their socket`()
    async throws
  {
    let seed = Effort.seed(.random(in: 0..<1_000_000))
    var random = SeededGenerator(seed: seed)
    let bridge = try HybridBridge(plugins: [Echo()])
    let page = try Page(bridge)
    let original = Array(
      #"{"id":12,"service":"echo","action":"echo","args":["pluginSDKVersion:14.0.0",{"a":[1,"é"]}]}"#
        .utf8)
    var ids: [JSONValue] = []
    var refused = 0
    for _ in 0..<Effort.times(5_000) {
      var frame = original
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let at = Int.random(in: 0..<frame.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: frame[at] = UInt8.random(in: 0...255, using: &random)
        case 1: frame.remove(at: at)
        case 2: frame.insert(UInt8.random(in: 0...255, using: &random), at: at)
        default: frame.removeSubrange(at...)
        }
        if frame.isEmpty { frame = [0x7b] }
      }
      do {
        try await page.session.receive(frame)
        ids.append(try JSONSlice(parsing: frame)["id"]?.value ?? .null)
      } catch let error as HybridError {
        #expect([.invalidFrame, .tooLarge].contains(error.code), "seed \(seed)")
        refused += 1
      }
    }
    // A last call: the responses to the mutations may overtake one another, so all are waited for.
    let last = try await page.post("echo", "nothing")
    _ = await page.response(last)
    while page.frames.count < ids.count + 1 {
      try Task.checkCancellation()
      await Task.yield()
    }
    await bridge.close()
    #expect(ids.count > 100 && refused > 100, "seed \(seed)")
    let responses = page.frames.filter { $0["status"] == "ok" || $0["status"] == "error" }
    #expect(responses.count == ids.count + 1, "seed \(seed)")
    let texts = { (values: [JSONValue]) in values.map(\.text).sorted() }
    #expect(
      texts(responses.map { $0["id"] ?? .null }) == texts(ids + [.integer(Int64(last))]),
      "seed \(seed)")
  }
}

/// A plug-in of an app's own.
struct Echo: HybridPlugin {
  let serviceNames = ["echo"]

  func respond(to call: HybridCall) async throws -> HybridValue {
    switch call.action {
    case "echo": return HybridValue(.array(call.arguments.map(\.value)))
    case "nothing": return .none
    case "parts":
      for part in call.arguments { await call.report(HybridValue(part)) }
      return .none
    case "fail":
      throw HybridError(.failed, "failed", value: call.arguments.first?.value)
    default: throw call.invalidAction()
    }
  }
}

/// A plug-in whose calls wait for a latch.
final class Slow: HybridPlugin {
  let serviceNames: [String]
  let keepsOrder: Bool
  let done = Mutex(0)
  let ended = Mutex(0)
  private let latch: Latch

  init(name: String, keepsOrder: Bool, _ latch: Latch) {
    serviceNames = [name]
    self.keepsOrder = keepsOrder
    self.latch = latch
  }

  func respond(to call: HybridCall) async throws -> HybridValue {
    await latch.wait()
    done.withLock { $0 += 1 }
    return .none
  }

  func sessionDidEnd(_ session: HybridSession.ID) async { ended.withLock { $0 += 1 } }
}

/// Holds tasks back until it is opened.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
