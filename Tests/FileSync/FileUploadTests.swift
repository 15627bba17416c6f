import Crypto
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

@testable import FileSync

/// Does each queued file reach the server, once, whatever interrupts it?
@Suite struct FileUploadTests {
  private static let chunk = Int(ContentChunks.chunkSize)

  private func md5(_ bytes: [UInt8]) -> String { Hex.encode(Insecure.MD5.hash(data: bytes)) }

  // MARK: The way up

  @Test(arguments: [1, chunk - 1, chunk, 3 * chunk + 7])
  func `a queued file is uploaded to its record with its bytes, and stays readable`(
    _ count: Int
  ) async throws {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(count)
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces(bytes), NewFile(name: "roof.jpg", record: device.record))
        #expect(queued.state == .queued && queued.title == "roof" && queued.size == Int64(count))
        #expect(try await files.content(of: queued.id).bytes() == bytes)
        #expect(try await files.usedBytes() == Int64(count))
        let report = try await files.upload()
        let fileId = try #require(report.uploaded[queued.id])
        #expect(report.isComplete)
        #expect(try await device.documents(of: device.account) == [fileId])
        #expect(
          try await device.versions == [
            OrgVersion(title: "roof", number: "1", checksum: md5(bytes), document: fileId)
          ])
        #expect(try await files.queuedFiles().isEmpty)
        let file = try await files.file(fileId)
        #expect(file.state == .available && file.fileExtension == "jpg")
        #expect(file.records == [device.record])
        #expect(try await files.sync().removed == 0)
        #expect(try await files.content(of: fileId).bytes() == bytes)
        #expect(device.wire.ranges.isEmpty)
      }
      let stored = try #require(try device.stored.first)
      #expect(try device.stored.count == 1)
      if count > 100 {
        #expect(try Data(contentsOf: stored).range(of: Data(bytes.prefix(32))) == nil)
      }
    }
  }

  @Test func `a file on disk is copied, and one that cannot be read queues nothing`() async throws {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(2 * Self.chunk)
      let source = device.store.directory.appending(path: "source")
      try Data(bytes).write(to: source)
      try await device.process { files in
        let file = NewFile(name: "a.bin", record: device.record)
        try await files.addFile(at: source, file)
        try FileManager.default.removeItem(at: source)
        for url in [source, device.store.directory] {
          let error = await #expect(throws: FileSyncError.self) {
            try await files.addFile(at: url, file)
          }
          #expect(error?.code == .unreadableSource)
        }
        #expect(try await files.queuedFiles().count == 1)
        #expect(try device.stored.count == 1)
        try await files.upload()
        #expect(try await device.versions.map(\.checksum) == [md5(bytes)])
      }
    }
  }

  @Test func `a file of a record that was created offline waits for the record's id`() async throws
  {
    try await FileDevice.with { device in
      let local = try await device.createOffline("Harbor")
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1, 2, 3]),
          NewFile(name: "a.jpg", record: FileRecord(id: local, objectType: "Account")))
        #expect(queued.state == .waitingForRecord)
        #expect(try await files.upload().waiting == [queued.id])
        #expect(device.uploads == 0)
        try await device.syncUp()
        #expect(try await files.queuedFile(queued.id).state == .queued)
        let report = try await files.upload()
        let record = try #require(try await device.store.serverId(ofLocalId: local))
        #expect(try await device.documents(of: record) == [report.uploaded[queued.id]])
        // A caller may still know the record by its local id alone.
        let late = try await files.addFile(
          FileDevice.pieces([4]),
          NewFile(name: "b.jpg", record: FileRecord(id: local, objectType: "Account")))
        #expect(late.state == .queued)
        try await files.upload()
        #expect(try await device.documents(of: record).count == 2)
      }
    }
  }

  @Test func `versions are uploaded in order, behind the file that they are of`() async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        let first = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        let second = try await files.addVersion(of: first.id, FileDevice.pieces([2]))
        #expect(second.state == .waitingForFile && second.versionOf == first.id)
        let document = try #require(try await files.upload().uploaded[second.id])
        let third = try await files.addVersion(of: document, FileDevice.pieces([3]))
        let fourth = try await files.addVersion(of: document, FileDevice.pieces([4]))
        #expect([third, fourth].map(\.state) == [.queued, .waitingForFile])
        let report = try await files.upload()
        #expect(report.uploaded.values.allSatisfy { $0 == document } && report.isComplete)
        #expect(
          try await device.versions.map(\.checksum) == [[1], [2], [3], [4]].map { md5($0) })
        #expect(try await files.content(of: document).bytes() == [4])
        #expect(try await files.file(document).state == .available)
      }
      #expect(try device.stored.count == 1)
    }
  }

  @Test func `an attachment of an older org is uploaded to its record`() async throws {
    try await FileDevice.with { device in
      try await device.process(attachments: true) { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1, 2]),
          NewFile(name: "a.txt", record: device.record, isAttachment: true))
        let id = try #require(try await files.upload().uploaded[queued.id])
        let found = try await device.org.query("SELECT Id, Name, ParentId FROM Attachment")
        #expect(found.map { $0["Id"]?.string } == [id])
        #expect(found.first?["ParentId"]?.string == device.account)
        try await files.refresh()
        #expect(try await files.file(id).state == .available)
        let error = await #expect(throws: FileSyncError.self) {
          try await files.addVersion(of: id, FileDevice.pieces([3]))
        }
        #expect(error?.code == .invalidUpload)
      }
    }
  }

  @Test func `a body that a closure reads is sent whole, or ends with the closure's error`() throws
  {
    let bytes = FileDevice.bytes(200_000)
    let body =
      UploadBody([1])
      + UploadBody(length: 200_000) { count, offset in
        Array(bytes[Int(offset)..<min(Int(offset) + min(count, 40_000), bytes.count)])
      } + UploadBody([2])
    #expect(try body.bytes() == [1] + bytes + [2])
    for read in [{ _, _ in [] }, { _, _ in throw Killed() }]
      as [@Sendable (Int, Int64) throws -> [UInt8]]
    {
      let error = #expect(throws: TransportError.self) {
        try UploadBody(length: 9, read: read).bytes()
      }
      #expect(error?.code == .unreadableBody)
    }
  }

  // MARK: Never twice

  @Test(arguments: [true, false])
  func `an upload whose response is lost is found, and not sent again`(
    _ isAttachment: Bool
  ) async throws {
    try await FileDevice.with { device in
      let path = isAttachment ? "/sobjects/Attachment" : "/sobjects/ContentVersion"
      try await device.process(attachments: isAttachment) { files in
        let file = NewFile(name: "a.txt", record: device.record, isAttachment: isAttachment)
        let first = try await files.addFile(FileDevice.pieces([1, 2]), file)
        let twin = try await files.addFile(FileDevice.pieces([1, 2]), file)
        for _ in 0..<2 {
          device.org.add(MockOrgFault(method: "POST", path: path, action: .dropAfterCommit))
          let error = await #expect(throws: FileSyncError.self) { try await files.upload() }
          #expect(error?.code == .transport)
        }
        let states = try await files.queuedFiles().map(\.state)
        #expect(states == [.unacknowledged])
        let report = try await files.upload()
        #expect(report.uploaded[twin.id] != nil && report.isComplete)
        #expect(try await files.queuedFiles().isEmpty)
        #expect(first.id != twin.id)
      }
      let object = isAttachment ? "Attachment" : "ContentVersion"
      #expect(try await device.org.count(object) == 2)
    }
  }

  @Test
  func `an upload that never arrived is sent again, once the server cannot create it any more`()
    async throws
  {
    try await FileDevice.with { device in
      let clock = HandClock()
      try await device.process(now: { clock.now }) { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1, 2]), NewFile(name: "a.txt", record: device.record))
        device.org.add(MockOrgFault(method: "POST", action: .dropBeforeCommit))
        await #expect(throws: FileSyncError.self) { try await files.upload() }
        #expect(try await files.queuedFile(queued.id).state == .unacknowledged)
        clock.advance(119)
        #expect(try await files.upload().unacknowledged == [queued.id])
        #expect(try await device.versions.isEmpty)
        clock.advance(1)
        #expect(try await files.upload().uploaded.count == 1)
        #expect(try await device.versions.count == 1)
      }
    }
  }

  @Test
  func `the queue survives the end of the process at every step, and each file is uploaded once`()
    async throws
  {
    let clock = HandClock()
    var step = 0
    var isOver = false
    while !isOver {
      try await FileDevice.with { device in
        let killer = StepKiller(at: step)
        let bytes = [FileDevice.bytes(Self.chunk + 1), FileDevice.bytes(10, seed: 2)]
        var added: [String] = []
        let file = NewFile(name: "a.jpg", record: device.record)
        do {
          try await device.process(now: { clock.now }, onStep: killer.step) { files in
            added.append(try await files.addFile(FileDevice.pieces(bytes[0]), file).id)
            added.append(try await files.addVersion(of: added[0], FileDevice.pieces(bytes[1])).id)
            try await files.upload()
          }
        } catch is Killed {}
        isOver = !killer.hasKilled
        clock.advance(10)
        try await device.process(now: { clock.now }) { files in
          _ = try await files.upload()
          clock.advance(200)
          _ = try await files.upload()
          #expect(try await files.queuedFiles().isEmpty, "step \(step)")
          let sums = try await device.versions.map(\.checksum)
          // What was added before the end is uploaded; the addition that it interrupted may be.
          #expect(sums.count >= added.count, "step \(step)")
          #expect(sums == Array(bytes.map { md5($0) }.prefix(sums.count)), "step \(step)")
          for document in Set(try await device.versions.map(\.document)) {
            #expect(try await files.content(of: document).bytes() == bytes[sums.count - 1])
          }
          #expect(try device.stored.count == min(sums.count, 1), "step \(step)")
        }
      }
      step += 1
    }
    #expect(step > 15)
  }

  @Test(arguments: [500, 503])
  func `a server that fails holds no other file back, and nothing is doubled`(
    _ status: Int
  ) async throws {
    try await FileDevice.with { device in
      let clock = HandClock()
      try await device.process(now: { clock.now }) { files in
        var ids: [String] = []
        for number in 0..<3 {
          ids.append(
            try await files.addFile(
              FileDevice.pieces([UInt8(number)]),
              NewFile(name: "\(number).txt", record: device.record)
            ).id)
        }
        device.org.add(MockOrgFault(method: "POST", action: .status(status, body: "[]")))
        let report = try await files.upload()
        #expect(report.unacknowledged == [ids[0]] && report.uploaded.count == 2)
        if status == 503 { clock.advance(120) }
        #expect(try await files.upload().uploaded.count == 1)
        #expect(try await device.versions.count == 3)
      }
    }
  }

  @Test func `an expired token is refreshed, and the file sent again`() async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        device.org.expireAccessTokens()
        #expect(try await files.upload().uploaded.count == 1)
        #expect(try await device.versions.count == 1)
      }
    }
  }

  @Test func `a server that cannot be reached keeps the file queued`() async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.txt", record: device.record))
        device.org.add(MockOrgFault(method: "POST", action: .requestLimit))
        let error = await #expect(throws: FileSyncError.self) { try await files.upload() }
        #expect(error?.code == .server)
        #expect(try await files.queuedFile(queued.id).state == .queued)
        device.org.add(MockOrgFault(method: "POST", action: .rowLock))
        #expect(try await files.upload().delayed.keys.sorted() == [queued.id])
        #expect(try await files.upload().uploaded.count == 1)
      }
    }
  }
}
