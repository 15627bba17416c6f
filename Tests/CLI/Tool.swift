import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

/// The built `fieldforce`, run as a process of its own on a state folder of its own.
struct Tool {
  /// The folder that `--state` names; it does not exist at first.
  let state: URL
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    state = folder.file("state")
  }

  /// A place for a test's own files.
  func file(_ name: String, _ text: String) throws -> String {
    let url = folder.file(name)
    try Data(text.utf8).write(to: url)
    return url.path
  }

  /// How a process ended and what it said.
  struct Result {
    let status: Int32
    let output: String
    let errors: String

    /// The one document on standard output.
    func document(_ location: Testing.SourceLocation = #_sourceLocation) throws -> JSONValue {
      #expect(status == 0, "\(errors)", sourceLocation: location)
      return try JSONSlice(parsing: output.trimmed).value
    }

    /// The failure on standard error, which has to be the only thing said.
    func failure(_ location: Testing.SourceLocation = #_sourceLocation) throws -> JSONValue {
      #expect(status == 1, "\(output)", sourceLocation: location)
      let last = errors.trimmed.split(separator: "\n").last ?? ""
      let error = try JSONSlice(parsing: String(last))["error"]?.value
      #expect(error?["message"]?.string?.isEmpty == false, sourceLocation: location)
      return error ?? .null
    }
  }

  /// Runs a command on the state folder.
  func callAsFunction(_ arguments: String..., input: String? = nil) async throws -> Result {
    try await run(arguments + ["--state", state.path], input: input)
  }

  /// Runs a command on the state folder and reads the document that `--json` promises.
  func json(
    _ arguments: String..., input: String? = nil,
    location: Testing.SourceLocation = #_sourceLocation
  ) async throws -> JSONValue {
    try await run(arguments + ["--state", state.path, "--json"], input: input).document(location)
  }

  /// Runs a command on the state folder that has to fail, and reads the error that `--json` promises.
  func failure(
    _ arguments: String..., input: String? = nil,
    location: Testing.SourceLocation = #_sourceLocation
  ) async throws -> JSONValue {
    try await run(arguments + ["--state", state.path, "--json"], input: input).failure(location)
  }

  /// Runs the program with exactly these arguments, to its end.
  func run(_ arguments: [String], input: String? = nil) async throws -> Result {
    // Files instead of pipes: a process never waits for its reader.
    let name = UUID().uuidString
    let output = URL(filePath: try file("\(name).out", ""))
    let errors = URL(filePath: try file("\(name).err", ""))
    let running = try RunningTool(
      arguments,
      input: input == nil
        ? .nullDevice
        : try FileHandle(forReadingFrom: URL(filePath: file("\(name).in", input ?? ""))),
      output: try FileHandle(forWritingTo: output), errors: try FileHandle(forWritingTo: errors))
    return Result(
      status: await running.status(),
      output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }
}

/// A `fieldforce` that runs.
final class RunningTool: Sendable {
  private let process: Process
  private let end: AsyncStream<Int32>

  /// On Linux Foundation may crash when several processes are started at the same instant.
  private static let starting = Mutex(())

  /// Starts the program.
  ///
  /// - Parameter output: A `FileHandle` or a `Pipe`.
  init(_ arguments: [String], input: FileHandle, output: Any, errors: FileHandle) throws {
    let process = Process()
    process.executableURL = try Self.binary()
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    let (end, ending) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { process in
      // A signal that nobody handled counts as shells count it.
      ending.yield(
        process.terminationReason == .exit
          ? process.terminationStatus : 128 + process.terminationStatus)
      ending.finish()
    }
    self.end = end
    self.process = process
    process.environment = ProcessInfo.processInfo.environment
    try Self.starting.withLock { _ in try process.run() }
  }

  deinit { if process.isRunning { process.terminate() } }

  /// Waits for the end.
  func status() async -> Int32 {
    for await status in end { return status }
    return -1
  }

  /// Sends SIGTERM.
  func terminate() { process.terminate() }

  /// Sends SIGINT.
  func interrupt() { process.interrupt() }

  /// The program lies beside the tests.
  private static func binary() throws -> URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let tests = try #require(bundle ?? Bundle.main.executableURL)
    return tests.deletingLastPathComponent().appending(path: "fieldforce")
  }
}

extension String {
  /// Without blanks and line ends around it.
  var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
