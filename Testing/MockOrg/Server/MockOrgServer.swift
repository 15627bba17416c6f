public import struct Foundation.URL
import LocalServer
import SalesforceSDKCommon

/// An HTTP server for an org on this machine.
///
/// It listens when ``start(_:host:port:)`` returns, and until ``stop()`` is called, whether or not
/// the value is still referenced.
public final class MockOrgServer: Sendable {
  /// The org that is served.
  public let org: MockOrg
  /// Where it listens.
  public let url: URL
  /// What a client needs to work with it.
  public let info: ConnectionInfo

  private let server: LocalServer

  private init(org: MockOrg, url: URL, info: ConnectionInfo, server: LocalServer) {
    self.org = org
    self.url = url
    self.info = info
    self.server = server
  }

  /// Starts a server and returns once it listens.
  ///
  /// - Parameter host: A loopback address; others are refused.
  /// - Parameter port: 0 takes a free port.
  /// - Throws: ``MockOrgError`` `notListening`, as when the port is taken.
  public static func start(
    _ org: MockOrg, host: String = "127.0.0.1", port: Int = 0
  ) async throws(MockOrgError) -> MockOrgServer {
    try await start(org, host: host, port: port, limits: ServerLimits())
  }

  /// Whether the org may listen on a host: it serves this machine alone.
  package static func canListen(on host: String) -> Bool {
    URL(string: "http://\(bracketed(host))")?.isLoopback == true
  }

  private static func bracketed(_ host: String) -> String {
    host.contains(":") ? "[\(host)]" : host
  }

  static func start(
    _ org: MockOrg, host: String, port: Int, limits: ServerLimits
  ) async throws(MockOrgError) -> MockOrgServer {
    guard canListen(on: host) else {
      throw MockOrgError(
        .notListening, "The org listens on loopback addresses alone, not on \(host).")
    }
    let server: LocalServer
    do {
      server = try await LocalServer.start(
        OrgResponder(org: org), host: host, port: port, limits: limits,
        date: { [clock = org.options.clock] in clock.httpText })
    } catch {
      throw MockOrgError(
        .notListening, "The org cannot listen on \(host):\(port). Choose another port.",
        cause: error)
    }
    let address = "http://\(bracketed(host)):\(server.port)"
    guard let url = URL(string: address) else {
      await server.stop()
      throw MockOrgError(.notListening, "\(host) is no host name.")
    }
    return MockOrgServer(org: org, url: url, info: org.connectionInfo(address), server: server)
  }

  /// What a client needs to work as one of the org's users, with tokens of their own; nil if no user has
  /// that username. The control endpoint does not open to these tokens.
  public func info(forUser username: String) -> ConnectionInfo? {
    org.users.first { $0.username.lowercased() == username.lowercased() }
      .map { org.connectionInfo(info.url, of: $0) }
  }

  /// Stops listening and closes all connections; returns when both are done, or after a few seconds if
  /// a connection does not end.
  public func stop() async { await server.stop() }

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
  /// What a client needs to know when the org is reached at `address`; its tokens are new, and the access
  /// token opens the control endpoint.
  fileprivate func connectionInfo(_ address: String) -> ConnectionInfo {
    let info = connectionInfo(address, of: users[0])
    control.admit(info.accessToken)
    control.serve(at: info.instanceUrl)
    return info
  }

  fileprivate func connectionInfo(_ address: String, of user: LoginUser) -> ConnectionInfo {
    // No app asked for this one: `fieldforce login --access-token` may renew it as well as any other.
    let refresh = sessions.makeRefreshToken(userID: user.id, clientID: nil)
    let access = sessions.open(
      userID: user.id, clientID: options.clientId, refreshToken: refresh, now: options.clock.now)
    return ConnectionInfo(
      url: address, instanceUrl: options.instanceAddress ?? address,
      apiVersion: "\(RESTVersions.known.upperBound).0",
      accessToken: access, refreshToken: refresh, username: user.username, password: user.password,
      clientId: options.clientId, clientSecret: options.clientSecret,
      redirectUri: options.redirectURI, userId: user.id, organizationId: organizationID,
      pageUrl: user.id == users[0].id ? "\(address)/?key=\(control.pageKey)" : "\(address)/")
  }
}
