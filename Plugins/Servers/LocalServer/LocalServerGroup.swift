package import Hummingbird
import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One HTTP server on several addresses of this machine, with the same port on each.
package struct LocalServerGroup: Sendable {
  /// The port that it took.
  package let port: Int
  private let servers: [LocalServer]

  /// The number of attempts to find a port that is free on all addresses.
  private static let maxTries = 5

  /// Starts a server and returns once it listens, cancelled or not; it serves until ``stop()``.
  ///
  /// - Parameter hosts: The first has to be there; another that this machine has not is left out.
  /// - Parameter port: 0 takes a port that is free on all of them.
  /// - Parameter onListening: Hears the port before the first request can come.
  /// - Throws: The system's error, as when the port is taken on one of them.
  package static func start<Responder: HTTPResponder>(
    _ responder: Responder, hosts: [String], port: Int,
    onListening: @escaping @Sendable (_ port: Int) -> Void
  ) async throws -> LocalServerGroup
  where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    precondition(!hosts.isEmpty, "a server needs an address")
    var tries = 0
    while true {
      tries += 1
      let first = try await LocalServer.start(
        responder, host: hosts[0], port: port, onListening: onListening)
      var servers = [first]
      do {
        for host in hosts.dropFirst() {
          do {
            servers.append(try await LocalServer.start(responder, host: host, port: first.port))
          } catch let error as IOError where isMissing(error) {
            continue
          }
        }
        return LocalServerGroup(port: first.port, servers: servers)
      } catch {
        for server in servers { await server.stop() }
        guard port == 0, tries < maxTries else { throw error }
      }
    }
  }

  /// Stops listening on all addresses, as ``LocalServer/stop()``.
  package func stop() async {
    for server in servers { await server.stop() }
  }

  /// Whether the machine has no such address, or none of its kind.
  private static func isMissing(_ error: IOError) -> Bool {
    [EADDRNOTAVAIL, EAFNOSUPPORT, EPROTONOSUPPORT].contains(error.errnoCode)
  }
}
