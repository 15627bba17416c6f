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
      #expect(short["code"]?.string == "refused")
      #expect(short["message"]?.string?.contains("6 digits") == true)
      #expect(
        try await tool.json("unlock", "--passcode", "-", input: "123456\n")["locked"]?.bool == false
      )
      _ = try await tool.json("rest", "GET", "/services/data")
      #expect(try await tool.json("soup", "list")["soups"]?.array?.isEmpty == true)
      #expect(try await tool.json("lock")["locked"]?.bool == true)
      let wrong = try await tool.failure("soup", "list", "--passcode", "-", input: "654321\n")
      #expect(wrong["code"]?.string == "refused")
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

  @Test(
    .covers("CO-157"),
    arguments: ["1", "12345", "1234567", "abcdef", "12 456", "１２３４５６", "000000"])
  func `a passcode that is not the stored one is refused once, whatever its form`(
    wrong: String
  ) async throws {
    try await withLockingOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json("unlock", "--passcode", "-", input: "123456\n")
      _ = try await tool.json("lock")
      let option = ["--passcode", try tool.file("wrong", wrong).at]
      let new = ["--new-passcode", try tool.file("new", "111222").at]
      for arguments in [["soup", "list"], ["unlock"], ["unlock", "--change"] + new] {
        let failure = try await tool.run(
          arguments + option + ["--state", tool.state.path, "--json"]
        ).failure()
        // The third wrong passcode of the right length has to wait.
        #expect(["refused", "tooEarly"].contains(failure["code"]?.string), "\(arguments)")
      }
      #expect(try await tool.json("lock", "--status")["locked"]?.bool == true)
    }
  }

  @Test(.covers("CO-157"))
  func `where the org demands a longer passcode, a change gives one, and nothing else does`()
    async throws
  {
    let tool = try Tool()
    var options = MockOrgOptions()
    options.mobilePolicy = MockOrgMobilePolicy(screenLockMinutes: 10, pinLength: 4)
    var strict = MockOrgUser(username: "ted@x.example", firstName: "Ted", lastName: "Tech")
    strict.identityPolicy = MockOrgIdentityPolicy()
    strict.identityPolicy?.mobilePolicy = MockOrgMobilePolicy(screenLockMinutes: 10, pinLength: 6)
    options.otherUsers = [strict]
    try await withMockOrg(options) { _, server in
      try await tool.logIn(to: server)
      _ = try await tool.json("unlock", "--passcode", "-", input: "1234\n")
      let ted = try #require(server.info(forUser: "ted@x.example"))
      _ = try await tool.json(
        "login", "--url", ted.url, "--access-token", ted.accessToken, "--refresh-token",
        ted.refreshToken)
      #expect(try await tool.json("lock")["passcodeLength"]?.int64 == 6)
      let old = try await tool.failure("unlock", "--passcode", "-", input: "1234\n")
      #expect(old["code"]?.string == "refused")
      #expect(old["message"]?.string?.contains("--new-passcode") == true)
      for (former, new) in [("123456", "123456"), ("1234", "4321"), ("1234", "12345x")] {
        let failure = try await tool.failure(
          "unlock", "--change", "--passcode", try tool.file("old", former).at,
          "--new-passcode", try tool.file("new", new).at)
        #expect(failure["code"]?.string == "refused", "\(former) \(new)")
      }
      let changed = try await tool.json(
        "unlock", "--change", "--passcode", try tool.file("old", "1234").at,
        "--new-passcode", try tool.file("new", "654321").at)
      #expect(changed["locked"]?.bool == false)
      _ = try await tool.json("lock")
      _ = try await tool.json("unlock", "--passcode", "-", input: "654321\n")
    }
  }

  @Test(.covers("CO-154", "CO-155"))
  func `the policy of a setup file locks after a login at an org that the shell serves`()
    async throws
  {
    let tool = try Tool()
    let setup = try tool.file(
      "setup.json", #"{"identity": {"mobile_policy": {"screen_lock": 7, "pin_length": 8}}}"#)
    let (status, _) = try await Tool.serve(["org", "serve", "--setup", setup]) { line in
      let info = try JSONSlice(parsing: line)
      let token = try tool.file("token", info["accessToken"]?.string ?? "")
      _ = try await tool.json(
        "login", "--url", info["url"]?.string ?? "", "--access-token", token.at)
      let locked = try await tool.json("lock", "--status")
      #expect(locked["locked"]?.bool == true && locked["timeoutMinutes"]?.int64 == 7)
      #expect(locked["passcodeLength"]?.int64 == 8)
    }
    #expect(status == 0)
    let misspelt = try tool.file("misspelt.json", #"{"identity": {"mobile_polcy": {}}}"#)
    let refused = try await tool.run(["org", "serve", "--setup", misspelt])
    #expect(refused.status == 1 && refused.errors.contains("'mobile_polcy'"))
  }

  @Test(.covers("CO-155"))
  func `a login locks the next command, although the last one is recent`() async throws {
    try await withLockingOrg { org, server in
      let tool = try Tool()
      for _ in 0..<2 {
        try await tool.logIn(to: server)
        #expect(try await tool.json("lock", "--status")["locked"]?.bool == true)
        #expect(try await tool.failure("soup", "list")["code"]?.string == "screenLocked")
        _ = try await tool.json("unlock", "--passcode", "-", input: "123456\n")
        _ = try await tool.json("soup", "list")
      }
    }
  }

  @Test(.covers("CO-157"))
  func `a change where there is no passcode yet creates the new one`() async throws {
    try await withLockingOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "unlock", "--change", "--passcode", try tool.file("old", "123456").at,
        "--new-passcode", try tool.file("new", "111222").at)
      _ = try await tool.json("lock")
      _ = try await tool.json("unlock", "--passcode", "-", input: "111222\n")
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
        #expect(wrong["code"]?.string == "refused")
      }
      for passcode in ["000000", "123456"] {
        let early = try await tool("unlock", "--passcode", "-", "--json", input: "\(passcode)\n")
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
