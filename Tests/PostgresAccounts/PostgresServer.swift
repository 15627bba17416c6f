#if os(Linux)
  import Foundation
  import Subprocess
  import TestSupport
  import Testing

  #if canImport(System)
    import System
  #else
    import SystemPackage
  #endif

  /// A PostgreSQL server of a test's own, on a Unix socket.
  struct PostgresServer: Sendable {
    /// The connection string.
    let address: String
    private let folder: URL
    private let programs: String

    /// The folder with Debian's programs of the server; nil if it is not installed.
    static let programs: String? = {
      let root = "/usr/lib/postgresql"
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
      return versions.sorted().last.map { "\(root)/\($0)/bin" }
    }()

    /// Runs a new server while `body` does.
    static func with(_ body: (PostgresServer) async throws -> Void) async throws {
      let folder = try TemporaryFolder(inMemory: true)
      let server = PostgresServer(
        address: "host=\(folder.url.path) user=app dbname=postgres", folder: folder.url,
        programs: try #require(programs))
      // The server refuses to run as root.
      if geteuid() == 0 { try await server.run("chown", ["postgres", folder.url.path]) }
      try await server.runAsServer(
        "initdb", ["-D", "\(folder.url.path)/data", "-A", "trust", "-U", "app", "--no-sync"])
      try await server.start()
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(server))
      } catch {
        result = .failure(error)
      }
      try await server.stop()
      try result.get()
    }

    /// Starts the server and waits until it accepts connections.
    func start() async throws {
      try await runAsServer(
        "pg_ctl",
        [
          "-D", "\(folder.path)/data", "-w", "-l", "\(folder.path)/log", "-o",
          "-k \(folder.path) -c listen_addresses= -c fsync=off", "start",
        ])
    }

    /// Ends the server and all its connections at once.
    func stop() async throws {
      try await runAsServer("pg_ctl", ["-D", "\(folder.path)/data", "-m", "immediate", "stop"])
    }

    private func runAsServer(_ program: String, _ arguments: [String]) async throws {
      let path = "\(programs)/\(program)"
      guard geteuid() == 0 else { return try await run(path, arguments) }
      try await run("runuser", ["-u", "postgres", "--", path] + arguments)
    }

    private func run(_ program: String, _ arguments: [String]) async throws {
      let executable: Executable =
        program.contains("/") ? .path(FilePath(program)) : .name(program)
      // A server that stays would keep pipes open.
      let result = try await Subprocess.run(
        executable, arguments: Arguments(arguments), workingDirectory: "/", input: .none,
        output: .discarded, error: .discarded)
      try #require(result.terminationStatus.isSuccess, "\(program) \(arguments)")
    }
  }
#endif
