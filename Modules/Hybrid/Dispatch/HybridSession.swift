public import SalesforceSDKCommon
import Synchronization

/// The connection of one page to a ``HybridBridge``: frames go in, responses and events come out.
public final class HybridSession: Sendable, Identifiable {
  /// The identity of a session within its bridge.
  public struct ID: Sendable, Hashable {
    private let number: Int
    init(_ number: Int) { self.number = number }
  }

  /// The session's number in its bridge.
  public let id: ID

  let bridge: HybridBridge
  private let send: @Sendable ([UInt8]) async -> Void
  private let state = Mutex(State())

  private typealias Job = @Sendable () async -> Void

  private struct State {
    var hasEnded = false
    var calls = 0
    var bytes = 0
    /// The queues of the plug-ins that keep order, by the plug-in's number.
    var queues: [Int: AsyncStream<Job>.Continuation] = [:]
    /// The work to run after responses that are not sent yet.
    var following: [[UInt8]: [@Sendable (HybridSession) async -> Void]] = [:]
    /// The callers that wait to hand in the next frame.
    var receivers: [CheckedContinuation<Void, Never>] = []
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    /// Whether the last call was carried out after the end.
    var isOver = false
    /// Whether the plug-ins have released what they kept for the session.
    var isReleased = false

    mutating func takeReceivers() -> [CheckedContinuation<Void, Never>] {
      defer { receivers = [] }
      return receivers
    }
  }

  init(id: ID, bridge: HybridBridge, send: @escaping @Sendable ([UInt8]) async -> Void) {
    self.id = id
    self.bridge = bridge
    self.send = send
  }

  // MARK: Frames

  /// Accepts one frame of the page. Returns before the call is executed; suspends while the pending
  /// calls exceed the limits.
  ///
  /// - Throws: ``HybridError`` `invalidFrame` or `tooLarge` if the frame names no id to respond to,
  ///   `closed` after the session ended, or if the task was cancelled while it waited. The session
  ///   stays usable; the transport ends the connection.
  public func receive(_ frame: [UInt8]) async throws(HybridError) {
    guard await waitForRoom() else {
      throw HybridError(
        .closed, "The connection ended before the call was accepted. Connect again.")
    }
    let parsed = try HybridFrame.parse(frame, limits: bridge.limits)
    guard begin(bytes: frame.count) else {
      throw HybridError(.closed, "The session has ended. Connect again.")
    }
    switch parsed {
    case .refused(let id, let error):
      run(nil) { [self] in
        await deliver(HybridResponse.text(id: id, .error, HybridValue(error.value)))
        finish(bytes: frame.count)
      }
    case .call(let call):
      let service = bridge.services[call.service]
      bridge.noteVersion(call.version)
      let userNumber = bridge.userNumber
      run(service) { [self] in
        await respond(call, service?.plugin, userNumber)
        finish(bytes: frame.count)
      }
    }
  }

  /// Sends an event to the page, after the frames that were delivered before. If the page is gone, all other
  /// pages receive it: one of them may be the same page, loaded again.
  public func send(event name: String, detail: JSONValue) async {
    if state.withLock({ $0.hasEnded }) {
      await bridge.send(event: name, detail: detail)
    } else {
      await deliver(HybridResponse.event(name, detail))
    }
  }

  /// Ends the session. Accepted calls are still executed, but nothing more is delivered.
  public func end() {
    let (queues, receivers) = state.withLock { state in
      let ended = (state.queues, state.takeReceivers())
      state.hasEnded = true
      state.queues = [:]
      return ended
    }
    for queue in queues.values { queue.finish() }
    for receiver in receivers { receiver.resume() }
    releaseIfOver()
  }

