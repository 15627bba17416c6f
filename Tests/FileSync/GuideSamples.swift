import FileSync
import Foundation
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// The samples of the guide, compiled and run.
@Suite struct GuideSamples {
  @Test func `the guide's samples list, download and read files`() async throws {
    try await FileDevice.with { device in
      try await device.upload([1, 2, 3])
      let (store, client, accountId) = (device.store, device.client, device.account)
      // sample: offline-files-sync
      let files = try await FileSyncManager(
        store: store, client: client,
        options: FileSyncOptions(
          sources: [FileSource(soupName: "accounts", objectType: "Account")],
          rules: [FileRule(fileExtensions: ["pdf"], maxBytes: 5_000_000)],
          quota: 500_000_000))
      let report = try await files.sync()
      print(report.downloaded.count, report.beyondQuota, report.failed)
      // end of sample
      #expect(report.downloaded.count == 1)
      var player: [UInt8] = []
      // sample: offline-files-content
      for file in try await files.files(ofRecord: accountId) {
        if file.state != .available { try await files.download(file.id) }
        let content = try await files.content(of: file.id)
        for try await piece in content { player += piece }
      }
      // end of sample
      #expect(player == [1, 2, 3])
      let stream = files.changedFiles()
      await files.close()
      // sample: offline-files-changes
      for await file in stream {
        print(file.title, file.state, file.receivedBytes, file.version.size)
      }
      // end of sample
    }
  }

  @Test func `the guide's samples queue, upload and decide about files`() async throws {
    try await FileDevice.with { device in
      let localId = try await device.createOffline("Harbor")
      let photo = device.store.directory.appending(path: "photo.jpg")
      try Data([1, 2, 3]).write(to: photo)
      let files = try await device.open()
      // sample: offline-files-add
      let record = FileRecord(id: localId, objectType: "Account")
      let queued = try await files.addFile(at: photo, NewFile(name: "roof.jpg", record: record))
      print(queued.state)  // waitingForRecord
      // end of sample
      #expect(queued.state == .waitingForRecord)
      try await device.syncUp()
      // sample: offline-files-upload
      let report = try await files.upload()
      print(report.uploaded, report.waiting, report.rejected)
      for file in try await files.queuedFiles() {
        print(file.title, file.state, file.problem ?? "")
      }
      // end of sample
      #expect(report.uploaded.count == 1)
      let edited = FileDevice.pieces([4, 5])
      let fileId = try #require(report.uploaded[queued.id])
      // sample: offline-files-version
      try await files.addVersion(of: fileId, edited)
      // end of sample
      #expect(try await files.upload().isComplete)
      await files.close()
    }
  }
}
