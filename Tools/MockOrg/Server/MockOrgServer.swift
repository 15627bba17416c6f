public import struct Foundation.URL
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Serves an org over HTTP on this machine.
///
/// It listens when ``start(_:host:port:)`` returns, and until ``stop()`` is called, whether or not
/// somebody still holds the value.
public final class MockOrgServer: Sendable {
  /// The org that answers.
  public let org: MockOrg
  /// Where it listens.
  public let url: URL
  /// What a client needs to work with it.
  public let info: ConnectionInfo

  private let services: ServiceGroup
  private let task: Task<Void, any Error>

  /// How long connections may take to end before they are cut.
  private static let patience: Duration = .seconds(2)

  private init(
    org: MockOrg, url: URL, info: ConnectionInfo, services: ServiceGroup,
    task: Task<Void, any Error>
  ) {
    self.org = org
    self.url = url
    self.info = info
    self.services = services
    self.task = task
  }

  /// Starts a server and returns once it listens.
  ///
  /// - Parameter port: 0 takes a free port.
  /// - Throws: ``MockOrgError`` `notListening`, as when the port is taken.
  public static func start(
    _ org: MockOrg, host: String = "127.0.0.1", port: Int = 0
  ) async throws(MockOrgError) -> MockOrgServer {
    let (events, sink) = AsyncStream.makeStream(of: Result<Int, any Error>.self)
    var logger = Logger(label: "fieldforce.mock-org.server")
    logger.logLevel = .critical
    let application = Application(
      responder: OrgResponder(org: org),
      configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
      onServerRunning: { channel in sink.yield(.success(channel.localAddress?.port ?? port)) },
      logger: logger)
    let services = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: [application], logger: logger))
    let task = Task {
      do {
        try await services.run()
        sink.finish()
      } catch {
        sink.yield(.failure(error))
        sink.finish()
        throw error
      }
    }
    // Apart from the caller's task: a start that is cancelled must not leave a server behind.
    let first = await Task { await events.first { _ in true } }.value
    switch first {
    case .success(let port)?:
      let address = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
      guard let url = URL(string: address) else {
        await services.triggerGracefulShutdown()
        throw MockOrgError(.notListening, "\(host) is no host name.")
      }
      return MockOrgServer(
        org: org, url: url, info: org.connectionInfo(address), services: services, task: task)
    case .failure(let error)?:
      throw MockOrgError(
        .notListening, "The org cannot listen on \(host):\(port). Choose another port.",
        cause: error)
    case nil:
      throw MockOrgError(.notListening, "The org's server ended before it listened.")
    }
  }

  /// Stops listening and closes all connections; returns when both are done, or after a few seconds if
  /// a connection does not end.
  ///
  /// The server is asked to end before it is cancelled: one that is cancelled in the midst of accepting
  /// a connection ends the process.
  public func stop() async {
    await services.triggerGracefulShutdown()
    if await hasEnded(within: Self.patience) { return }
    task.cancel()
    _ = await hasEnded(within: Self.patience)
  }

  /// Waits for the server's end, but no longer than `limit`.
  private func hasEnded(within limit: Duration) async -> Bool {
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    let watch = Task { [task] in
      _ = await task.result
      answer.yield(true)
    }
    let fuse = Task {
      try await Task.sleep(for: limit)
      answer.yield(false)
    }
    defer {
      watch.cancel()
      fuse.cancel()
    }
    // Apart from the caller's task, which may be cancelled already when it stops the server.
    return await Task { await answers.first { _ in true } }.value ?? true
  }

  /// Runs `body` while a server serves `org`.
  public static func withServer<R>(
    _ org: MockOrg, host: String = "127.0.0.1", port: Int = 0,
    _ body: (MockOrgServer) async throws -> R
  ) async throws -> R {
    let server = try await start(org, host: host, port: port)
    do {
      let result = try await body(server)
      await server.stop()
      return result
    } catch {
      await server.stop()
      throw error
    }
  }
}

/// Runs `body` with a fresh org and a server for it.
public func withMockOrg<R>(
  _ options: MockOrgOptions = MockOrgOptions(),
  _ body: (MockOrg, MockOrgServer) async throws -> R
) async throws -> R {
  let org = try MockOrg(options)
  return try await MockOrgServer.withServer(org) { try await body(org, $0) }
}

extension MockOrg {
  /// What a client needs to know when the org is reached at `address`; its tokens are new.
  fileprivate func connectionInfo(_ address: String) -> ConnectionInfo {
    // No app asked for this one: `fieldforce login --access-token` may renew it as well as any other.
    let refresh = sessions.makeRefreshToken(userID: userID, clientID: nil)
    return ConnectionInfo(
      url: address, instanceUrl: address, apiVersion: "\(RESTService.versions.upperBound).0",
      accessToken: sessions.open(
        userID: userID, clientID: options.clientId, refreshToken: refresh, now: options.clock.now),
      refreshToken: refresh, username: options.user.username, password: options.user.password,
      clientId: options.clientId, clientSecret: options.clientSecret,
      redirectUri: options.redirectURI, userId: userID, organizationId: organizationID)
  }
}
