import FieldforceInspector
import FileSync
import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// What does the inspector show of the files of a store?
@Suite struct FilePageTests {
  @Test(.covers("HT-68"))
  func `a queued file is shown with its record, and its content is not`() async throws {
    let fixture = try await AppFixture()
    try await fixture.setUp()
    let store = try await fixture.syncManager().store
    let client = RestClient(
      account: fixture.account, accounts: fixture.accounts, transport: ScriptedTransport([]))
    let files = try await FileSyncManager(
      store: store, client: client,
      options: FileSyncOptions(
        sources: [FileSource(soupName: "accounts", objectType: "Account")]))
    let photo = fixture.folder.file("roof.txt")
    try Data("confidential".utf8).write(to: photo)
    let queued = try await files.addFile(
      at: photo, NewFile(name: "roof.txt", record: FileRecord(id: "local_1", objectType: "Account"))
    )
    await files.close()
    try await fixture.inspect { client in
      let stores = try await client.get("stores")["stores"]?.elements.compactMap {
        $0["id"]?.string
      }
      let id = try #require(stores?.first)
      let response = try await client.call("stores/\(id)/files")
      let overview = try response.json
      #expect(overview["total"]?.int64 == 0 && overview["files"]?.count == 0)
      let shown = try #require(overview["queued"]?[0])
      #expect(shown["id"]?.string == queued.id && shown["name"]?.string == "roof.txt")
      #expect(shown["parent"]?.string == "local_1" && shown["state"]?.string == "queued")
      #expect(shown["bytes"]?.int64 == 12 && overview["usedBytes"]?.int64 == 12)
      #expect(!response.text.contains("confidential"))
    }
  }

  @Test func `a store without files has an empty list`() async throws {
    let fixture = try await AppFixture()
    try await fixture.setUp()
    try await fixture.inspect { client in
      let id = try #require(try await client.get("stores")["stores"]?[0]?["id"]?.string)
      let overview = try await client.get("stores/\(id)/files")
      #expect(overview["queued"]?.count == 0 && overview["usedBytes"]?.int64 == 0)
      #expect(try await client.call("stores/none/files").error == "notFound")
    }
  }
}
