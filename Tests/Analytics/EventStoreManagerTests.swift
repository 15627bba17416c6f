import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import TestSupport
import Testing

/// Which events are on disk, and in which form?
@Suite struct EventStoreManagerTests {
  private let folder: TemporaryFolder
  private var place: URL { folder.file("events") }

  init() throws { folder = try TemporaryFolder() }

  private func event(_ id: String, at time: Int64 = 1) throws -> InstrumentationEvent {
    try #require(
      InstrumentationEvent(json: [
        "eventId": .string(id), "name": "n", "schemaType": "LightningError",
        "startTime": .integer(time), "attributes": ["secret": "canary"],
      ]))
  }

  /// Every byte becomes another one, and a file opens with its own id alone.
  private func sealed(maxEvents: Int = EventStoreManager.defaultMaxEvents) -> EventStoreManager {
    EventStoreManager(
      directory: place, maxEvents: maxEvents,
      encrypt: { bytes, id in Array(id.utf8) + bytes.map { $0 ^ 0x5a } },
      decrypt: { bytes, id in
        guard bytes.starts(with: Array(id.utf8)) else { throw CocoaError(.fileReadCorruptFile) }
        return bytes.dropFirst(id.utf8.count).map { $0 ^ 0x5a }
      })
  }

  @Test(.covers("CA-38"))
  func `events are stored in files of their own, encrypted, and found again`() async throws {
    let store = sealed()
    #expect(await store.numStoredEvents == 0)
    #expect(await store.fetchAll().isEmpty)
    await store.store([try event("b", at: 2), try event("a", at: 3), try event("c", at: 1)])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() == ["a", "b", "c"])
    let bytes = try Data(contentsOf: place.appending(path: "a"))
    #expect(bytes.range(of: Data("canary".utf8)) == nil)
    let attributes = try FileManager.default.attributesOfItem(
      atPath: place.appending(path: "a").path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)

    let again = sealed()
    #expect(await again.eventFiles == ["a", "b", "c"])
    #expect(await again.fetchAll().map(\.eventId) == ["c", "b", "a"])
    #expect(await again.fetch("a")?.attributes == ["secret": "canary"])
    #expect(await again.fetch("z") == nil)
    #expect(await again.delete("a"))
    #expect(await again.delete("a") == false)
    await again.delete(["b", "nothing"])
    #expect(await again.numStoredEvents == 1)
    await again.deleteAll()
    #expect(await again.numStoredEvents == 0)
  }

  @Test(.covers("CA-38"))
  func `an event that is stored twice counts once`() async throws {
    let store = sealed(maxEvents: 2)
    for _ in 0..<3 { await store.store(try event("a")) }
    await store.store(try event("b"))
    await store.store(try event("c"))
    #expect(await store.eventFiles == ["a", "b"])
    // The limit keeps no event from being replaced.
    await store.store(try event("b", at: 9))
    #expect(await store.fetch("b")?.startTime == 9)
    #expect(await store.numStoredEvents == 2)
  }

  @Test(.covers("CA-38"))
  func `nothing is stored while storing is off, at the limit 0 or if the app forbids it`()
    async throws
  {
    let store = sealed()
    #expect(await store.maxEvents == 1_000)
    #expect(await store.isLoggingEnabled)
    await store.setLoggingEnabled(false)
    await store.store(try event("a"))
    await store.setLoggingEnabled(true)
    await store.setMaxEvents(0)
    await store.store(try event("b"))
    #expect(await store.numStoredEvents == 0)
    await store.setMaxEvents(1)
    await store.store([try event("c"), try event("d")])
    #expect(await store.eventFiles == ["c"])
    let forbidden = EventStoreManager(directory: place, isAppDisabled: true)
    await forbidden.store(try event("e"))
    #expect(await forbidden.eventFiles == ["c"])
  }

  @Test(.covers("CA-38"))
  func `a file that holds no event is removed, and does not count for ever`() async throws {
    let store = sealed(maxEvents: 3)
    await store.store([try event("a"), try event("b"), try event("c")])
    try Data("garbage".utf8).write(to: place.appending(path: "a"))
    // The content of another event.
    try FileManager.default.removeItem(at: place.appending(path: "b"))
    try FileManager.default.copyItem(at: place.appending(path: "c"), to: place.appending(path: "b"))
    try Data("draft".utf8).write(to: place.appending(path: "d.new"))
    #expect(await store.fetchAll().map(\.eventId) == ["c"])
    await store.store([try event("e"), try event("f")])
    #expect(await store.eventFiles == ["c", "e", "f"])
  }

  @Test(
    .covers("CA-38"),
    arguments: ["../outside", "", "a/b", "a.b", ".", "x\u{0}y", String(repeating: "a", count: 129)])
  func `an id that cannot name a file is not stored, read or deleted`(id: String) async throws {
    let outside = folder.file("outside")
    try Data("mine".utf8).write(to: outside)
    let store = sealed()
    await store.store(try event(id))
    #expect(await store.numStoredEvents == 0)
    #expect(await store.fetch(id) == nil)
    #expect(await store.delete(id) == false)
    #expect(try Data(contentsOf: outside) == Data("mine".utf8))
  }

  @Test(.covers("CA-38"))
  func `a folder that cannot be written to costs the event alone`() async throws {
    try Data().write(to: place)
    let store = sealed()
    await store.store(try event("a"))
    #expect(await store.numStoredEvents == 0)
  }

  @Test(.covers("CA-46"))
  func `a reset deletes all events, and the sequence goes on`() async throws {
    func manager() -> AnalyticsManager {
      AnalyticsManager(store: sealed(), deviceAppAttributes: DeviceAppAttributes())
    }
    let analytics = manager()
    func build() throws -> InstrumentationEvent {
      try analytics.event {
        $0.name = "n"
        $0.schemaType = .error
        $0.page = [:]
      }
    }
    await analytics.store.store([try build(), try build()])
    await analytics.reset()
    #expect(await analytics.store.numStoredEvents == 0)
    #expect(try build().sequenceId == 3)
    #expect(manager().globalSequenceId == 0)
  }
}
