import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import FileSync

/// Does a download bring exactly the server's bytes, whatever interrupts it?
@Suite struct FileDownloadTests {
  private static let chunk = Int(ContentChunks.chunkSize)

  @Test(arguments: [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk])
  func `a downloaded file has the bytes of the server, and none of them stands on disk`(
    _ count: Int
  ) async throws {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(count)
      try await device.upload(bytes)
      try await device.process { files in
        try await files.refresh()
        let listed = try #require(try await files.files().first)
        #expect(listed.state == .onServer && listed.version.size == Int64(count))
        #expect(listed.title == "plan.pdf" && listed.fileExtension == "pdf")
        #expect(listed.records == [FileRecord(id: device.account, objectType: "Account")])
        await #expect(throws: FileSyncError.self) { try await files.content(of: listed.id) }
        let file = try await files.download(listed.id)
        #expect(file.state == .available && file.receivedBytes == Int64(count) && file.hasContent)
        #expect(try await files.content(of: listed.id).bytes() == bytes)
      }
      let stored = try Data(contentsOf: try #require(try device.stored.first))
      if count > 100 { #expect(stored.range(of: Data(bytes.prefix(32))) == nil) }
    }
  }

  @Test(arguments: ["[]", #"[{"ContentDocumentId":"069","LinkedEntityId":"001"}]"#])
  func `a list of files under addresses that are always new ends with an error`(
    records: String
  ) async throws {
    try await FileDevice.with { device in
      try await device.process { files in
        device.wire.respond { request in
          guard request.url.path().contains("/query") else { return nil }
          let page = Int(request.url.path().split(separator: "-").last ?? "") ?? 0
          return RestResponse(
            json: #"{"done":false,"records":\#(records),"#
              + #""nextRecordsUrl":"/services/data/v66.0/query/01g-\#(page + 1)"}"#)
        }
        let error = await #expect(throws: FileSyncError.self) { try await files.refresh() }
        #expect(error?.code == .unexpectedResponse)
        #expect(error?.message.contains("do not end") == true)
        #expect(device.wire.requests <= 1_001)
      }
    }
  }

  @Test func `a part of a file is read without the rest, at any offset`() async throws {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(2 * Self.chunk + 10)
      try await device.upload(bytes)
      try await device.process { files in
        try await files.refresh()
        let id = try #require(try await files.files().first).id
        try await files.download(id)
        let content = try await files.content(of: id)
        for (offset, count) in [
          (0, 5), (Self.chunk - 2, 4), (Self.chunk, Self.chunk), (10, 2 * Self.chunk),
          (bytes.count - 1, 10), (bytes.count, 1), (bytes.count + 9, 1),
        ] {
          let start = min(offset, bytes.count)
          let expected = Array(bytes[start..<min(start + count, bytes.count)])
          #expect(try content.read(count, at: Int64(offset)) == expected)
        }
        let copy = device.store.directory.appending(path: "copy")
        try await content.copy(to: copy)
        #expect(try Data(contentsOf: copy) == Data(bytes))
        await #expect(throws: FileSyncError.self) { try await content.copy(to: copy) }
        #expect(try Data(contentsOf: copy) == Data(bytes))
      }
    }
  }

  @Test(arguments: [1, chunk, 2 * chunk + 5])
  func `a download resumes behind the last whole chunk after the process ends`(
    _ end: Int
  ) async throws {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(4 * Self.chunk + 100)
      try await device.upload(bytes)
      let id = try await device.process { files in
        try await files.refresh()
        return try #require(try await files.files().first).id
      }
      await #expect(throws: Killed.self) {
        try await device.process(onPiece: { if $0 >= Int64(end) { throw Killed() } }) { files in
          try await files.download(id)
        }
      }
      try await device.process { files in
        let partial = try await files.file(id)
        #expect(partial.state == .partial && !partial.hasContent)
        let start = partial.receivedBytes
        #expect(start % Int64(Self.chunk) == 0 && start + Int64(Self.chunk) > Int64(end))
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == bytes)
        #expect(device.wire.ranges == [nil, start == 0 ? nil : "bytes=\(start)-"])
      }
      #expect(try device.stored.count == 1)
    }
  }

