import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing
@testable import CLITests

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// CO-31, CO-98, BX-4: processes are killed while the org rotates refresh tokens and ends the whole
/// session of a token that is used twice.
@Suite struct TokenLossTests {
  private static let rounds = Effort.times(5)
  private static let request = ["rest", "GET", "/limits"]

  /// An org that rotates refresh tokens, and a program that is logged in to it.
  private func withSession(
    forgiving: Bool,
    _ body: (_ org: MockOrg, _ tool: Tool, _ server: MockOrgServer) async throws -> Void
  ) async throws {
    var options = MockOrgOptions()
    options.rotatesRefreshTokens = true
    options.forgivesLostRefreshes = forgiving
    try await withMockOrg(options) { org, server in
      let tool = try Tool()
      try await logIn(tool, server.info)
      try await body(org, tool, server)
    }
  }

  private func logIn(_ tool: Tool, _ info: ConnectionInfo) async throws {
    _ = try await tool.json(
      "login", "--url", info.url, "--access-token", info.accessToken, "--refresh-token",
      info.refreshToken, "--client-id", info.clientId)
  }

  /// What the org says to one who uses a refresh token.
  private func use(_ token: String, _ info: ConnectionInfo) async throws -> WebPage {
    var request = URLRequest(url: try #require(URL(string: info.url + "/services/oauth2/token")))
    request.httpMethod = "POST"
    request.httpBody = Data(
      "grant_type=refresh_token&client_id=\(info.clientId)&refresh_token=\(token)".utf8)
    return try await WebPage.load(request)
  }

  /// The next process works, and so does the one that has to refresh again.
  private func expectUsable(
    _ org: MockOrg, _ tool: Tool, _ comment: Comment,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    for _ in 0..<2 {
      let result = try await tool("rest", "GET", "/limits")
      #expect(result.status == 0, "\(comment): \(result.errors)", sourceLocation: location)
      org.expireAccessTokens()
    }
  }

  @Test(.covers("CO-31", "CO-98", "BX-4"))
  func `no account is locked out by processes that are killed as they refresh`()
    async throws
  {
    try await withSession(forgiving: true) { org, tool, server in
      let info = server.info
      let seed = Effort.seed(.random(in: 0..<1_000_000))
      var random = SeededGenerator(seed: seed)
      // How long a whole run takes here: kills fall anywhere inside, most of them into the refresh.
      let start = ContinuousClock.now
      org.expireAccessTokens()
      _ = try await tool("rest", "GET", "/limits")
      let whole = ContinuousClock.now - start
      for round in 0..<Self.rounds {
        org.expireAccessTokens()
        let delays = (0..<2).map { _ in whole * Double.random(in: 0.2...1.2, using: &random) }
        // Two at once, so that one may find what the other left behind.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for delay in delays {
            group.addTask {
              try await tool.kill(Self.request) { try await Task.sleep(for: delay) }
            }
          }
          try await group.waitForAll()
        }
        let account = try await tool.json("accounts")["accounts"]?[0]
        #expect(account?["userId"]?.string == info.userId, "round \(round), seed \(seed)")
        let result = try await tool("rest", "GET", "/limits")
        #expect(result.status == 0, "round \(round), seed \(seed): \(result.errors)")
      }
      // And yet a token that comes back after its successor was used is a thief's, who ends it all.
      #expect(try await use(info.refreshToken, info).status == 400)
      let ended = try await tool("rest", "GET", "/limits")
      #expect(ended.status == 1)
    }
  }

  @Test(.covers("CO-31", "BX-4"), .timeLimit(.minutes(2)), arguments: [true, false])
  func
    `after a kill between a rotation and its response, an account works if the server forgives reuse`(
      forgives: Bool
    ) async throws
  {
    try await withSession(forgiving: forgives) { org, tool, server in
      let info = server.info
      org.expireAccessTokens()
      let held = HeldResponse(org)
      let isKilled = try await tool.kill(Self.request) {
        // The org has issued a successor, and the client does not know it.
        let successor = try #require(await held.rotated())
        #expect(successor != info.refreshToken)
      }
      held.release()
      #expect(isKilled)
      if forgives { return try await expectUsable(org, tool, "after the kill") }
      // The token that is left counts as stolen. The account and its data stay, for the next login.
      let ended = try await tool("rest", "GET", "/limits")
      #expect(ended.status == 1)
      let account = try await tool.json("accounts")["accounts"]?[0]
      #expect(account?["userId"]?.string == info.userId)
      try await logIn(tool, try #require(server.info(forUser: info.username)))
      try await expectUsable(org, tool, "after the login")
    }
  }

  @Test(.covers("CO-31", "BX-4"), .timeLimit(.minutes(2)))
  func `who is killed after the first write needs no server's mercy`() async throws {
    try await withSession(forgiving: false) { org, tool, _ in
      let store = tool.state.appending(path: FileSecretStore.fileName)
      for round in 0..<Self.rounds {
        org.expireAccessTokens()
        let held = HeldResponse(org)
        var limits: HeldResponse?
        let isKilled = try await tool.kill(Self.request) {
          _ = await held.rotated()
          // The process repeats its request with the new token, and cannot end before that has a response.
          limits = HeldResponse(org, path: "/limits")
          let before = try Data(contentsOf: store)
          held.release()
          // The first change of the file keeps the refresh token.
          try await poll { try Data(contentsOf: store) != before }
        }
        limits?.release()
        #expect(isKilled, "round \(round)")
        try await expectUsable(org, tool, "round \(round)")
      }
    }
  }

  @Test(.covers("CO-31", "BX-4"), .timeLimit(.minutes(2)))
  func `no account is locked out by a kill at any instant after the response`()
    async throws
  {
    try await withSession(forgiving: true) { org, tool, _ in
      let seed = Effort.seed(.random(in: 0..<1_000_000))
      var random = SeededGenerator(seed: seed)
      org.expireAccessTokens()
      let first = HeldResponse(org)
      async let whole = tool("rest", "GET", "/limits")
      _ = await first.rotated()
      let start = ContinuousClock.now
      first.release()
      #expect(try await whole.status == 0)
      // How long a process lives after the response.
      let rest = ContinuousClock.now - start
      for round in 0..<Self.rounds {
        org.expireAccessTokens()
        let held = HeldResponse(org)
        let delay = rest * Double.random(in: 0...1, using: &random)
        try await tool.kill(Self.request) {
          _ = await held.rotated()
          held.release()
          try await Task.sleep(for: delay)
        }
        try await expectUsable(org, tool, "round \(round), seed \(seed)")
      }
    }
  }
}

/// The response to an org's next request of one kind, held back until the test releases it. The org has done what was
/// requested, such as rotating the refresh token.
private struct HeldResponse {
  private let answers = AsyncStream.makeStream(of: [UInt8].self)
  private let door = AsyncStream.makeStream(of: Never.self)

  init(_ org: MockOrg, path: String = "/oauth2/token") {
    let announce = answers.continuation
    let closed = door.stream
    org.add(
      MockOrgFault(
        path: path,
        action: .editedBody { body in
          announce.yield(body)
          announce.finish()
          for await _ in closed {}
          return body
        }))
  }

  /// Waits for the refresh, and returns the refresh token that only the org knows yet.
  func rotated() async -> String? {
    for await body in answers.stream {
      return try? JSONSlice(parsing: body)["refresh_token"]?.string
    }
    return nil
  }

  /// Sends the response.
  func release() { door.continuation.finish() }
}
