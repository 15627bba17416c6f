import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Does an alter that was stopped or failed at any step leave a soup that is whole?
@Suite struct AlterResumptionTests {
  private let before = [SoupIndex]("a:string", "b:integer", "d:full_text", "e.x:json1")
  private let after = [SoupIndex]("c:floating", "e.x:full_text", "a:string", "b:string")
  private static let options = SmartStoreOptions(now: { 1_700_000_000_000 })
  private static let steps = AlterStep.allCases.dropFirst().dropLast()

  private func open(
    _ folder: TemporaryFolder, _ options: SmartStoreOptions = options, runsTriggers: Bool = false
  ) async throws -> SmartStore {
    var files = StoreDatabaseOptions()
    files.runsTriggers = runsTriggers
    return try await SmartStore.open(
      at: folder.file("store"), encryption: testEncryption, options: options, files: files)
  }

  /// A store with a soup `s` of six elements.
  private func filled(_ folder: TemporaryFolder) async throws -> SmartStore {
    let store = try await open(folder)
    try await store.registerSoup(withName: "s", withIndices: before)
    try await store.upsert(entries: mixedElements, forSoupNamed: "s")
    return store
  }

  /// What a whole alter gives.
  private func expected(reIndexData: Bool) async throws -> SoupPicture {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: reIndexData)
      let picture = try await store.picture(of: "s")
      try await store.close()
      return picture
    }
  }

  @Test(.covers("SS-181", "SS-183"), arguments: [.starting] + steps, [true, false])
  func `an alter stopped after a step is finished when the store is opened`(
    step: AlterStep, reIndexData: Bool
  ) async throws {
    let whole = try await expected(reIndexData: reIndexData)
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      let elements = try await store.elements(of: "s")
      try await store.alterSoup(
        named: "s", spec: nil, indexSpecs: after, reIndexData: reIndexData, through: step)
      let operations = try await store.recordedOperations()
      #expect(operations.count == 1)
      #expect(operations.first?[0] == "AlterSoup")
      #expect(operations.first?[1] == .string(String(step.rawValue)))
      try await store.close()

      let again = try await open(folder)
      #expect(try await again.recordedOperations() == [])
      #expect(try await again.leftOvers() == [])
      #expect(try await again.picture(of: "s") == whole)
      #expect(try await again.elements(of: "s") == elements)
      #expect(
        try await again.upsert(entries: [["a": "next"]], forSoupNamed: "s").first?["_soupEntryId"]
          == 7)
      try await again.close()
    }
  }

  @Test(.covers("SS-182"))
  func `the status row tells the soup, its specs and whether to re-index`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      try await store.alterSoup(
        named: "s", spec: nil, indexSpecs: [SoupIndex]("c:floating", "b:json1"), reIndexData: true,
        through: .dropOldIndexes)
      func details() async throws -> JSONValue {
        try json(
          try #require(
            try await store.column("select details from long_operations_status").first?.string))
      }
      let old: JSONValue = [
        ["path": "a", "type": "string", "columnName": "TABLE_1_0"],
        ["path": "b", "type": "integer", "columnName": "TABLE_1_1"],
        ["path": "d", "type": "full_text", "columnName": "TABLE_1_2"],
        ["path": "e.x", "type": "json1", "columnName": "json_extract(soup, '$.e.x')"],
      ]
      #expect(
        try await details() == [
          "soupName": "s", "soupTableName": "TABLE_1", "reIndexData": true, "oldIndexSpecs": old,
          "newIndexSpecs": [
            ["path": "c", "type": "floating"], ["path": "b", "type": "json1"],
          ],
        ])
      try await store.resumeLongOperations()
      try await store.alterSoup(
        named: "s", spec: nil, indexSpecs: [SoupIndex]("a:string"), reIndexData: false,
        through: .registerSoupUsingTableName)
      #expect(
        try await details()["newIndexSpecs"]
          == [["path": "a", "type": "string", "columnName": "TABLE_1_0"]])
      #expect(try await details()["reIndexData"] == false)
      try await store.close()
    }
  }

  @Test(
    .covers("SS-182", "SS-181"),
    arguments: [
      (AlterStep.renameOldSoupTable, "RENAME_OLD_SOUP_TABLE"),
      (.dropOldIndexes, "DROP_OLD_INDEXES"),
      (.registerSoupUsingTableName, "REGISTER_SOUP_USING_TABLE_NAME"), (.copyTable, "COPY_TABLE"),
      (.reIndexSoup, "RE_INDEX_SOUP"), (.dropOldTable, "DROP_OLD_TABLE"),
    ])
  func `an operation that Android recorded is finished`(
    step: AlterStep, word: String
  ) async throws {
    let whole = try await expected(reIndexData: true)
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      try await store.alterSoup(
        named: "s", spec: nil, indexSpecs: after, reIndexData: true, through: step)
      try await store.unsafelyExecute(
        "UPDATE long_operations_status SET type = 'alterSoup', status = '\(word)'")
      if step < .dropOldTable {
        try await store.unsafelyExecute(
          "ALTER TABLE TABLE_1_fts_old RENAME TO TABLE_1_old_fts")
      }
      if step >= .registerSoupUsingTableName {
        // There the indexes come with the table.
        try await store.unsafelyExecute(
          "CREATE INDEX IF NOT EXISTS TABLE_1_0_idx ON TABLE_1 ( TABLE_1_0 )")
      }
      try await store.close()
      let again = try await open(folder)
      #expect(try await again.recordedOperations() == [])
      #expect(try await again.leftOvers() == [])
      #expect(try await again.picture(of: "s") == whole)
      try await again.close()
    }
  }

  /// Makes the step fail that would be recorded as `status`.
  private func refuse(_ step: AlterStep, in store: SmartStore) async throws {
    let event = step == .cleanup ? "DELETE" : "UPDATE"
    let condition = step == .cleanup ? "" : "WHEN NEW.status = '\(step.rawValue)'"
    try await store.unsafelyExecute(
      """
      CREATE TRIGGER refuse BEFORE \(event) ON long_operations_status \(condition) \
      BEGIN SELECT RAISE(ABORT, 'injected'); END
      """)
  }

  @Test(.covers("SS-183"), arguments: steps)
  func `a step that fails leaves the soup as it was`(step: AlterStep) async throws {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      let picture = try await store.picture(of: "s")
      try await refuse(step, in: store)
      await expectFailure(.sql, detail: "injected") {
        try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: true)
      }
      #expect(try await store.recordedOperations() == [])
      #expect(try await store.leftOvers() == [])
      #expect(try await store.picture(of: "s") == picture)
      #expect(
        try await store.upsert(entries: [["a": "next"]], forSoupNamed: "s").first?["_soupEntryId"]
          == 7)
      try await store.unsafelyExecute("DROP TRIGGER refuse")
      try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: true)
      #expect(try await store.indices(forSoupNamed: "s").map(\.path) == after.map(\.path))
      try await store.close()
    }
  }

  @Test(.covers("SS-184"))
  func `a failure that cannot be undone is reported, and made up for later`()
    async throws
  {
    let whole = try await expected(reIndexData: true)
    let log = LogRecorder()
    var options = Self.options
    options.logger = log.logger(forComponent: "SmartStore", level: .warn)
    try await TemporaryFolder.with { folder in
      try await filled(folder).close()
      let store = try await open(folder, options)
      try await refuse(.reIndexSoup, in: store)
      try await store.unsafelyExecute(
        """
        CREATE TRIGGER refuse_too BEFORE DELETE ON long_operations_status \
        BEGIN SELECT RAISE(ABORT, 'injected'); END
        """)
      try await store.registerSoup(withName: "other", withIndices: before)
      let error = await expectFailure(.unfinishedOperation, "Altering soup s failed") {
        try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: true)
      }
      #expect((error?.cause as? SmartStoreError)?.detail == "injected")
      // The soup waits; it cannot be taken for one that does not exist.
      let calls: [@Sendable (SmartStore) async throws -> Void] = [
        { _ = try await $0.elements(of: "s") },
        { try await $0.registerSoup(withName: "s", withIndices: [SoupIndex("a:string")]) },
        { try await $0.removeSoup("s") }, { try await $0.removeAllSoups() },
        { try await $0.upsert(entries: [[:]], forSoupNamed: "s") },
        { _ = try await $0.rows("select {s:a} from {s}") },
        {
          try await $0.alterSoup(
            named: "s", indexSpecs: [SoupIndex("a:string")], reIndexData: false)
        },
      ]
      for call in calls {
        await expectFailure(.unfinishedOperation, "Soup s is half altered") {
          try await call(store)
        }
      }
      #expect(try await store.elements(of: "other") == [])
      await expectFailure(.sql, detail: "injected") { try await store.resumeLongOperations() }
      // Opening logs it and goes on; it is tried again.
      try await store.close()
      let again = try await open(folder, options, runsTriggers: true)
      #expect(log.lines.contains { $0.contains("could not be finished") })
      #expect(try await again.recordedOperations().count == 1)
      #expect(try await again.elements(of: "other") == [])
      try await again.unsafelyExecute("DROP TRIGGER refuse")
      try await again.unsafelyExecute("DROP TRIGGER refuse_too")
      try await again.resumeLongOperations()
      #expect(try await again.picture(of: "s") == whole)
      #expect(try await again.recordedOperations() == [])
      try await again.close()
    }
  }

  @Test(.covers("SS-183"))
  func `an alter that only began gives way to the next one`() async throws {
    let whole = try await expected(reIndexData: true)
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      try await store.alterSoup(
        named: "s", spec: nil, indexSpecs: [SoupIndex("b:string"), SoupIndex("a:string")],
        reIndexData: true, through: .starting)
      try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: true)
      #expect(try await store.recordedOperations() == [])
      try await store.close()
      let again = try await open(folder)
      #expect(try await again.picture(of: "s") == whole)
      try await again.close()
    }
  }

  @Test(.covers("SS-183"))
  func `an alter that only began is forgotten if its soup is gone or another`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      func begin() async throws {
        try await store.alterSoup(
          named: "s", spec: nil, indexSpecs: after, reIndexData: true, through: .starting)
      }
      try await begin()
      try await store.removeSoup("s")
      try await store.resumeLongOperations()
      #expect(try await store.recordedOperations() == [])
      #expect(try await store.allSoupNames() == [])

      // As an older version left it, whose next alter did not look for it.
      try await store.registerSoup(withName: "s", withIndices: before)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      try await begin()
      try await store.unsafelyExecute(
        "CREATE TABLE kept AS SELECT * FROM long_operations_status")
      let other = [SoupIndex]("b:string", "a:integer", "d:string")
      try await store.alterSoup(named: "s", indexSpecs: other, reIndexData: true)
      try await store.unsafelyExecute(
        "INSERT INTO long_operations_status SELECT * FROM kept; DROP TABLE kept")
      let picture = try await store.picture(of: "s")
      try await store.close()
      let again = try await open(folder)
      #expect(try await again.recordedOperations() == [])
      #expect(try await again.picture(of: "s") == picture)
      try await again.close()
    }
  }

  @Test(.covers("SS-184"))
  func `a damaged or unknown row is skipped and logged, the others are finished`()
    async throws
  {
    let whole = try await expected(reIndexData: true)
    let log = LogRecorder()
    var options = Self.options
    options.logger = log.logger(forComponent: "SmartStore", level: .warn)
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder)
      let damaged = [
        ("AlterSoup", "3", "{"), ("AlterSoup", "3", "{}"), ("AlterSoup", "x", "{}"),
        ("Defragment", "1", "{}"), ("BulkLoad", "0", "[]"),
        (
          "AlterSoup", "3",
          #"{"soupName":"s","soupTableName":"TABLE_1; DROP","oldIndexSpecs":[],"newIndexSpecs":[]}"#
        ),
      ]
      for (type, status, details) in damaged {
        try await store.unsafelyExecute(
          """
          INSERT INTO long_operations_status (type, status, details) \
          VALUES ('\(type)', '\(status)', '\(details)')
          """)
      }
      try await store.alterSoup(
        named: "s", spec: nil, indexSpecs: after, reIndexData: true, through: .copyTable)
      try await store.close()
      let again = try await open(folder, options)
      #expect(try await again.recordedOperations().count == damaged.count)
      #expect(try await again.picture(of: "s") == whole)
      #expect(log.lines.filter { $0.contains("is damaged or of an unknown kind") }.count == 6)
      try await again.close()
    }
  }

  @Test(.covers("SS-187"), arguments: steps)
  func `a cancelled alter leaves the soup as it was`(step: AlterStep) async throws {
    // The clock is read when a step is recorded: cancelled there, the next step does not begin.
    let task = Mutex<Task<Void, any Error>?>(nil)
    let left = Atomic(Int.max)
    let options = SmartStoreOptions(now: {
      if left.wrappingSubtract(1, ordering: .relaxed).newValue == 0 {
        task.withLock { $0?.cancel() }
      }
      return 1_700_000_000_000
    })
    try await TemporaryFolder.with { folder in
      try await filled(folder).close()
      let store = try await open(folder, options)
      let picture = try await store.picture(of: "s")
      task.withLock { task in
        task = Task { [after] in
          try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: true)
        }
        left.store(step.rawValue + 1, ordering: .relaxed)
      }
      let alter = try #require(task.withLock { $0 })
      // After the old table is dropped there is no way back.
      if step < .reIndexSoup {
        await #expect(throws: CancellationError.self) { try await alter.value }
        #expect(try await store.picture(of: "s") == picture)
      } else {
        _ = await alter.result
      }
      #expect(try await store.recordedOperations() == [])
      #expect(try await store.leftOvers() == [])
      try await store.close()
    }
  }
}