  /// Waits until the session has ended and its last call was carried out.
  func waitUntilEnded() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isReleased { state.waitingForEnd.append(continuation) }
        return state.isReleased
      }
      if isOver { continuation.resume() }
    }
  }

  // MARK: Calls

  private func respond(
    _ frame: HybridFrame, _ plugin: (any HybridPlugin)?, _ userNumber: Int
  ) async {
    let stopwatch = CallStopwatch()
    var response: [UInt8]
    var isRefused = false
    do {
      guard let plugin else {
        throw HybridError(
          .invalidAction, "invalid action: there is no service \(frame.service).")
      }
      let call = HybridCall(
        service: frame.service, action: frame.action, arguments: frame.arguments, session: id,
        pluginNames: bridge.pluginNames, maxValueBytes: maxValueBytes(frame.id), id: frame.id,
        owner: self, userNumber: userNumber)
      let value = try await plugin.respond(to: call)
      response = HybridResponse.text(id: frame.id, .ok, value)
      guard response.count <= bridge.limits.maxFrameBytes else {
        throw HybridError(
          .tooLarge,
          "The result of \(frame.action) has \(response.count) bytes, more than the limit of \(bridge.limits.maxFrameBytes). Request less at once."
        )
      }
    } catch {
      isRefused = true
      response = HybridResponse.text(id: frame.id, .error, HybridValue(HybridError(error).value))
    }
    stopwatch?.log(frame, isRefused ? .error : .ok, bytes: response.count)
    await deliver(response)
    startFollowers(of: frame.id)
  }

  private func maxValueBytes(_ id: [UInt8]) -> Int {
    bridge.limits.maxFrameBytes - HybridResponse.text(id: id, .ok, .none).count - 16
  }

  /// Sends a frame unless the session has ended.
  func deliver(_ frame: [UInt8]) async {
    guard !state.withLock({ $0.hasEnded }) else { return }
    await send(frame)
  }

  /// Defers `work` until the response to the call with this id is sent.
  func follow(_ id: [UInt8], _ work: @escaping @Sendable (HybridSession) async -> Void) {
    state.withLock { $0.following[id, default: []].append(work) }
  }

  private func startFollowers(of id: [UInt8]) {
    let works = state.withLock { $0.following.removeValue(forKey: id) } ?? []
    for work in works { bridge.start { [self] in await work(self) } }
  }

  // MARK: Order and limits

  private func isFull(_ state: State) -> Bool {
    state.calls >= bridge.limits.maxPendingCalls || state.bytes >= bridge.limits.maxPendingBytes
  }

  /// Waits until the limits allow another call, or the session has ended; false if the task was cancelled first.
  ///
  /// A page that reads nothing never makes room: without the cancellation, its server could not stop.
  private func waitForRoom() async -> Bool {
    await withTaskCancellationHandler {
      repeat {
        await withCheckedContinuation { continuation in
          let mustWait = state.withLock { state in
            // A cancellation from here on finds the receiver in the list.
            guard !state.hasEnded, isFull(state), !Task.isCancelled else { return false }
            state.receivers.append(continuation)
            return true
          }
          if !mustWait { continuation.resume() }
        }
        if state.withLock({ $0.hasEnded || !isFull($0) }) { return true }
      } while !Task.isCancelled
      return false
    } onCancel: {
      for receiver in state.withLock({ $0.takeReceivers() }) { receiver.resume() }
    }
  }

  /// Counts a call; false if the session has ended.
  private func begin(bytes: Int) -> Bool {
    state.withLock { state in
      guard !state.hasEnded else { return false }
      state.calls += 1
      state.bytes += bytes
      return true
    }
  }

  private func finish(bytes: Int) {
    let receivers = state.withLock { state in
      state.calls -= 1
      state.bytes -= bytes
      return isFull(state) ? [] : state.takeReceivers()
    }
    for receiver in receivers { receiver.resume() }
    releaseIfOver()
  }

  /// Runs `job`, after the service's earlier jobs if the service keeps their order.
  private func run(_ service: HybridBridge.Service?, _ job: @escaping Job) {
    guard let service, service.plugin.keepsOrder else {
      Task { await job() }
      return
    }
    let queue = state.withLock { state -> AsyncStream<Job>.Continuation? in
      if let known = state.queues[service.number] { return known }
      guard !state.hasEnded else { return nil }
      let (jobs, queue) = AsyncStream.makeStream(of: Job.self)
      state.queues[service.number] = queue
      Task { for await job in jobs { await job() } }
      return queue
    }
    // The session ended after the call was counted, so its queue accepts no jobs.
    if case .terminated? = queue?.yield(job) { Task { await job() } }
    if queue == nil { Task { await job() } }
  }

  /// Makes the plug-ins release their objects, once the session has ended and its last call has
  /// finished.
  private func releaseIfOver() {
    let isOver = state.withLock { state in
      guard state.hasEnded, state.calls == 0, !state.isOver else { return false }
      state.isOver = true
      return true
    }
    guard isOver else { return }
    Task { [self] in
      for plugin in bridge.plugins { await plugin.sessionDidEnd(id) }
      bridge.forget(id)
      let waiting = state.withLock { state in
        defer { state.waitingForEnd = [] }
        state.isReleased = true
        return state.waitingForEnd
      }
      for continuation in waiting { continuation.resume() }
    }
  }
}
