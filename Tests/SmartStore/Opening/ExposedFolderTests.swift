import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Is a store opened only where no other user can exchange its files?
@Suite struct ExposedFolderTests {
  private let folder: TemporaryFolder
  private var place: URL { folder.file("store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(_ place: URL, isReadOnly: Bool) async throws -> SmartStore {
    try await SmartStore.open(
      at: place, encryption: .plaintext, options: SmartStoreOptions(isReadOnly: isReadOnly))
  }

  private func expectRefusal(isReadOnly: Bool) async throws {
    let link = folder.file("link")
    try? FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
    for place in [place, link] {
      let error = await #expect(throws: SmartStoreError.self) {
        try await open(place, isReadOnly: isReadOnly).close()
      }
      #expect(error?.code == .readOnly)
    }
  }

  @Test(.covers("HT-93.3"), arguments: [mode_t(0o777), 0o770, 0o702, 0o1777], [false, true])
  func `a store is not opened in a folder that other users may write to`(
    mode: mode_t, isReadOnly: Bool
  ) async throws {
    try await open(place, isReadOnly: false).close()
    try #require(chmod(place.path, mode) == 0)
    try await expectRefusal(isReadOnly: isReadOnly)
    try #require(chmod(place.path, 0o755) == 0)
    try await open(place, isReadOnly: isReadOnly).close()
  }

  @Test(
    .covers("HT-93.3"), .enabled(if: geteuid() == 0, "only root may give files away"),
    arguments: [false, true])
  func `a store is not opened in a folder of another user`(isReadOnly: Bool) async throws {
    try await open(place, isReadOnly: false).close()
    try #require(chown(place.path, 65_534, 65_534) == 0)
    try await expectRefusal(isReadOnly: isReadOnly)
  }
}
