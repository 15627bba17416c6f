import FieldforceInspector
import Foundation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// What does the page say of stores that cannot be opened or changed?
struct StoreStateTests {
  @Test(.covers("HT-68"))
  func `locked, damaged and missing stores say why and what to do, and nothing of them changes`()
    async throws
  {
    let fixture = try StoresFixture()
    for name in ["open", "damaged", "missing", "locked"] {
      try await fixture.fill(name, entries: [#"{"title":"a"}"#])
    }
    let folder = fixture.folder.file("stores/stores")
    let damaged = folder.appending(path: "damaged/store.sqlite")
    var bytes = try Data(contentsOf: damaged)
    for index in 5_000..<5_100 { bytes[index] ^= 0xFF }
    try bytes.write(to: damaged)
    try FileManager.default.removeItem(at: folder.appending(path: "missing/store.sqlite"))
    // Its key belongs to another secret store.
    let foreign = SmartStoreManager(
      root: fixture.folder.file("other"),
      encryption: .encrypted(SecretStoreKeyProvider(InMemorySecretStore())))
    _ = try await foreign.sharedGlobal(withName: "locked")
    try await foreign.close()
    try FileManager.default.removeItem(at: folder.appending(path: "locked"))
    try FileManager.default.copyItem(
      at: fixture.folder.file("other/stores/locked"), to: folder.appending(path: "locked"))
    try await fixture.inspect(access: .readWrite) { client in
      let stores = try #require(try await client.get("stores")["stores"])
      var status: [String: String] = [:]
      for store in stores.elements {
        let name = store["name"]?.string ?? ""
        status[name] = store["status"]?.string
        #expect(store["label"]?.string == "\(name) (global store)")
        if name == "open" {
          #expect(store["error"]?.kind == .null)
          #expect((store["bytes"]?.int64 ?? 0) > 0)
          #expect(store["soups"]?.int64 == 1)
          continue
        }
        #expect(store["bytes"]?.kind == .null)
        #expect(store["error"]?["message"]?.string?.isEmpty == false)
        #expect(store["error"]?["remedy"]?.string?.isEmpty == false, "\(store)")
        let below = try await client.call("stores/\(store["id"]?.string ?? "")/soups")
        #expect(below.error == store["error"]?["name"]?.string)
        #expect(below.status == (status[name] == "locked" ? 423 : 500), "\(below)")
      }
      #expect(
        status == [
          "open": "open", "damaged": "damaged", "missing": "missing", "locked": "locked",
        ])
    }
    #expect(try Data(contentsOf: damaged) == bytes)
    #expect(
      !FileManager.default.fileExists(
        atPath: folder.appending(path: "missing/store.sqlite").path))
  }

  @Test(.covers("HT-68"))
  func `a store that another process writes can be read, and is not writable while it does`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    let other = fixture.otherProcess()
    let store = try await other.sharedGlobal()
    try await fixture.inspect(access: .readWrite) { client in
      let address = try await client.store()
      let owned = try await client.get(address)
      #expect(owned["status"]?.string == "open")
      #expect(owned["writable"]?.bool == false)
      #expect(owned["readOnlyError"]?["name"]?.string == "busyOtherProcess")
      #expect(owned["readOnlyError"]?["remedy"]?.string?.isEmpty == false)
      try await store.upsert(slices: [try JSONSlice(parsing: #"{"title":"b"}"#)], soup: "notes")
      #expect(try await client.get(try await client.entries())["total"]?.int64 == 2)
      let undo = try await client.post("\(try await client.entries())/1/undo")
      #expect(undo.status == 409 || undo.status == 422)
      #expect(try await client.post("\(address)/syncs/stop").error == "busyOtherProcess")
      try await other.close()
      #expect(try await client.get(address)["writable"]?.bool == true)
    }
  }

  @Test(.covers("HT-68"))
  func `a read-only inspector refuses every change`() async throws {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"Id":"1","title":"a"}"#])
    try await fixture.inspect { client in
      let status = try await client.get("status")
      #expect(status["access"]?.string == "readOnly")
      #expect(status["accessError"]?["name"]?.string == "readOnly")
      let store = try await client.store()
      for path in [
        "\(try await client.entries())/1/undo", "\(store)/syncs/stop", "\(store)/syncs/1/run",
        "\(store)/syncs/1/ghosts", "\(store)/syncs/restart",
      ] {
        let response = try await client.post(path)
        #expect(response.status == 409, "\(path)")
        #expect(response.error == "readOnly", "\(path)")
      }
      let resolve = try await client.post("\(store)/conflicts/resolve", ["key": "notes/1"])
      #expect(resolve.error == "readOnly")
    }
  }

  @Test(.covers("HT-68"))
  func `looking keeps no store from being written, makes none and leaves no file open`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    try await fixture.inspect(access: .readWrite) { client in
      _ = try await client.get(try await client.entries())
      let other = fixture.otherProcess()
      try await other.sharedGlobal()
        .upsert(slices: [try JSONSlice(parsing: #"{"title":"b"}"#)], soup: "notes")
      try await other.close()
      #expect(try await client.get(try await client.entries())["total"]?.int64 == 2)
      #expect(try await client.call("stores/\(Base64URL.encode("/none".utf8))").status == 404)
    }
    let names = try FileManager.default.contentsOfDirectory(
      atPath: fixture.folder.file("stores/stores").path)
    #expect(names.count == 1)
    for name in names {
      let path = fixture.folder.file("stores/stores/\(name)/store.sqlite").path
      #expect(openFiles(at: path) == 0)
    }
  }

  @Test(.covers("SS-221"))
  func
    `soups come in the order of their names with counts and index specs, above 100 without counts`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#, #"{"title":"b","__local__":true}"#])
    try await fixture.fill(soup: "a/b {c:d}", entries: [#"{"title":"a"}"#])
    try await fixture.inspect { client in
      let store = try await client.store()
      let soups = try #require(try await client.get("\(store)/soups")["soups"])
      #expect(soups.elements.map { $0["name"]?.string } == ["a/b {c:d}", "notes"])
      let notes = try #require(soups[1])
      #expect(notes["count"]?.int64 == 2)
      #expect(notes["unsynced"]?.int64 == 1)
      #expect((notes["bytes"]?.int64 ?? 0) > 20)
      #expect(notes["metadata"]?.bool == false)
      #expect(
        notes["indexes"]?.elements.map { $0["path"]?.string } == [
          "title", "rank", "weight", "kind", "__local__",
        ])
      let words = try await client.get("\(store)/words")
      #expect(words.description.contains("{notes:title}"))
    }
    let other = fixture.otherProcess()
    let store = try await other.sharedGlobal()
    for number in 0..<100 {
      try await store.registerSoup(
        withName: "soup \(number)", withIndices: [SoupIndex(path: "a", type: .string)])
    }
    try await other.close()
    try await fixture.inspect { client in
      let store = try await client.store()
      let soups = try #require(try await client.get("\(store)/soups")["soups"])
      #expect(soups.count == 102)
      #expect(soups.elements.allSatisfy { $0["count"]?.kind == .null })
      let one = try await client.get("\(store)/soups", ["soup": Base64URL.encode("notes".utf8)])
      #expect(one["soups"]?[0]?["count"]?.int64 == 2)
    }
  }
}
