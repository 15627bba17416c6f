import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-100 to CO-104, BX-30: the list of login servers.
@Suite struct LoginHostTests {
  private func server(_ address: String) throws -> LoginServer { try LoginServer(address) }

  @Test(.covers("CO-100.1"))
  func `production and sandbox come first and stay`() throws {
    var list = LoginHostList()
    #expect(list.hosts.map(\.name) == ["Production", "Sandbox"])
    #expect(list.hosts.map(\.server.domain) == ["login.salesforce.com", "test.salesforce.com"])
    #expect(list.selected == .production)
    list.remove(.sandbox)
    #expect(list.hosts.count == 2)
    let host = LoginHost(name: "  ", server: try server("https://acme.my.salesforce.com/"))
    #expect(host.name == "acme.my.salesforce.com")
  }

  @Test(.covers("CO-100.1"))
  func `two spellings of a host are one login server`() throws {
    let typed = try server(" HTTPS://Acme.My.Salesforce.com/Portal/ ")
    #expect(try typed == server("acme.my.salesforce.com/Portal"))
    #expect(typed.url.absoluteString == "https://acme.my.salesforce.com/Portal")
    #expect(try typed != server("acme.my.salesforce.com/portal"))
  }

  @Test(.covers("CO-101.1", "BX-28.2"))
  func `an app's own come first, managed ones can be all there are`() throws {
    let own = LoginHost(name: "Own", server: try server("own.my.salesforce.com"))
    let managed = LoginHost(name: "Managed", server: try server("m.my.salesforce.com"))
    #expect(
      LoginHostList(declared: [own], managed: [managed, .sandbox]).hosts
        == [own, .production, .sandbox, managed])
    #expect(LoginHostList(declared: [own]).selected == own)
    #expect(LoginHostList(declared: [own], showsBuiltIn: false).hosts == [own])
    var only = LoginHostList(declared: [own], managed: [managed], onlyManaged: true)
    #expect(only.hosts == [managed] && only.selected == managed)
    let isAdded = only.add(own), isSelected = only.select(own.server)
    #expect(!isAdded && !isSelected && only.hosts == [managed])
    // Without any there is still somewhere to log in.
    #expect(LoginHostList(showsBuiltIn: false).selected == .production)
  }

  @Test(.covers("CO-101.2", "CO-40.4"))
  func `a file of the app's names its servers`() throws {
    let list = try LoginHost.list(
      parsing: Array(#"[{"name":"A","url":"https://a.my.salesforce.com"},{"url":"b.c"}]"#.utf8))
    #expect(list.map(\.name) == ["A", "b.c"])
    #expect(list.allSatisfy { !$0.isDeletable })
    for (text, number) in [
      ("{}", 681), ("[{}]", 681), ("x", 681), (#"[{"url":"http://a.b"}]"#, 685),
    ] {
      let error = #expect(throws: OAuthError.self) {
        try LoginHost.list(parsing: Array(text.utf8))
      }
      #expect(error?.number == number)
    }
  }

  @Test(.covers("CO-100.2"))
  func `an entry without an address has its name as address`() throws {
    let list = try LoginHost.list(
      parsing: Array(#"[{"name":"acme.my.salesforce.com"}]"#.utf8))
    #expect(list.map(\.server) == [try server("https://acme.my.salesforce.com")])
    #expect(list.map(\.name) == ["acme.my.salesforce.com"])
  }

  @Test(.covers("CO-102.1", "CO-103", "HT-75.1"))
  func `added ones are chosen, moved, replaced and removed`() throws {
    var list = LoginHostList()
    let a = LoginHost(name: "A", server: try server("a.b")), b = try server("b.b")
    list.add(a)
    #expect(list.selected.name == "A" && list.selected.isDeletable)
    // The same address again selects what is there.
    list.select(.sandbox)
    list.add(LoginHost(name: "Other", server: a.server))
    #expect(list.selected.name == "A")
    // An unknown one is added as such.
    list.select(b)
    #expect(list.custom.map(\.server) == [a.server, b] && list.selected.server == b)
    list.move(b, to: -4)
    #expect(list.custom.map(\.server) == [b, a.server])
    list.move(b, to: 9)
    list.move(.production, to: 1)
    #expect(list.hosts.map(\.server) == [.production, .sandbox, a.server, b])
    list.replace(b, with: LoginHost(name: "C", server: try server("c.c")))
    #expect(list.selected.name == "C")
    list.replace(a.server, with: LoginHost(server: .sandbox))
    #expect(list.custom.map(\.name) == ["A", "C"])
    // What vanished is no longer chosen.
    list.remove(try server("c.c"))
    #expect(list.selected == .production)
    list.select(nil)
    #expect(list.selected == .production)
  }

  @Test(
    .covers("CO-104", "BX-30", "CO-106", "CO-58"),
    arguments: [
      (" acme.my.salesforce.com/ ", "https://acme.my.salesforce.com"),
      ("http://acme.my.salesforce.com", "https://acme.my.salesforce.com"),
      ("https://acme.force.com/fineapps", "https://acme.force.com/fineapps"),
      ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("localhost:80", "https://localhost:80"),
    ])
  func `typed addresses are made whole`(typed: String, url: String) throws {
    #expect(try LoginHost(typed: typed).server.url.absoluteString == url)
  }

  @Test(
    .covers("CO-104", "BX-30"),
    arguments: ["", "acme", "acme.", ".com", "a b.c", "ftp://a.b", "https://", "a.b?c=d"])
  func `what is no address is refused`(typed: String) {
    let error = #expect(throws: OAuthError.self) { try LoginHost(typed: typed) }
    #expect(error?.number == 685)
  }

  @Test(.covers("CO-102.1", "BX-28.2"))
  func `the choice survives a restart and is reported`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("hosts.json")
    let hosts = try LoginHostStorage(in: file)
    let changes = hosts.changes()
    try hosts.update { $0.add(LoginHost(name: "Acme", server: .welcome)) }
    // The same again is no change.
    try hosts.update { $0.select(.welcome) }
    let again = try LoginHostStorage(in: file)
    #expect(again.selected.name == "Acme" && again.list.custom.count == 1)
    for await change in changes {
      #expect(change.previous == .production && change.current.name == "Acme")
      break
    }
    // A list that no longer has it falls back to its first.
    let managed = try LoginHostStorage(
      LoginHostList(managed: [.sandbox], onlyManaged: true), in: file)
    #expect(managed.selected == .sandbox)
    #expect(try LoginHostStorage(in: file).selected.name == "Acme")
  }

  @Test(.covers("CO-102"))
  func `an update that changes nothing writes nothing`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("hosts.json")
    let hosts = try LoginHostStorage(in: file)
    try hosts.update { $0.select(.sandbox) }
    try FileManager.default.removeItem(at: file)
    try LoginHostStorage(in: file).update { $0.remove(.welcome) }
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(.covers("CO-102.1"))
  func `two processes that add servers lose none`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("hosts.json")
    let here = try LoginHostStorage(in: file), there = try LoginHostStorage(in: file)
    try here.update { $0.add(LoginHost(name: "A", server: .welcome)) }
    let server = try LoginServer("https://b.my.salesforce.com")
    try there.update { $0.add(LoginHost(name: "B", server: server)) }
    #expect(there.list.custom.map(\.name) == ["A", "B"])
    try here.update { $0.select(.sandbox) }
    #expect(here.list == (try LoginHostStorage(in: file).list))
    #expect(here.list.custom.map(\.name) == ["A", "B"] && here.selected == .sandbox)
  }

  @Test(arguments: ["{", #"{"version":2,"selected":"https://test.salesforce.com"}"#])
  func `a list that is damaged, or of another version, is kept aside`(
    text: String
  ) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("hosts.json")
    try Data(text.utf8).write(to: file)
    #expect(try LoginHostStorage(in: file).selected == .production)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names.count == 1 && names[0].hasPrefix("hosts.json.unreadable-"))
  }

  private static let planted = Array(
    #"{"version":1,"custom":[{"name":"Evil","url":"https://evil.example.com"}],"selected":"https://evil.example.com"}"#
      .utf8)

  @Test(.covers("CO-102.1"))
  func `a file that is put into the folder chooses no login server`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("hosts.json")
    let secrets = InMemorySecretStore()
    let hosts = try LoginHostStorage(in: file, secrets: secrets)
    try hosts.update { $0.add(LoginHost(name: "Acme", server: .welcome)) }
    #expect(!FileManager.default.fileExists(atPath: file.path))
    try Data(Self.planted).write(to: file)
    let again = try LoginHostStorage(in: file, secrets: secrets)
    #expect(again.selected.name == "Acme" && again.list.custom.map(\.name) == ["Acme"])
    // It is reported once, and kept.
    let kept = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
      .filter { $0.hasPrefix("hosts.json.unreadable-") }
    #expect(kept.count == 1 && !FileManager.default.fileExists(atPath: file.path))
    try Data(Self.planted).write(to: file)
    try hosts.update { $0.select(.sandbox) }
    #expect(hosts.selected == .sandbox)
  }

  @Test(.covers("CO-102.1"), arguments: [false, true])
  func `the list of an earlier version is taken over once`(hasFile: Bool) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("hosts.json")
    let secrets = InMemorySecretStore()
    try secrets.write([1], for: SecretName(service: "key"))
    if hasFile {
      try LoginHostStorage(in: file).update {
        $0.add(LoginHost(name: "Acme", server: .welcome))
      }
    }
    let name = hasFile ? "Acme" : "Production"
    #expect(try LoginHostStorage(in: file, secrets: secrets).selected.name == name)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    try Data(Self.planted).write(to: file)
    #expect(try LoginHostStorage(in: file, secrets: secrets).selected.name == name)
  }

  @Test(.covers("CO-102.1"))
  func `a list of an earlier version that was moved, and not removed yet, is removed`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("hosts.json")
    let secrets = InMemorySecretStore()
    try LoginHostStorage(in: file).update { $0.add(LoginHost(name: "Acme", server: .welcome)) }
    let bytes = try Data(contentsOf: file)
    _ = try LoginHostStorage(in: file, secrets: secrets)
    try bytes.write(to: file)
    #expect(try LoginHostStorage(in: file, secrets: secrets).selected.name == "Acme")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names == ["hosts.json.lock"])
  }

  @Test(.covers("CO-102.1"))
  func `opening the list stores nothing in a program without secrets`() throws {
    let folder = try TemporaryFolder()
    let secrets = InMemorySecretStore()
    #expect(try LoginHostStorage(in: folder.file("h"), secrets: secrets).selected == .production)
    #expect(try secrets.list().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test(.covers("CO-81.3"))
  func `the current user's server is the chosen one`() async throws {
    let hosts = try LoginHostStorage()
    var account = TestOrg().account()
    account.credentials.loginServer = .sandbox
    let stub = LoginServerStub()
    let manager = try await stub.manager(stub.transport(), [account], loginHosts: hosts)
    try await manager.setCurrent(account.identity)
    #expect(hosts.selected == .sandbox)
  }
}
