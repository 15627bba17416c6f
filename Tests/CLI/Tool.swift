import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

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
    func document(
      status expected: Int32 = 0, _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> JSONValue {
      #expect(status == expected, "\(errors)", sourceLocation: location)
      return try JSONSlice(parsing: output.trimmed).value
    }

    /// The failure on standard error, which has to be the only thing said.
    func failure(_ location: Testing.SourceLocation = #_sourceLocation) throws -> JSONValue {
      #expect(status == 1, "\(output)", sourceLocation: location)
      let error = try JSONSlice(parsing: errors.trimmed)["error"]?.value
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
    _ arguments: String..., input: String? = nil, status: Int32 = 0,
    location: Testing.SourceLocation = #_sourceLocation
  ) async throws -> JSONValue {
    try await run(arguments + ["--state", state.path, "--json"], input: input)
      .document(status: status, location)
  }

  /// Runs a command on the state folder that has to fail, and reads the error that `--json` promises.
  func failure(
    _ arguments: String..., input: String? = nil,
    location: Testing.SourceLocation = #_sourceLocation
  ) async throws -> JSONValue {
    try await run(arguments + ["--state", state.path, "--json"], input: input).failure(location)
  }

  /// Runs the program with exactly these arguments, to its end.
  ///
  /// - Parameter environment: Variables in addition to those of the tests.
  func run(
    _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
  ) async throws -> Result {
    // A file: a pipe breaks if the program ends before it has read what is written to it.
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data((input ?? "").utf8).write(to: file)
    let descriptor = try FileDescriptor.open(FilePath(file.path), .readOnly)
    try FileManager.default.removeItem(at: file)
    let ended = try await Subprocess.run(
      .path(Self.binary()), arguments: Arguments(arguments),
      environment: Self.inheriting(environment),
      input: .fileDescriptor(descriptor, closeAfterSpawningProcess: true),
      output: .string(limit: Self.maxOutput), error: .string(limit: Self.maxOutput))
    return Result(
      status: ended.terminationStatus.shellCode, output: ended.standardOutput,
      errors: ended.standardError)
  }

  /// Logs in with the tokens that a mock org was started with.
  ///
  /// - Returns: The document about the account.
  @discardableResult
  func logIn(to server: MockOrgServer) async throws -> JSONValue {
    let info = server.info
    return try await json(
      "login", "--url", info.url, "--access-token", info.accessToken, "--refresh-token",
      info.refreshToken)
  }

  /// Runs a command on the state folder, and gives each line that it says on standard error to `body`,
  /// until it ends.
  ///
  /// - Parameter path: Where it finds other programs.
  func watch(
    _ arguments: [String], path: String,
    _ body: (String) async throws -> Void
  ) async throws -> Result {
    let ended = try await Subprocess.run(
      .path(Self.binary()), arguments: Arguments(arguments + ["--state", state.path]),
      environment: .inherit.updating(["PATH": path]), input: .none,
      output: .string(limit: Self.maxOutput), error: .sequence
    ) { execution in
      var errors = ""
      do {
        for try await line in execution.standardError.strings() {
          errors += line
          try await body(line)
        }
      } catch {
        try execution.send(signal: .kill)
        throw error
      }
      return errors
    }
    return Result(
      status: ended.terminationStatus.shellCode, output: ended.standardOutput,
      errors: ended.closureResult)
  }

  /// Runs a command on the state folder and kills it when `moment` has returned, if it has not ended
  /// before.
  ///
  /// - Returns: Whether it was killed.
  @discardableResult
  func kill(
    _ arguments: [String], environment: [String: String] = [:], at moment: () async throws -> Void
  ) async throws -> Bool {
    let ended = try await Subprocess.run(
      .path(Self.binary()), arguments: Arguments(arguments + ["--state", state.path]),
      environment: Self.inheriting(environment), input: .none,
      output: .discarded, error: .discarded
    ) { execution in
      // It may be gone already.
      defer { try? execution.send(signal: .kill) }
      try await moment()
    }
    return ended.terminationStatus == .signaled(9)
  }

  /// Starts a command on the state folder and lends it while it runs: what it says on standard error, line by
  /// line, and a way to interrupt it as Ctrl-C does.
  ///
  /// - Returns: The status with which it ended.
  func interrupting(
    _ arguments: String...,
    body: (_ nextLine: () async throws -> String?, _ interrupt: () throws -> Void) async throws ->
      Void
  ) async throws -> Int32 {
    let ended = try await Subprocess.run(
      .path(Self.binary()), arguments: Arguments(arguments + ["--state", state.path]), input: .none,
      output: .discarded, error: .sequence
    ) { execution in
      var lines = execution.standardError.strings().makeAsyncIterator()
      do {
        try await body(
          { try await lines.next() }, { try execution.send(signal: .interrupt) })
      } catch {
        try execution.send(signal: .kill)
        throw error
      }
      while try await lines.next() != nil {}
    }
    return ended.terminationStatus.shellCode
  }

  /// Starts a command on the state folder whose standard input does not end, writes `text` to it, and interrupts it
  /// once it waits for more.
  ///
  /// - Returns: The status with which it ended.
  func interruptedAtInput(_ arguments: [String], after text: String) async throws -> Int32 {
    let ended = try await Subprocess.run(
      .path(Self.binary()), arguments: Arguments(arguments + ["--state", state.path]),
      input: .inputWriter, output: .discarded, error: .discarded
    ) { execution in
      _ = try await execution.standardInputWriter.write(text)
      let process = "/proc/\(execution.processIdentifier.value)"
      try await poll { Self.readsFromPipe(process) }
      try execution.send(signal: .interrupt)
      // The input stays open until the process has ended.
      try await poll {
        let state = try? String(contentsOfFile: process + "/stat", encoding: .utf8)
        return state?.contains(") Z") ?? true
      }
    }
    return ended.terminationStatus.shellCode
  }

  /// Runs the program with exactly these arguments, gives its first line to `body`, sends `signal` and
  /// waits for its end.
  ///
  /// - Parameters:
  ///   - environment: Variables in addition to those of the tests.
  ///   - errors: The file for its standard error. Default: none.
  /// - Returns: The status, and what it said on standard output after the first line.
  static func serve(
    _ arguments: [String], signal: Signal = .terminate, environment: [String: String] = [:],
    errors: String = "/dev/null", _ body: (String) async throws -> Void
  ) async throws -> (status: Int32, rest: [String]) {
    let ended = try await Subprocess.run(
      .path(binary()), arguments: Arguments(arguments), environment: inheriting(environment),
      input: .none, output: .sequence,
      error: .fileDescriptor(
        try FileDescriptor.open(FilePath(errors), .writeOnly, options: .append),
        closeAfterSpawningProcess: true)
    ) { execution in
      var lines = execution.standardOutput.strings().makeAsyncIterator()
      do {
        try await body(try await lines.next() ?? "")
        try execution.send(signal: signal)
      } catch {
        try execution.send(signal: .kill)
        throw error
      }
      var rest: [String] = []
      while let line = try await lines.next() { rest.append(line) }
      return rest
    }
    return (ended.terminationStatus.shellCode, ended.closureResult)
  }

  /// Whether a thread of a process waits for a pipe.
  private static func readsFromPipe(_ process: String) -> Bool {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: process + "/task")) ?? []
    return threads.contains { thread in
      let place = try? String(
        contentsOfFile: "\(process)/task/\(thread)/wchan", encoding: .utf8)
      return place?.contains("pipe") == true
    }
  }

  /// The environment of the tests with some variables more.
  private static func inheriting(_ environment: [String: String]) -> Environment {
    let variables = environment.map { (Environment.Key(stringLiteral: $0.key), Optional($0.value)) }
    return .inherit.updating(Dictionary(uniqueKeysWithValues: variables))
  }

  /// More than any command says.
  private static let maxOutput = 16 << 20

  /// The program lies next to the tests.
  static func binary() throws -> FilePath {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let tests = try #require(bundle ?? Bundle.main.executableURL)
    return FilePath(tests.deletingLastPathComponent().appending(path: "fieldforce").path)
  }
}

extension TerminationStatus {
  /// The status as shells count it: 128 and the number for an unhandled signal.
  fileprivate var shellCode: Int32 {
    switch self {
    case .exited(let code): code
    case .signaled(let signal): 128 + signal
    }
  }
}

extension String {
  /// Without blanks and line ends around it.
  var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
