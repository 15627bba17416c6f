import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Are accounts and values kept only where no other user can exchange their files?
@Suite struct SharedFolderTests {
  private let folder: TemporaryFolder
  private let account = TestOrg().account()

  init() throws { folder = try TemporaryFolder() }

  /// What the attack does to a folder.
  enum Exposure: CaseIterable, Sendable {
    case group, others, sticky, owner
  }

  private func expose(_ url: URL, _ exposure: Exposure) throws {
    switch exposure {
    case .group: try #require(chmod(url.path, 0o770) == 0)
    case .others: try #require(chmod(url.path, 0o702) == 0)
    case .sticky: try #require(chmod(url.path, 0o1777) == 0)
    case .owner: try #require(chown(url.path, 65_534, 65_534) == 0)
    }
  }

  private static var exposures: [Exposure] {
    Exposure.allCases.filter { $0 != .owner || geteuid() == 0 }
  }

  private func isRefused(_ body: () async throws -> Void) async -> Bool {
    do {
      try await body()
      return false
    } catch let error as AccountError {
      return error.code == .readFailed || error.code == .writeFailed
    } catch let error as EncryptionError {
      return error.code == .inputOutput
    } catch {
      return false
    }
  }

  @Test(
    .covers("HT-93.3"), arguments: exposures,
    ["", "00D000000000001EAA", "00D000000000001EAA/005000000000001AAA"])
  func `accounts are neither read from nor written to a folder that others may change`(
    exposure: Exposure, exposed: String
  ) async throws {
    let accounts = EncryptedAccountDirectory(root: folder.url, secrets: InMemorySecretStore())
    try await accounts.save(account)
    try expose(folder.file(exposed), exposure)
    var isReported = await isRefused { _ = try await accounts.fetchAll() }
    if !isReported { isReported = try await !accounts.fetchAll().unreadable.isEmpty }
    #expect(isReported)
    if exposed.hasSuffix("AAA") {
      #expect(await isRefused { _ = try await accounts.fetch(account.identity) })
      #expect(await isRefused { try await accounts.save(account) })
    }
    if exposed.isEmpty {
      #expect(await isRefused { try await accounts.updateCurrent { _ in account.identity } })
    }
  }

  @Test(.covers("HT-93.3"), arguments: exposures, [false, true])
  func `a key-value store is not opened in a folder that others may change`(
    exposure: Exposure, isLinked: Bool
  ) async throws {
    let place = folder.file("values")
    let key = EncryptionKey.random()
    try KeyValueEncryptedFileStore(at: place, key: key).saveValue("mine", forKey: "k")
    try expose(place, exposure)
    let link = folder.file("link")
    try #require(symlink(place.path, link.path) == 0)
    #expect(
      await isRefused {
        _ = try KeyValueEncryptedFileStore(at: isLinked ? link : place, key: key)
      })
  }
}
