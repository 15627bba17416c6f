import Foundation
import SalesforceMockOrg
import TemplateAppKit
import Testing

/// What the app does, against a mock org on a socket of this machine.
@Suite struct FieldAppTests {
  /// Runs `body` with an app that has logged in to an org with sample data.
  private func withApp(_ body: (FieldApp, MockOrg) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await withMockOrg { org, server in
      try await org.load(plan: MockOrg.samplePlan)
      let app = try await FieldApp(in: folder)
      try await app.logIn(
        accessToken: server.info.accessToken, instance: server.info.instanceUrl)
      try await body(app, org)
      try await app.close()
    }
  }

  @Test func `records are downloaded, and stay readable without the server`() async throws {
    try await withApp { app, org in
      _ = try await app.sync()
      let names = try await app.names(in: "accounts")
      let expected = try await org.count("Account")
      #expect(names.count == expected && expected > 0)
      #expect(try await !app.names(in: "contacts").isEmpty)
      try await app.clear()
      #expect(try await app.names(in: "accounts").isEmpty)
    }
  }

  @Test func `an account that was renamed offline is uploaded, and a logout waits for it`()
    async throws
  {
    try await withApp { app, org in
      _ = try await app.sync()
      let id = try #require(try await app.ids(in: "accounts").first?.value)
      try await app.rename(account: id, to: "Harbor Repair")
      await #expect(throws: (any Error).self) { try await app.logOut() }

      let result = try await app.sync()
      #expect(result.uploaded == 1 && result.failed == 0)
      let found = try await org.query("SELECT Name FROM Account WHERE Id = '\(id)'")
      #expect(found.first?["Name"]?.string == "Harbor Repair")
      try await app.logOut()
      await #expect(throws: FieldAppError.self) { try await app.names(in: "accounts") }
    }
  }

  @Test func `a record that is gone from the server is removed`() async throws {
    try await withApp { app, org in
      _ = try await app.sync()
      let contacts = try await app.ids(in: "contacts")
      let (name, id) = try #require(contacts.first)
      try await org.delete("Contact", id: id)
      _ = try await app.sync()
      #expect(try await app.names(in: "contacts").contains(name) == false)
    }
  }
}
