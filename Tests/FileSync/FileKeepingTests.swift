import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import FileSync

/// Which files come along, which stay, and what a caller sees of it.
@Suite struct FileKeepingTests {
  private static let chunk = Int(ContentChunks.chunkSize)

  private func ids(_ files: FileSyncManager) async throws -> [String: String] {
    Dictionary(try await files.files().map { ($0.title, $0.id) }) { $1 }
  }

  @Test func `a sync downloads what a rule names by object, type, size and age`() async throws {
    try await FileDevice.with { device in
      for (name, count) in [("a.pdf", 10), ("b.pdf", 1_000), ("c.txt", 10), ("d", 10)] {
        try await device.upload(FileDevice.bytes(count), name: name)
      }
      let day = Duration.seconds(86_400)
      let rules: [(FileRule, Set<String>)] = [
        (FileRule(objectTypes: ["Contact"]), []),
        (FileRule(fileExtensions: ["PDF"], maxBytes: 100, maxAge: .zero - day), []),
        (FileRule(fileExtensions: ["PDF"], maxBytes: 100, maxAge: day), ["a.pdf"]),
        (FileRule(objectTypes: ["Account"], maxBytes: 999), ["c.txt", "d"]),
        (FileRule(), ["b.pdf"]),
      ]
      for (rule, names) in rules {
        try await device.process(rules: [rule]) { files in
          let report = try await files.sync()
          #expect(report.listed == 4 && report.removed == 0 && report.failed.isEmpty)
          let titles = try await files.files().filter { report.downloaded.contains($0.id) }
          #expect(Set(titles.map(\.title)) == names)
        }
      }
    }
  }

  @Test func `files of records that left the soup go with their content`() async throws {
    try await FileDevice.with { device in
      try await device.upload([1, 2, 3])
      try await device.process(rules: [FileRule()]) { files in
        try await files.sync()
        #expect(try await files.files(ofRecord: device.account).count == 1)
        #expect(try device.stored.count == 1)
        try await device.store.clearSoup(FileDevice.soup)
        #expect(try await files.refresh().removed == 1)
        #expect(try await files.files(ofRecord: device.account).isEmpty)
        #expect(try await files.usedBytes() == 0)
      }
      #expect(try device.stored.isEmpty)
    }
  }

  @Test func `a listing that fails removes nothing`() async throws {
    try await FileDevice.with { device in
      try await device.upload([1, 2, 3])
      try await device.process(rules: [FileRule()]) { files in
        try await files.sync()
        device.org.add(
          MockOrgFault(path: "/query", count: nil, action: .status(500, body: "[]")))
        let error = await #expect(throws: FileSyncError.self) { try await files.sync() }
        #expect(error?.code == .server)
        #expect(try await files.files().map(\.state) == [.available])
      }
    }
  }

  // MARK: Quota

