import Foundation
import TestSupport
import Testing

@testable import SalesforceSDKCommon

/// Are folders refused in which other users could exchange files?
@Suite struct FolderOwnerTests {
  private let temporary: TemporaryFolder
  private let name = SecretName(service: "key", account: "a")

  init() throws { temporary = try TemporaryFolder() }

  private var folders: AppFolders { AppFolders(appId: "group", root: temporary.url) }

  @Test(
    .covers("HT-93.3"),
    arguments: [mode_t(0o777), 0o770, 0o702, 0o750, 0o705, 0o710, 0o701, 0o1777])
  func `a folder of the app that other users may enter is refused`(mode: mode_t) throws {
    let made = try folders.make(.data, "deep", "er")
    for exposed in ["data/group", "data/group/deep", "data/group/deep/er"] {
      let path = temporary.file(exposed).path
      try #require(chmod(path, mode) == 0)
      let error = #expect(throws: PreferencesError.self) { try folders.make(.data, "deep", "er") }
      #expect(error?.code == .inputOutput)
      #expect(error?.message.contains(exposed) == true)
      try #require(chmod(path, 0o700) == 0)
    }
    #expect(try folders.make(.data, "deep", "er") == made)
  }

  @Test(.covers("HT-93.3"), .enabled(if: geteuid() == 0, "only root may give files away"))
  func `a folder of another user is refused`() throws {
    try folders.make(.data, "deep")
    let path = temporary.file("data/group").path
    try #require(chown(path, 65_534, 65_534) == 0)
    #expect(throws: PreferencesError.self) { try folders.make(.data, "deep") }
    #expect(throws: FileFailure.self) { try DurableFile.makeOwnFolder(path) }
  }

  @Test(.covers("HT-93.3"), .enabled(if: geteuid() == 0, "only root may give files away"))
  func `a link of another user to a folder of this one is refused`() throws {
    let (own, link) = (temporary.file("own").path, temporary.file("link").path)
    try DurableFile.makeOwnFolder(own)
    try #require(symlink(own, link) == 0)
    try DurableFile.checkFolder(link)
    try #require(lchown(link, 65_534, 65_534) == 0)
    #expect(throws: FileFailure.self) { try DurableFile.checkFolder(link) }
  }

  @Test(.covers("HT-93.3"), arguments: [mode_t(0o777), 0o770, 0o702, 0o720, 0o1777])
  func `secrets are not kept where other users may exchange them`(mode: mode_t) throws {
    let open = temporary.file("open")
    let link = temporary.file("link")
    try #require(mkdir(open.path, 0o700) == 0 && symlink(open.path, link.path) == 0)
    let key = CallerMasterKey(MasterKey.random())
    for place in [open, link] {
      let store = FileSecretStore(in: place, masterKey: key)
      try #require(chmod(open.path, mode) == 0)
      var error = #expect(throws: SecretStoreError.self) { try store.write([1], for: name) }
      #expect(error?.code == .exposedKeyFile)
      error = #expect(throws: SecretStoreError.self) { _ = try store.read(name) }
      #expect(error?.code == .exposedKeyFile)
      #expect(try FileManager.default.contentsOfDirectory(atPath: open.path).isEmpty)
      // Other users may see its name.
      try #require(chmod(open.path, 0o755) == 0)
      #expect(try store.read(name) == nil)
    }
  }
}
