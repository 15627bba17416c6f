import CollectionSyncUp
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

@testable import FileSync

/// Are queued files saved with a rescue bundle, and uploaded once by another device?
@Suite struct RescuedFilesTests {
  private let user = RescueUser(organizationId: "00D000000000001", userId: "005000000000001")

  /// Runs `body` with a second device of the same user, whose store is empty.
  private func withSecondDevice(
    of device: FileDevice, _ body: (FileDevice) async throws -> Void
  ) async throws {
    let store = try await SmartStore.open(
      at: device.store.directory.deletingLastPathComponent().appending(path: "second"),
      encryption: .plaintext)
    let second = FileDevice(
      org: device.org, store: store, client: device.client, wire: device.wire,
      account: device.account)
    do {
      try await body(second)
    } catch {
      try? await store.close()
      throw error
    }
    try await store.close()
  }

  @Test func `a rescue has the queue with its contents, and another device uploads each file once`()
    async throws
  {
    try await FileDevice.with { device in
      let pair = RescueKeyPair()
      let registry = SyncTargetRegistry()
      try registry.register(CollectionSyncUpTarget.self, asDefault: true)
      let contents = device.store.directory.appending(path: "contents")
      let local = try await device.createOffline("Harbor")
      let bytes = [FileDevice.bytes(100_000), FileDevice.bytes(70_000, seed: 2)]
      let bundle = try await device.process { files in
        let first = try await files.addFile(
          FileDevice.pieces(bytes[0]), NewFile(name: "a.jpg", record: device.record))
        try await files.addFile(
          FileDevice.pieces(bytes[1]),
          NewFile(name: "b.jpg", record: FileRecord(id: local, objectType: "Account")))
        let (bundle, entries) = try await device.store.exportRescue(
          for: .publicKey(pair.publicKey), of: user, registry: registry)
        #expect(entries == 3)
        #expect(try await FileSyncManager.exportQueuedContents(of: device.store, to: contents) == 2)
        // The device is not as broken as it seemed.
        #expect(try await files.upload().uploaded.keys.sorted() == [first.id])
        return bundle
      }
      try await withSecondDevice(of: device) { second in
        let key = try RescueKey.privateKey(pair.privateKey)
        _ = try await second.store.importRescue(bundle, with: key, of: user, registry: registry)
        try await second.process { files in
          // Nothing is sent before its content is here.
          #expect(try await files.upload().rejected.count == 1)
          let first = try await files.importQueuedContents(from: contents)
          #expect(first.taken == 2 && first.missing == 0)
          let report = try await files.upload()
          #expect(report.uploaded.count == 1 && report.waiting.count == 1)
          #expect(try await device.versions.count == 1)
          try await second.syncUp()
          let id = try #require(try await files.upload().uploaded.values.first)
          #expect(try await files.content(of: id).bytes() == bytes[1])
          #expect(try await device.versions.count == 2)
          _ = try await second.store.importRescue(bundle, with: key, of: user, registry: registry)
          let again = try await files.importQueuedContents(from: contents)
          #expect(again.taken == 0 && again.missing == 0)
          #expect(try await files.queuedFiles().isEmpty)
        }
      }
    }
  }

  @Test func `an imported entry whose content has a path for a name touches no other file`()
    async throws
  {
    try await FileDevice.with { device in
      let outside = device.store.directory.appending(path: "outside")
      try Data([1, 2, 3]).write(to: outside)
      try await device.process { files in
        let queued = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.jpg", record: device.record))
        let entry = try #require(
          try await device.store.query(
            "SELECT {syncs_file_uploads:_soup} FROM {syncs_file_uploads}"
          ).first?[0])
        var content = try #require(entry["content"]?.object)
        content["name"] = "../outside"
        var changed = try #require(entry.object)
        changed["content"] = .object(content)
        try await device.store.upsert(
          entries: [.object(changed)], forSoupNamed: "syncs_file_uploads")
        #expect(try await files.upload().rejected.keys.sorted() == [queued.id])
        let result = try await files.importQueuedContents(from: device.store.directory)
        #expect(result.taken == 0 && result.missing == 1)
        try await files.removeQueued(queued.id)
      }
      #expect(try Data(contentsOf: outside) == Data([1, 2, 3]))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `contents of a rescue that are devices, pipes or too long are not taken`() async throws {
    try await FileDevice.with { device in
      let contents = device.store.directory.appending(path: "contents")
      try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
      try await device.process { files in
        _ = try await files.addFile(
          FileDevice.pieces([1]), NewFile(name: "a.jpg", record: device.record))
        let entry = try #require(
          try await device.store.query(
            "SELECT {syncs_file_uploads:_soup} FROM {syncs_file_uploads}"
          ).first?[0])
        let name = try #require(entry["content"]?["name"]?.string)
        // As on a device that imports a bundle: the entry is there, and its content is not.
        let own = device.store.directory.appending(path: "synced-files")
        try FileManager.default.removeItem(at: own.appending(path: name))
        let file = contents.appending(path: name)
        for kind in ["device", "pipe", "long"] {
          switch kind {
          case "device":
            try FileManager.default.createSymbolicLink(
              atPath: file.path, withDestinationPath: "/dev/zero")
          case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
          default:
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 1 << 42)
            try handle.close()
          }
          let result = try await files.importQueuedContents(from: contents)
          #expect(result.taken == 0 && result.missing == 1, "\(kind)")
          #expect(try FileManager.default.contentsOfDirectory(atPath: own.path) == [".lock"])
          try FileManager.default.removeItem(at: file)
        }
      }
    }
  }
}
