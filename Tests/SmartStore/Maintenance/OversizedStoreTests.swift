import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Anyone who can write to the folder can make a file of terabytes that takes no room on disk.
@Suite(.timeLimit(.minutes(2))) struct OversizedStoreTests {
  private func filled(_ directory: URL) async throws -> SmartStore {
    let store = try await SmartStore.open(at: directory, encryption: testEncryption)
    try await store.registerSoup(withName: "visits", withIndices: .init("name:string"))
    let entries = (0..<200).map { JSONValue.object(["name": .string("name \($0)")]) }
    try await store.upsert(entries: entries, forSoupNamed: "visits")
    return store
  }

  private func lengthen(_ name: String, in directory: URL, to size: UInt64) throws {
    let handle = try FileHandle(forWritingTo: directory.appending(path: name))
    try handle.truncate(atOffset: size)
    try handle.close()
  }

  @Test func `a check of a database of terabytes ends, and says that pages are damaged`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let directory = folder.file("store")
      try await filled(directory).close()
      for size in [(1 << 40) as UInt64, 1 << 43] {
        try lengthen("store.sqlite", in: directory, to: size)
        let report = try StoreMaintenance(at: directory).verify(testEncryption)
        #expect(report.findingCount > 1000)
        #expect(report.findings.contains { $0.kind == .page })
        #expect(report.pages < 20_000)
      }
    }
  }

  @Test func `a check of an open store ends too`() async throws {
    try await TemporaryFolder.with { folder in
      let directory = folder.file("store")
      let store = try await filled(directory)
      try lengthen("store.sqlite", in: directory, to: 1 << 42)
      #expect(try await !store.verify().isClean)
      let rows = try await store.query("SELECT count(*) FROM {visits}")
      #expect(rows[0][0] == 200)
      try? await store.close()
    }
  }
}