  @Test func `a download on demand evicts the least recently used content`() async throws {
    try await FileDevice.with { device in
      for name in ["a", "b", "c", "d"] {
        try await device.upload(FileDevice.bytes(100), name: name)
      }
      let clock = Mutex<Int64>(SalesforceDate(Date()).milliseconds + 1_000)
      let files = try await device.open(quota: 350) {
        clock.withLock { clock in
          clock += 1
          return clock
        }
      }
      try await files.refresh()
      let ids = try await ids(files)
      for name in ["a", "b", "c"] { try await files.download(try #require(ids[name])) }
      let open = try await files.content(of: try #require(ids["b"]))
      _ = try await files.content(of: try #require(ids["a"]))
      try await files.download(try #require(ids["d"]))
      let titles = try await files.files().filter(\.hasContent).map(\.title)
      #expect(Set(titles) == ["a", "b", "d"])
      try await files.download(try #require(ids["c"]))
      #expect(try await files.file(try #require(ids["b"])).state == .onServer)
      // Its reader is not disturbed.
      #expect(try await open.bytes() == FileDevice.bytes(100))
      #expect(try await files.usedBytes() == 300)
      #expect(try device.stored.count == 3)
      await files.close()
    }
  }

  @Test func `a file larger than the quota is refused, and evicts nothing`() async throws {
    try await FileDevice.with { device in
      try await device.upload(FileDevice.bytes(100), name: "small")
      try await device.upload(FileDevice.bytes(1_000), name: "large")
      try await device.process(quota: 999) { files in
        try await files.refresh()
        let ids = try await ids(files)
        try await files.download(try #require(ids["small"]))
        let large = try #require(ids["large"])
        let error = await #expect(throws: FileSyncError.self) { try await files.download(large) }
        #expect(error?.code == .quotaExceeded && error?.isRetryable == false)
        #expect(try await files.file(large).state == .onServer)
        #expect(try await files.file(try #require(ids["small"])).state == .available)
        #expect(try await files.usedBytes() == 100)
      }
      #expect(try device.stored.count == 1)
    }
  }

  @Test func `downloads by rule keep the newest files that fit, and a second sync changes nothing`()
    async throws
  {
    try await FileDevice.with { device in
      for name in ["1", "2", "3", "4"] {
        try await device.upload(FileDevice.bytes(100), name: name)
      }
      try await device.process(rules: [FileRule()], quota: 250) { files in
        let first = try await files.sync()
        #expect(first.downloaded.count == 2 && first.beyondQuota.count == 2)
        let second = try await files.sync()
        #expect(second.downloaded.isEmpty && second.beyondQuota == first.beyondQuota)
        let wanted = first.beyondQuota[0]
        try await files.download(wanted)
        // What was requested is more recent than what only came along.
        let third = try await files.sync()
        #expect(third.downloaded.isEmpty)
        #expect(try await files.file(wanted).state == .available)
      }
    }
  }

  // MARK: States

  @Test func `a stream has each state and the progress of a download, in order`() async throws {
    try await FileDevice.with { device in
      try await device.upload(FileDevice.bytes(8 * Self.chunk))
      // In small pieces.
      device.wire.edit { $0 }
      try await device.process { files in
        let stream = files.changedFiles()
        try await files.refresh()
        let id = try #require(try await files.files().first).id
        try await files.download(id)
        try await files.evict(id)
        await files.close()
        var states: [FileState] = []
        var received: [Int64] = []
        for await file in stream {
          if states.last != file.state { states.append(file.state) }
          if file.state == .downloading { received.append(file.receivedBytes) }
        }
        #expect(states == [.onServer, .downloading, .available, .onServer])
        #expect(received == received.sorted() && received.count > 2)
      }
    }
  }

  @Test func `two downloads of one file at once make one transfer`() async throws {
    try await FileDevice.with { device in
      try await device.upload(FileDevice.bytes(3 * Self.chunk))
      try await device.process { files in
        try await files.refresh()
        let id = try #require(try await files.files().first).id
        async let first = files.download(id)
        async let second = files.download(id)
        #expect(try await [first.state, second.state] == [.available, .available])
        #expect(device.wire.ranges.count == 1)
      }
    }
  }

  @Test func `a second manager is refused while the first is open, and a closed one works no more`()
    async throws
  {
    try await FileDevice.with { device in
      let files = try await device.open()
      let error = await #expect(throws: FileSyncError.self) { _ = try await device.open() }
      #expect(error?.code == .inUse)
      await files.close()
      for call in [files.sync, files.refresh] {
        let error = await #expect(throws: FileSyncError.self) { _ = try await call() }
        #expect(error?.code == .closed)
      }
      await #expect(throws: FileSyncError.self) { try await files.files() }
    }
  }

  @Test func `opening removes contents that no entry names, and nothing else`() async throws {
    try await FileDevice.with { device in
      try await device.upload([1, 2, 3])
      try await device.process(rules: [FileRule()]) { try await $0.sync() }
      let folder = device.store.directory.appending(path: "synced-files")
      try Data([1]).write(to: folder.appending(path: UUID().uuidString))
      try Data([1]).write(to: folder.appending(path: "notes.txt"))
      try await device.process { files in
        let states = try await files.files().map(\.state)
        #expect(states == [.available])
      }
      #expect(try device.stored.count == 2)
    }
  }

  @Test func `an unknown id is a typed error in every call`() async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        for id in ["", "069", "'; DROP TABLE x"] {
          for call in [
            { _ = try await files.download(id) }, { _ = try await files.file(id) },
            { _ = try await files.content(of: id) }, { try await files.evict(id) },
          ] as [() async throws -> Void] {
            let error = await #expect(throws: FileSyncError.self) { try await call() }
            #expect(error?.code == .unknownFile)
          }
        }
      }
    }
  }
}
