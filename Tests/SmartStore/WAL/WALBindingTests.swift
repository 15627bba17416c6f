import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Is a write-ahead log (WAL) that was removed, cut or exchanged noticed, and never one that a crash left?
struct WALBindingTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private static let names = StoreFolder.names

  private var provider: FixedKeyProvider { folder.provider }

  /// A store as a crash leaves it: some rows in the database, five transactions in the WAL.
  private func crashed(as name: String = "crashed", at place: URL? = nil) throws -> URL {
    let store = try folder.open(at: place)
    try store.fill(20)
    try store.checkpoint()
    for _ in 0..<5 { try store.fill(3) }
    let copy = try folder.snapshot(of: place, as: name)
    try store.close()
    return copy
  }

  @Test func `a log that is removed, or cut at any frame or within one, is refused`() throws {
    let files = try folder.stored(at: try crashed())
    let whole = try #require(files[Self.names.log])
    let frames = (whole.count - PageFormat.logHeaderSize) / PageFormat.frameSize
    #expect(frames >= 5)
    var changed = files
    changed[Self.names.log] = nil
    try folder.expectRefusal(changed, "without a log")
    try folder.expectAcceptance(changed, "without a log")
    let starts = (0..<frames).map { PageFormat.logHeaderSize + $0 * PageFormat.frameSize }
    for size in [0, 16] + starts + starts.map({ $0 + 100 }) {
      changed[Self.names.log] = whole.prefix(size)
      try folder.expectRefusal(changed, "\(size) of \(whole.count) bytes")
      try folder.expectAcceptance(changed, "\(size) of \(whole.count) bytes")
    }
    // What it was cut from opens, and so it does after a second crash.
    let store = try folder.open(at: try folder.place(files))
    #expect(try store.count() == 35)
    try store.close()
  }

  @Test func `an older WAL of the store is refused, whether or not there is another`() throws {
    let first = try folder.stored(at: try crashed(as: "first"))
    let second = try folder.stored(at: try crashed(as: "second"))
    let closed = try folder.stored(at: folder.store)
    #expect(closed[Self.names.log] == nil)
    for (name, newer) in [("crashed", second), ("closed", closed)] {
      var changed = newer
      changed[Self.names.log] = first[Self.names.log]
      try folder.expectRefusal(changed, "an older log in a store that was \(name)")
      try folder.expectAcceptance(changed, "an older log in a store that was \(name)")
      // With its anchor it is older than the database, which has grown since.
      changed[Self.names.anchor] = first[Self.names.anchor]
      try folder.expectRefusal(changed, "an older log and anchor in a store that was \(name)")
    }
    // The log of the last session, of which the database has all: whole it changes nothing, cut it would.
    var changed = closed
    changed[Self.names.log] = second[Self.names.log]
    let store = try folder.open(at: try folder.place(changed))
    #expect(try store.count() == 70)
    #expect(try store.integrity() == "ok")
    try store.close()
    changed[Self.names.log] = second[Self.names.log]?.dropLast(PageFormat.frameSize)
    try folder.expectRefusal(changed, "a part of the last log")
  }

  @Test func `the log of another store with the same key is refused, with its anchor too`() throws {
    let files = try folder.stored(at: try crashed())
    let other = try folder.stored(
      at: try crashed(as: "other-crashed", at: folder.url.appending(path: "other")))
    var changed = files
    changed[Self.names.log] = other[Self.names.log]
    try folder.expectRefusal(changed, "another store's log")
    try folder.expectAcceptance(changed, "another store's log")
    changed[Self.names.anchor] = other[Self.names.anchor]
    try folder.expectRefusal(changed, "another store's log and anchor")
    try folder.expectAcceptance(changed, "another store's log and anchor")
  }

  @Test func `an anchor that is missing or changed is refused, and a torn one is not`() throws {
    let files = try folder.stored(at: try crashed())
    let anchor = try #require(files[Self.names.anchor])
    var changed = files
    changed[Self.names.anchor] = nil
    try folder.expectRefusal(changed, "without an anchor")
    try folder.expectAcceptance(changed, "without an anchor")
    changed[Self.names.log] = nil
    try folder.expectRefusal(changed, "without anchor and log")
    changed = files
    changed[Self.names.anchor] = Data()
    try folder.expectRefusal(changed, "an empty anchor")
    for byte in 0..<anchor.count / 2 where byte % 7 == 0 {
      var torn = anchor
      torn[byte] ^= 1
      changed[Self.names.anchor] = torn
      let store = try folder.open(at: try folder.place(changed))
      #expect(try store.count() == 35)
      try store.close()
    }
    for byte in 0..<104 where byte % 7 == 0 {
      var torn = anchor
      torn[byte] ^= 1
      torn[512 + byte] ^= 1
      changed[Self.names.anchor] = torn
      try folder.expectRefusal(changed, "both parts of the anchor changed in byte \(byte)")
    }
  }

  @Test(arguments: [true, false], [0, 1, 1 << 63, .max - 1, .max] as [UInt64])
  func `a generation in a first page that was changed is believed by no call`(
    hasLog: Bool, generation: UInt64
  ) throws {
    var files = try folder.stored(at: try crashed())
    if !hasLog { files = try folder.stored(at: folder.store) }
    var database = try #require(files["store.sqlite"])
    withUnsafeBytes(of: generation.bigEndian) { bytes in
      database.replaceSubrange(80..<88, with: bytes)
    }
    files["store.sqlite"] = database
    let place = try folder.place(files)
    let error = #expect(throws: SmartStoreError.self) { try folder.open(at: place).close() }
    #expect(error?.code == .corrupt)
    #expect(try !StoreMaintenance(at: place).verify(folder.encryption).isClean)
    // There is no loss to accept: the page is damaged, and the WAL is whole.
    #expect(try !StoreMaintenance(at: place).acceptLostLog(folder.encryption).isClean)
    #expect(try folder.stored(at: place) == files)
  }

  @Test func `no loss is accepted of a database that is another store's`() throws {
    var files = try folder.stored(at: try crashed())
    let other = try folder.stored(
      at: try crashed(as: "other-crashed", at: folder.url.appending(path: "other")))
    files["store.sqlite"] = other["store.sqlite"]
    files[Self.names.log] = nil
    let place = try folder.place(files)
    #expect(try !StoreMaintenance(at: place).acceptLostLog(folder.encryption).isClean)
    #expect(try folder.stored(at: place) == files)
  }

  @Test func `a log that continues where its anchor was left behind is whole`() throws {
    let store = try folder.open()
    try store.fill(20)
    let anchors = try (0..<6).map { _ in
      try store.fill(3)
      return try #require(try folder.stored(at: folder.store)[Self.names.anchor])
    }
    var files = try folder.stored(at: folder.store)
    try store.close()
    for anchor in anchors {
      files[Self.names.anchor] = anchor
      let store = try folder.open(at: try folder.place(files))
      #expect(try store.count() == 38)
      try store.fill(1)
      try store.close()
    }
  }

  @Test func `readers open every time while a writer begins one WAL after another`() async throws {
    var options = StoreDatabaseOptions()
    options.checkpointPages = 4
    options.checkpointInterval = 8 << 10
    let store = try folder.open(options)
    try store.fill(20)
    let isDone = Task.detached { [store] in for _ in 0..<150 { try store.fill(3) } }
    var reading = StoreDatabaseOptions()
    reading.access = .readOnly
    for _ in 0..<60 {
      let reader = try folder.open(reading)
      #expect(try reader.count() >= 20)
      try reader.close()
      await Task.yield()
    }
    try await isDone.value
    try store.close()
  }

  @Test func `commits that do not wait for the disk may be missing after a crash`() throws {
    let store = try folder.open()
    try store.fill(20)
    try store.commitWithoutSync()
    let durable = try folder.stored(at: folder.store)
    for _ in 0..<5 { try store.fill(3) }
    var files = try folder.stored(at: folder.store)
    files[Self.names.log] = durable[Self.names.log]
    let crashed = try folder.open(at: try folder.place(files))
    #expect(try crashed.count() == 20)
    try crashed.close()
    // A checkpoint brings them to the disk.
    try store.checkpoint()
    files = try folder.stored(at: folder.store)
    files[Self.names.log] = durable[Self.names.log]
    try folder.expectRefusal(files, "cut after a checkpoint")
    try store.close()
  }

  @Test func `a new data key, a new key, VACUUM and a copy keep the log bound`() throws {
    var store = try folder.open()
    try store.fillSoup(20)
    try store.close()
    let other = FixedKeyProvider(SymmetricKey(size: .bits256))
    let maintenance = StoreMaintenance(at: folder.store)
    try maintenance.reencrypt(from: provider, to: other)
    try maintenance.changeKey(from: other, to: provider)
    store = try folder.open()
    try store.vacuum()
    try store.fillSoup(3)
    var files = try folder.stored(at: folder.store)
    try store.close()
    files[Self.names.log] = nil
    try folder.expectRefusal(files, "without a log")
    try maintenance.decrypt(provider)
    #expect(try folder.stored(at: folder.store)[Self.names.anchor] == nil)
    try maintenance.encrypt(provider)
    store = try folder.open()
    try store.close()
    files = try folder.stored(at: folder.store)
    files[Self.names.anchor] = nil
    try folder.expectRefusal(files, "without an anchor after encrypting")
  }

  @Test func `a running store's check finds that its log was removed or replaced`() async throws {
    let soup = "notes"
    for isReplaced in [false, true] {
      let place = folder.url.appending(path: "running-\(isReplaced)")
      let store = try await SmartStore.open(at: place, encryption: folder.encryption)
      try await store.registerSoup(withName: soup, withIndices: .init("key:integer"))
      #expect(try await store.verify().isClean)
      let log = place.appending(path: Self.names.log)
      try FileManager.default.removeItem(at: log)
      if isReplaced { try Data().write(to: log) }
      #expect(try await store.verify().findings.contains { $0.kind == .log })
      try? await store.close()
    }
  }
}
