import Foundation
import Testing
import TestSupport

@testable import SalesforceMockOrg

@Suite struct FaultFileTests {
  @Test func `a file of rules acts in its order`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("faults.json")
    try Data(
      #"""
      [{"method":"get","path":"/limits","skip":1,"status":503,"body":"busy"},
      {"delayMilliseconds":1,"count":null},{"drop":"before"},{"drop":"after"},
      {"truncateAt":5},{"replaceBody":"x"},{"garbage":true},{"session":"expired"},{"session":"revoked"}]
      """#.utf8
    ).write(to: file)
    let org = try OrgUnderTest().org
    try org.load(faults: file)
    func kind(_ target: String) -> String {
      switch org.script.action(
        for: OrgRequest(method: "GET", target: target), target: target)?.kind
      {
      case .status(let status, _, _)?: "\(status)"
      case .delay?: "delay"
      case let other?: "\(other)"
      case nil: "none"
      }
    }
    // The first rule lets one request pass, which the second then hits, for ever.
    #expect(kind("/limits") == "delay")
    #expect(kind("/limits") == "503")
    #expect(kind("/limits") == "delay")
    #expect(kind("/other") == "delay")
    org.removeAllFaults()
    #expect(kind("/limits") == "none")
  }

  @Test func `numbers at the ends of their range cause no crash`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("faults.json")
    let rules = "[{\"skip\":\(Int.max),\"status\":500},{\"skip\":\(Int.min),\"status\":503}]"
    try Data(rules.utf8).write(to: file)
    let org = try OrgUnderTest().org
    try org.load(faults: file)
    let action = org.script.action(for: OrgRequest(method: "GET", target: "/"), target: "/")
    guard case .status(503, _, _)? = action?.kind else {
      Issue.record("\(String(describing: action))")
      return
    }
  }

  @Test(arguments: [
    "{}", "[{}]", "[1]", #"[{"status":99}]"#, #"[{"drop":"maybe"}]"#, "[",
    #"[{"status":500,"paht":"/query"}]"#,
  ])
  func `a file that is none is refused and adds nothing`(text: String) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("faults.json")
    try Data(text.utf8).write(to: file)
    let org = try OrgUnderTest().org
    #expect(throws: MockOrgError.self) { try org.load(faults: file) }
    let action = org.script.action(for: OrgRequest(method: "GET", target: "/"), target: "/")
    #expect(action.map { _ in true } == nil)
  }

  @Test func `who only reads waits for no lock`() throws {
    let org = try OrgUnderTest().org
    org.add(MockOrgFault(object: "Account", action: .rowLock))
    let path = "/services/data/v66.0/sobjects/Account"
    func name(_ method: String) -> String? {
      org.script.action(for: OrgRequest(method: method, target: path), target: path)?.name
    }
    #expect(name("GET") == nil)
    #expect(name("POST") == "row lock")
  }
}