  @Test func `a connection that ends again and again is resumed where it ended`() async throws {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(5 * Self.chunk)
      try await device.upload(bytes)
      device.wire.cut(at: [Self.chunk + 7, 2 * Self.chunk])
      try await device.process { files in
        try await files.refresh()
        let id = try #require(try await files.files().first).id
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == bytes)
        #expect(
          device.wire.ranges == [nil, "bytes=\(Self.chunk)-", "bytes=\(3 * Self.chunk)-"])
      }
    }
  }

  @Test func `a server without ranges sends the file from its start`() async throws {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(3 * Self.chunk)
      try await device.upload(bytes)
      device.wire.refuseRanges()
      device.wire.cut(at: [2 * Self.chunk])
      try await device.process { files in
        try await files.refresh()
        let id = try #require(try await files.files().first).id
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == bytes)
      }
    }
  }

  @Test func `a stored part that was damaged is downloaded again from the damage on`() async throws
  {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(4 * Self.chunk)
      try await device.upload(bytes)
      let id = try await device.process { files in
        try await files.refresh()
        return try #require(try await files.files().first).id
      }
      _ = try? await device.process(onPiece: { if $0 >= Int64(3 * Self.chunk) { throw Killed() } })
      {
        try await $0.download(id)
      }
      let url = try #require(try device.stored.first)
      var stored = try Data(contentsOf: url)
      stored[Self.chunk + 28 + 50] ^= 1
      try stored.write(to: url)
      try await device.process { files in
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == bytes)
      }
      #expect(device.wire.ranges.last == "bytes=\(Self.chunk)-")
    }
  }

  @Test func `stored bytes that were changed, moved or cut are never returned`() async throws {
    try await FileDevice.with { device in
      try await device.upload(FileDevice.bytes(2 * Self.chunk))
      try await device.process { files in
        try await files.refresh()
        let id = try #require(try await files.files().first).id
        try await files.download(id)
        let url = try #require(try device.stored.first)
        let whole = try Data(contentsOf: url)
        let half = whole.count / 2
        var changed = whole
        changed[100] ^= 1
        for damaged in [changed, whole[half...] + whole[..<half], whole.dropLast(1)] {
          try Data(damaged).write(to: url)
          let error = await #expect(throws: FileSyncError.self) {
            try await files.content(of: id).bytes()
          }
          #expect(error?.code == .damagedContent)
        }
        // What the error says helps.
        try await files.evict(id)
        try await files.download(id)
        _ = try await files.content(of: id).bytes()
      }
    }
  }

  // MARK: Changes on the server

  @Test
  func `a new version on the server in the middle of a download is downloaded from its start`()
    async throws
  {
    try await FileDevice.with { device in
      try await device.upload(FileDevice.bytes(3 * Self.chunk))
      let id = try await device.process { files in
        try await files.refresh()
        return try #require(try await files.files().first).id
      }
      _ = try? await device.process(onPiece: { if $0 >= Int64(2 * Self.chunk) { throw Killed() } })
      {
        try await $0.download(id)
      }
      let newer = FileDevice.bytes(3 * Self.chunk, seed: 2)
      try await device.upload(newer, document: id)
      try await device.process { files in
        try await files.refresh()
        #expect(try await files.file(id).state == .onServer)
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == newer)
        let third = FileDevice.bytes(10, seed: 3)
        try await device.upload(third, document: id)
        try await files.refresh()
        let outdated = try await files.file(id)
        #expect(outdated.state == .outdated && outdated.hasContent)
        #expect(try await files.content(of: id).bytes() == newer)
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == third)
      }
      #expect(try device.stored.count == 1)
    }
  }

  @Test(arguments: [3 * chunk, 2 * chunk + 9, 0])
  func `an attachment that changes in the middle of a resumed download is never mixed from both`(
    _ count: Int
  ) async throws {
    try await FileDevice.with { device in
      let id = try await device.attach(FileDevice.bytes(3 * Self.chunk))
      try await device.process(attachments: true) { try await $0.refresh() }
      _ = try? await device.process(onPiece: { if $0 >= Int64(2 * Self.chunk) { throw Killed() } })
      {
        try await $0.download(id)
      }
      let newer = FileDevice.bytes(count, seed: 2)
      try await device.org.update(
        "Attachment", id: id, ["Body": .string(Data(newer).base64EncodedString())])
      try await device.process(attachments: true) { files in
        #expect(try await files.file(id).state == .onServer)
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == newer)
        #expect(try await files.file(id).state == .available)
      }
    }
  }

  @Test
  func `bytes of another version behind a resumed part are refused, and all are loaded again`()
    async throws
  {
    try await FileDevice.with { device in
      let bytes = FileDevice.bytes(3 * Self.chunk)
      try await device.upload(bytes)
      let id = try await device.process { files in
        try await files.refresh()
        return try #require(try await files.files().first).id
      }
      device.wire.edit { Array($0.map { $0 ^ 0xFF }) }
      _ = try? await device.process(onPiece: { if $0 >= Int64(2 * Self.chunk) { throw Killed() } })
      {
        try await $0.download(id)
      }
      device.wire.edit(nil)
      try await device.process { files in
        try await files.download(id)
        #expect(try await files.content(of: id).bytes() == bytes)
      }
      #expect(device.wire.ranges.count == 3 && device.wire.ranges.last == .some(nil))
    }
  }

  @Test(arguments: [0, 1, 2])
  func `bytes without the announced checksum or size are not kept`(_ fault: Int) async throws {
    try await FileDevice.with { device in
      try await device.upload(FileDevice.bytes(2 * Self.chunk))
      device.wire.edit { bytes in
        switch fault {
        case 0: [bytes[0] ^ 1] + bytes.dropFirst()
        case 1: bytes + [0]
        default: bytes.isEmpty ? [] : [1]
        }
      }
      try await device.process { files in
        try await files.refresh()
        let id = try #require(try await files.files().first).id
        let error = await #expect(throws: FileSyncError.self) { try await files.download(id) }
        #expect(error?.code == (fault == 2 ? .transport : .verificationFailed))
        #expect(error?.isRetryable == true)
        let file = try await files.file(id)
        #expect(!file.hasContent && file.problem == error?.message)
        device.wire.edit(nil)
        #expect(try await files.download(id).problem == nil)
      }
    }
  }

  @Test func `a file that the server has no more is a typed error, and the refresh removes it`()
    async throws
  {
    try await FileDevice.with { device in
      let id = try await device.attach([1, 2, 3])
      try await device.process(attachments: true) { files in
        try await files.refresh()
        try await device.org.delete("Attachment", id: id)
        let error = await #expect(throws: FileSyncError.self) { try await files.download(id) }
        #expect(error?.code == .goneOnServer)
        #expect(try await files.refresh().removed == 1)
        #expect(try await files.files().isEmpty)
      }
      #expect(try device.stored.isEmpty)
    }
  }
}
