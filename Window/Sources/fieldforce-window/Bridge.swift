import Foundation

/// The process `fieldforce hybrid serve`, which knows the accounts and decides what the window shows.
///
/// Used on the main thread alone, which is why it may be passed to the threads that read: they hand it back.
final class Bridge: @unchecked Sendable {
  typealias Message = [String: Any]

  /// The first line: addresses and certificate.
  private(set) var info: Message = [:]
  /// Called with the name and the detail of each event.
  var onEvent: (String, Message) -> Void = { _, _ in }
  /// Called once, when the process has ended.
  var onEnd: (Int32) -> Void = { _ in }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var waiting: [Int: (Message) -> Void] = [:]
  private var lastId = 0
  private var started: (() -> Void)?

  /// Starts the process; `started` is called when it serves.
  ///
  /// - Throws: What `Process` throws.
  init(_ program: URL, _ arguments: [String], started: @escaping () -> Void) throws {
    self.started = started
    process.executableURL = program
    process.arguments = arguments
    // The engine's processes would keep them open, and the bridge would never see the end of its input.
    for handle in [
      input.fileHandleForReading, input.fileHandleForWriting, output.fileHandleForReading,
      output.fileHandleForWriting,
    ] {
      _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let handle = output.fileHandleForReading
    let thread = Thread { [self] in
      readLines(of: handle) { line in MainThread.run { [self] in receive(line) } }
      let status = waitForEnd()
      MainThread.run { [self] in onEnd(status) }
    }
    thread.start()
  }

  /// Waits until the process has ended. `Process` itself notices that only on a thread whose run loop runs, and the main
  /// thread runs GTK's.
  private func waitForEnd() -> Int32 {
    var status: Int32 = 0
    while waitpid(process.processIdentifier, &status, 0) == -1 {
      guard errno != EINTR else { continue }
      // `Process` was first; it has the status.
      for _ in 0..<500 where process.isRunning { usleep(10_000) }
      return process.isRunning ? 0 : process.terminationStatus
    }
    // An exit with a status, or the end by a signal.
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Calls an action of the container. `then` gets its value, or `{"error"}`.
  func call(
    _ action: String, _ argument: Message = [:], then: @escaping (Message) -> Void = { _ in }
  ) {
    lastId += 1
    waiting[lastId] = then
    let frame: Message = [
      "id": lastId, "service": "fieldforce.container", "action": action, "args": [argument],
    ]
    guard var data = try? JSONSerialization.data(withJSONObject: frame) else { return }
    data.append(UInt8(ascii: "\n"))
    // The process may have ended; then there is no one left to respond to.
    try? input.fileHandleForWriting.write(contentsOf: data)
  }

  /// Ends the process: it serves until its input ends.
  func stop() { try? input.fileHandleForWriting.close() }

  private func receive(_ line: Data) {
    guard let frame = try? JSONSerialization.jsonObject(with: line) as? Message else { return }
    if let started {
      info = frame
      self.started = nil
      return started()
    }
    if let event = frame["event"] as? String {
      return onEvent(event, frame["detail"] as? Message ?? [:])
    }
    guard let id = frame["id"] as? Int, let then = waiting.removeValue(forKey: id) else { return }
    if frame["status"] as? String == "ok" {
      then(frame["value"] as? Message ?? [:])
    } else {
      then(["error": frame["value"] as? String ?? "The call failed."])
    }
  }
}

/// Reads lines until the end of a stream; blocks.
func readLines(of handle: FileHandle, _ body: (Data) -> Void) {
  var rest = Data()
  while true {
    let more = handle.availableData
    if more.isEmpty { return }
    rest += more
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      body(Data(rest[rest.startIndex..<end]))
      rest = Data(rest[(end + 1)...])
    }
  }
}
