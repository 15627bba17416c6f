import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

@testable import FileSync

/// Which queued files are held, why, and how they go on.
@Suite struct HeldFilesTests {
  @Test
  func `a file that the server refuses is held with the server's reason, until it is retried`()
    async throws
  {
    try await FileDevice.with { device in
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        let other = try await files.addFile(
          FileDevice.pieces([2]), NewFile(name: "b.txt", record: device.record))
        device.org.add(
          MockOrgFault(
            method: "POST",
            action: .status(
              400, body: #"[{"errorCode":"STORAGE_LIMIT_EXCEEDED","message":"Storage is full."}]"#))
        )
        let report = try await files.sync().uploads
        #expect(report.rejected == [queued.id: "Storage is full."])
        #expect(report.uploaded.keys.sorted() == [other.id])
        let held = try await files.queuedFile(queued.id)
        #expect(held.state == .rejected && held.errorCode == "STORAGE_LIMIT_EXCEEDED")
        #expect(try await files.upload().rejected.count == 1)
        #expect(device.uploads == 2)
        try await files.retry(queued.id)
        #expect(try await files.upload().uploaded.count == 1)
        #expect(try await device.versions.count == 2)
      }
    }
  }

  @Test func `a file whose record is deleted on the server is held, and moves to another record`()
    async throws
  {
    try await FileDevice.with { device in
      let gone = try await device.org.create("Account", ["Name": "Gone"])
      try await device.org.delete("Account", id: gone)
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1]),
          NewFile(name: "a.txt", record: FileRecord(id: gone, objectType: "Account")))
        let report = try await files.upload()
        #expect(report.orphaned.keys.sorted() == [queued.id])
        let held = try await files.queuedFile(queued.id)
        #expect(held.state == .orphaned && held.problem?.isEmpty == false)
        try await files.move(queued.id, to: device.record)
        let fileId = try await files.upload().uploaded[queued.id]
        #expect(try await device.documents(of: device.account) == [fileId])
      }
    }
  }

  @Test func `a file whose record is deleted locally is held until that is undone`() async throws {
    try await FileDevice.with { device in
      let local = try await device.createOffline("Harbor")
      try await device.process { files in
        let ofServer = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        let ofLocal = try await files.addFile(
          FileDevice.pieces([2]),
          NewFile(name: "b.txt", record: FileRecord(id: local, objectType: "Account")))
        try await device.store.deleteRecord(id: device.account, in: FileDevice.soup)
        try await device.store.undoEdit(id: local, in: FileDevice.soup)
        let report = try await files.upload()
        #expect(report.orphaned.keys.sorted() == [ofServer.id, ofLocal.id].sorted())
        #expect(device.uploads == 0)
        try await device.store.upsert(
          entries: [["Id": .string(device.account)]], forSoupNamed: FileDevice.soup,
          withExternalIdPath: "Id")
        #expect(try await files.upload().uploaded.keys.sorted() == [ofServer.id])
        try await files.removeQueued(ofLocal.id)
        #expect(try await files.queuedFiles().isEmpty)
      }
      #expect(try device.stored.count == 1)
    }
  }

  @Test
  func `a version of a queued file that is removed is held, and can become a file of its own`()
    async throws
  {
    try await FileDevice.with { device in
      try await device.process { files in
        let first = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        let second = try await files.addVersion(of: first.id, FileDevice.pieces([2]))
        try await files.removeQueued(first.id)
        #expect(try await files.upload().orphaned.keys.sorted() == [second.id])
        try await files.move(second.id, to: device.record)
        #expect(try await files.upload().isComplete)
        #expect(try await device.versions.map(\.title) == ["a"])
      }
    }
  }

  @Test(arguments: [true, false])
  func `a file whose stored content is damaged or missing is held, and nothing is created`(
    _ isMissing: Bool
  ) async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces(FileDevice.bytes(200_000)),
          NewFile(name: "a.txt", record: device.record))
        let stored = try #require(try device.stored.first)
        if isMissing {
          try FileManager.default.removeItem(at: stored)
        } else {
          var bytes = try Data(contentsOf: stored)
          bytes[150_000] ^= 1
          try bytes.write(to: stored)
        }
        #expect(try await files.upload().rejected.keys.sorted() == [queued.id])
        #expect(try await device.versions.isEmpty)
      }
    }
  }

  // MARK: In doubt

  @Test func `a file that the server may have is in doubt if it cannot be searched`() async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        device.org.add(MockOrgFault(method: "POST", action: .dropAfterCommit))
        await #expect(throws: FileSyncError.self) { try await files.upload() }
        device.org.add(
          MockOrgFault(
            path: "/query",
            action: .status(400, body: #"[{"errorCode":"INVALID_FIELD","message":"No field."}]"#)))
        #expect(try await files.upload().inDoubt == [queued.id])
        #expect(try await files.queuedFile(queued.id).state == .inDoubt)
        for call in [
          { try await files.retry(queued.id) },
          { try await files.move(queued.id, to: device.record) },
          { try await files.resolve(queued.id, as: .isCandidate("068")) },
        ] as [() async throws -> Void] {
          let error = await #expect(throws: FileSyncError.self) { try await call() }
          #expect(error?.code == .invalidUpload)
        }
        #expect(try await files.upload().inDoubt == [queued.id])
        try await files.resolve(queued.id, as: .isMissing)
        #expect(try await files.upload().uploaded.count == 1)
        // The caller was wrong, and the upload did what the caller said.
        #expect(try await device.versions.count == 2)
      }
    }
  }

  @Test func `a version with other bytes than were sent is a candidate that the caller decides on`()
    async throws
  {
    try await FileDevice.with { device in
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        device.org.add(
          MockOrgFault(
            path: "Checksum",
            action: .editedBody { body in
              let text = String(decoding: body, as: UTF8.self)
              let sum = #""Checksum":""#
              guard let range = text.range(of: sum) else { return body }
              let end = text.index(range.upperBound, offsetBy: 32)
              return Array(
                text.replacingCharacters(
                  in: range.upperBound..<end, with: String(repeating: "0", count: 32)
                ).utf8)
            }))
        #expect(try await files.upload().inDoubt == [queued.id])
        let candidate = try #require(try await files.queuedFile(queued.id).candidates.first)
        #expect(candidate.checksum == String(repeating: "0", count: 32))
        try await files.resolve(queued.id, as: .isCandidate(candidate.id))
        #expect(try await files.upload().uploaded.count == 1)
        #expect(try await device.versions.count == 1)
      }
    }
  }

  // MARK: Keeping

  @Test func `the quota evicts downloaded content for queued files, and never those`() async throws
  {
    try await FileDevice.with { device in
      try await device.upload(FileDevice.bytes(100), name: "small")
      try await device.process(quota: 250) { files in
        try await files.refresh()
        let small = try #require(try await files.files().first).id
        try await files.download(small)
        let file = NewFile(name: "photo.jpg", record: device.record)
        let first = try await files.addFile(FileDevice.pieces(FileDevice.bytes(150)), file)
        #expect(try await files.file(small).state == .available)
        let second = try await files.addFile(FileDevice.pieces(FileDevice.bytes(200)), file)
        #expect(try await files.file(small).state == .onServer)
        let error = await #expect(throws: FileSyncError.self) { try await files.download(small) }
        #expect(error?.code == .quotaExceeded)
        for id in [first.id, second.id] {
          #expect(try await files.content(of: id).bytes().isEmpty == false)
        }
        #expect(try await files.usedBytes() == 350)
        try await files.upload()
        // What was uploaded can be downloaded again.
        try await files.download(small)
        #expect(try await files.usedBytes() <= 250)
      }
    }
  }

  @Test func `queued files count as unsynced, so that a logout is refused`() async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        #expect(try await device.store.unsyncedEntries() == ["syncs_file_uploads": 1])
        try await files.upload()
        #expect(try await device.store.unsyncedEntries().isEmpty)
      }
    }
  }

  @Test func `a stream has each state of a queued file, in order`() async throws {
    try await FileDevice.with { device in
      let files = try await device.open()
      let stream = files.changedQueuedFiles()
      let queued = try await files.addFile(
        FileDevice.pieces(FileDevice.bytes(500_000)),
        NewFile(name: "a.txt", record: device.record))
      let fileId = try await files.upload().uploaded[queued.id]
      await files.close()
      var values: [QueuedFile] = []
      for await value in stream { values.append(value) }
      #expect(values.first?.state == .queued && values.last?.state == .uploaded)
      #expect(values.last?.fileId == fileId)
      let sending = values.filter { $0.state == .uploading }.map(\.sentBytes)
      #expect(sending.first == 0 && sending == sending.sorted())
    }
  }

  @Test func `closing ends an upload that runs, and the next manager recovers it`() async throws {
    try await FileDevice.with { device in
      let clock = HandClock()
      let files = try await device.open(now: { clock.now })
      let queued = try await files.addFile(
        FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
      let stream = files.changedQueuedFiles()
      device.org.add(MockOrgFault(method: "POST", action: .delay(.seconds(600))))
      let upload = Task { try await files.upload() }
      for await value in stream where value.state == .uploading { break }
      await files.close()
      let error = await #expect(throws: FileSyncError.self) { try await upload.value }
      #expect(error?.code == .closed)
      device.org.removeAllFaults()
      try await device.process(now: { clock.now }) { files in
        let left = try await files.queuedFile(queued.id)
        #expect(left.state == .unacknowledged)
        clock.advance(200)
        #expect(try await files.upload().uploaded.count == 1)
      }
      #expect(try await device.versions.count == 1)
    }
  }

  @Test func `closing waits for an addition that runs, which queues nothing and leaves nothing`()
    async throws
  {
    try await FileDevice.with { device in
      let files = try await device.open()
      let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
      let adding = Task {
        try await files.addFile(pieces, NewFile(name: "a.txt", record: device.record))
      }
      source.yield(FileDevice.bytes(100_000))
      try await poll { try !device.stored.isEmpty }
      let closing = Task { await files.close() }
      while (try? await files.files()) != nil { await Task.yield() }
      let second = await #expect(throws: FileSyncError.self) { _ = try await device.open() }
      #expect(second?.code == .inUse)
      source.yield([1])
      let error = await #expect(throws: FileSyncError.self) { try await adding.value }
      #expect(error?.code == .closed)
      await closing.value
      #expect(try device.stored.isEmpty)
      try await device.process { files in
        let queued = try await files.queuedFiles()
        #expect(queued.isEmpty)
      }
    }
  }

  @Test func `a file that is described wrongly, or is no file, is refused`() async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        let long = String(repeating: "x", count: 256)
        for file in [
          NewFile(name: "", record: device.record), NewFile(name: "a/b", record: device.record),
          NewFile(name: long, record: device.record),
          NewFile(name: "a", title: long, record: device.record),
          NewFile(name: "a", record: FileRecord(id: "", objectType: "Account")),
        ] {
          let error = await #expect(throws: FileSyncError.self) {
            try await files.addFile(FileDevice.pieces([1]), file)
          }
          #expect(error?.code == .invalidUpload)
        }
        for call in [
          { _ = try await files.addVersion(of: "069", FileDevice.pieces([1])) },
          { _ = try await files.queuedFile("file_1") }, { try await files.removeQueued("x") },
          { try await files.retry("x") }, { try await files.move("x", to: device.record) },
          { try await files.resolve("x", as: .isMissing) },
        ] as [() async throws -> Void] {
          let error = await #expect(throws: FileSyncError.self) { try await call() }
          #expect(error?.code == .unknownFile)
        }
      }
      #expect(try device.stored.isEmpty)
    }
  }
}
