import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a soup survive the way of its elements into files and back?
@Suite struct ExternalAlterTests {
  private static let external = SoupSpec(name: "s", features: ["externalStorage"])
  private static let internally = SoupSpec(name: "s")
  private static let steps = AlterStep.allCases.dropFirst().dropLast()
  private static let options = SmartStoreOptions(now: { 1_700_000_000_000 })
  private let before = [SoupIndex]("a:string", "b:integer", "d:full_text")
  private let after = [SoupIndex]("c:floating", "a:full_text", "b:integer")

  /// From where to where.
  enum Way: CaseIterable {
    case inwards, outwards, staying
    var from: SoupSpec { self == .outwards ? internally : external }
    var to: SoupSpec { self == .inwards ? internally : external }
  }

  private func open(_ folder: TemporaryFolder) async throws -> SmartStore {
    try await SmartStore.open(
      at: folder.file("store"), encryption: testEncryption, options: Self.options)
  }

  private func filled(
    _ folder: TemporaryFolder, _ spec: SoupSpec, _ indexes: [SoupIndex]
  ) async throws -> SmartStore {
    let store = try await open(folder)
    try await store.registerSoup(withSpec: spec, withIndices: indexes)
    try await store.upsert(entries: mixedElements, forSoupNamed: "s")
    try await store.remove(entryIds: [6], forSoupNamed: "s")
    return store
  }

  private func expected(_ spec: SoupSpec) async throws -> SoupPicture {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder, spec, after)
      let picture = try await store.picture(of: "s")
      try await store.close()
      return picture
    }
  }

  private func expectAltered(
    _ store: SmartStore, _ way: Way, _ elements: [JSONValue]
  ) async throws {
    #expect(try await store.picture(of: "s") == expected(way.to))
    #expect(try await store.elements(of: "s") == elements)
    #expect(try await store.recordedOperations() == [])
    #expect(try await store.leftOvers() == [])
    #expect(
      try await store.externalFilesCount(forSoupNamed: "s") == (way.to.isExternal ? 5 : 0))
    let folder = store.directory.appending(path: "store_external_soup_blobs/TABLE_1").path
    #expect(FileManager.default.fileExists(atPath: folder) == way.to.isExternal)
    #expect(
      try await store.upsert(entries: [["a": "next"]], forSoupNamed: "s").first?["_soupEntryId"]
        == 7)
  }

  @Test(.covers("SS-199"), arguments: Way.allCases)
  func `entries move into files and back with their ids`(way: Way) async throws {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder, way.from, before)
      let elements = try await store.elements(of: "s")
      try await store.alterSoup(
        named: "s", soupSpec: way.to, indexSpecs: after, reIndexData: true)
      try await expectAltered(store, way, elements)
      #expect(try await store.soupSpec(forSoupNamed: "s") == way.to)
      try await store.close()
    }
  }

  @Test(.covers("SS-200"))
  func `an alter without a soup spec keeps the features`() async throws {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder, Self.external, before)
      try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: true)
      #expect(try await store.soupSpec(forSoupNamed: "s") == Self.external)
      #expect(try await store.externalFilesCount(forSoupNamed: "s") == 5)
      try await store.close()
    }
  }

  @Test(.covers("SS-202", "SS-199"), arguments: Way.allCases, steps)
  func `an alter that moves entries is finished after a crash at any step`(
    way: Way, step: AlterStep
  ) async throws {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder, way.from, before)
      let elements = try await store.elements(of: "s")
      try await store.alterSoup(
        named: "s", spec: way.to, indexSpecs: after, reIndexData: true, through: step)
      let details = try json(
        try #require(
          try await store.column("select details from long_operations_status").first?.string))
      #expect(details["oldSoupSpec"] == way.from.json)
      #expect(details["newSoupSpec"] == way.to.json)
      try await store.close()
      let again = try await open(folder)
      try await expectAltered(again, way, elements)
      try await again.close()
    }
  }

  /// What an alter inwards failed to remove was removed at the next opening, although the elements were
  /// in files again by then.
  @Test(.covers("SS-199"))
  func `files that an alter left behind are not removed once they are in use again`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder, Self.external, before)
      let elements = try await store.elements(of: "s")
      try await store.alterSoup(
        named: "s", spec: Self.internally, indexSpecs: after, reIndexData: true,
        through: .dropOldTable)
      try await store.alterSoup(
        named: "s", soupSpec: Self.external, indexSpecs: before, reIndexData: true)
      try await store.close()
      let again = try await open(folder)
      #expect(try await again.elements(of: "s") == elements)
      #expect(try await again.column("select id from long_operations_status").isEmpty)
      try await again.close()
    }
  }

  @Test(.covers("SS-199"), arguments: Way.allCases, steps)
  func `an alter that fails at any step leaves entries and files as they were`(
    way: Way, step: AlterStep
  ) async throws {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder, way.from, before)
      let elements = try await store.elements(of: "s")
      let picture = try await store.picture(of: "s")
      try await store.unsafelyExecute(
        """
        CREATE TRIGGER refuse BEFORE UPDATE ON long_operations_status \
        WHEN NEW.status = '\(step.rawValue)' BEGIN SELECT RAISE(ABORT, 'injected'); END
        """)
      await expectFailure(.sql, detail: "injected") {
        try await store.alterSoup(
          named: "s", soupSpec: way.to, indexSpecs: after, reIndexData: true)
      }
      #expect(try await store.picture(of: "s") == picture)
      #expect(try await store.elements(of: "s") == elements)
      #expect(
        try await store.externalFilesCount(forSoupNamed: "s") == (way.from.isExternal ? 5 : 0))
      try await store.unsafelyExecute("DROP TRIGGER refuse")
      try await store.alterSoup(
        named: "s", soupSpec: way.to, indexSpecs: after, reIndexData: true)
      try await expectAltered(store, way, elements)
      try await store.close()
    }
  }

  @Test(.covers("SS-197", "SS-199"))
  func `an entry whose file is missing stops the alter and is not lost silently`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder, Self.external, before)
      let file = store.directory.appending(path: "store_external_soup_blobs/TABLE_1/soupelt_3")
      let content = try Data(contentsOf: file)
      try FileManager.default.removeItem(at: file)
      let picture = try await store.picture(of: "s")
      await expectFailure(.externalFileUnreadable) {
        try await store.alterSoup(
          named: "s", soupSpec: Self.internally, indexSpecs: after, reIndexData: true)
      }
      #expect(try await store.picture(of: "s") == picture)
      try content.write(to: file)
      #expect(try await store.elements(of: "s").count == 5)
      try await store.close()
    }
  }
}
