import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does a command line keep to an org's demand to lock?
@Suite(.timeLimit(.minutes(2))) struct LockStoryTests {
  private func withLockingOrg(
    _ body: (MockOrg, MockOrgServer) async throws -> Void
  ) async throws {
    var options = MockOrgOptions()
    options.mobilePolicy = MockOrgMobilePolicy(screenLockMinutes: 10, pinLength: 6)
    try await withMockOrg(options, body)
  }

  @Test(.covers("CO-155", "CO-156", "CO-157"))
  func `what an org locks opens with the passcode alone, and locks again`() async throws {
    try await withLockingOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      // The login locks. What shows nothing of the data works.
      for arguments in [
        ["rest", "GET", "/services/data"], ["soup", "list"], ["soup", "list", "--global"],
      ] {
        let failure = try await tool.run(arguments + ["--state", tool.state.path, "--json"])
          .failure()
        #expect(failure["code"]?.string == "screenLocked", "\(arguments)")
      }
      #expect(try await tool.json("accounts")["accounts"]?.array?.count == 1)
      let locked = try await tool.json("lock", "--status")
      #expect(locked["locked"]?.bool == true && locked["timeoutMinutes"]?.int64 == 10)
      #expect(locked["passcodeLength"]?.int64 == 6)
      // A passcode of another length is not created.
      let short = try await tool.failure("unlock", "--passcode", "-", input: "1234\n")
      #expect(short["code"]?.string == "cancelled")
      #expect(
        try await tool.json("unlock", "--passcode", "-", input: "123456\n")["locked"]?.bool == false
      )
      _ = try await tool.json("rest", "GET", "/services/data")
      #expect(try await tool.json("soup", "list")["soups"]?.array?.isEmpty == true)
      #expect(try await tool.json("lock")["locked"]?.bool == true)
      let wrong = try await tool.failure("soup", "list", "--passcode", "-", input: "654321\n")
      #expect(wrong["code"]?.string == "cancelled")
      _ = try await tool.json("soup", "list", "--passcode", "-", input: "123456\n")
      _ = try await tool.json("soup", "list")
      _ = try await tool.json("lock")
      _ = try await tool.json(
        "unlock", "--change", "--passcode", try tool.file("old", "123456\n").at,
        "--new-passcode", try tool.file("new", "111222\n").at)
      #expect(try await tool.json("lock")["locked"]?.bool == true)
      _ = try await tool.json("unlock", "--passcode", "-", input: "111222\n")
      _ = try await tool.json("logout")
      #expect(try await tool.json("lock", "--status")["locked"]?.bool == false)
    }
  }

  @Test(.covers("CO-157"))
  func `wrong passcodes wait, also over the ends of commands`() async throws {
    try await withLockingOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json("unlock", "--passcode", "-", input: "123456\n")
      _ = try await tool.json("lock")
      let start = ContinuousClock.now
      for _ in 0..<2 {
        let wrong = try await tool.failure("unlock", "--passcode", "-", input: "000000\n")
        #expect(wrong["code"]?.string == "cancelled")
      }
      for passcode in ["000000", "123456"] {
        let early = try await tool("unlock", "--passcode", "-", input: "\(passcode)\n")
        // The wait is five seconds, which a busy machine may need for the commands.
        if ContinuousClock.now - start < .seconds(5) {
          #expect(try early.failure()["code"]?.string == "tooEarly")
        } else if early.status == 0 {
          _ = try await tool.json("lock")
        }
      }
      // A timer's job has nothing to do, and a logout works.
      #expect(
        try await tool.json("run", "sync", "accounts")["skipped"]?.string == "the stores are locked"
      )
      _ = try await tool.json("logout")
      #expect(try await tool.json("accounts")["accounts"]?.array?.isEmpty == true)
    }
  }
}

extension String {
  fileprivate var at: String { "@\(self)" }
}
