import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// Key files and secret stores that other users of the machine could have made, read or replaced.
struct KeyFileTests {
  private let folder: TemporaryFolder
  private let name = SecretName(service: "key", account: "a")
  private var key: URL { folder.file("master.key") }
  private var database: URL { folder.file(FileSecretStore.fileName) }

  init() throws {
    folder = try TemporaryFolder()
    try store.write([1], for: name)
  }

  private var store: FileSecretStore {
    FileSecretStore(in: folder.url, masterKey: KeyFile(key))
  }

  private func code() -> SecretStoreError.Code? {
    do throws(SecretStoreError) {
      _ = try store.read(name)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(arguments: [mode_t(0o640), 0o660, 0o604, 0o602, 0o620, 0o610, 0o601])
  func `a key file that other users may read or change is refused`(mode: mode_t) throws {
    chmod(key.path, mode)
    #expect(code() == .exposedKeyFile)
    chmod(key.path, 0o400)
    #expect(code() == nil)
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
  func `a key file of another user is refused`() throws {
    try #require(chown(key.path, 65_534, 65_534) == 0)
    #expect(code() == .exposedKeyFile)
  }

  @Test(arguments: [mode_t(0o777), 0o770, 0o702, 0o722])
  func `a key file in a folder that other users may change is refused`(mode: mode_t) throws {
    chmod(folder.url.path, mode)
    #expect(code() == .exposedKeyFile)
    // Also through a symbolic link in a folder that is safe.
    let safe = try TemporaryFolder()
    let link = safe.file("state")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
    let linked = FileSecretStore(in: link, masterKey: KeyFile(link.appending(path: "master.key")))
    let error = #expect(throws: SecretStoreError.self) { try linked.read(name) }
    #expect(error?.code == .exposedKeyFile)
    chmod(folder.url.path, 0o755)
    #expect(code() == nil)
  }

  @Test(arguments: [mode_t(0o777), 0o702, 0o722])
  func `a key file below a folder that other users may change is refused`(mode: mode_t) throws {
    let open = folder.file("open")
    let state = open.appending(path: "a/state")
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    for above in [state, open.appending(path: "a"), open] { chmod(above.path, 0o700) }
    let safe = try TemporaryFolder()
    let link = safe.file("state")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: state)
    let stores = [state, link].map { place in
      FileSecretStore(in: place, masterKey: KeyFile(place.appending(path: "master.key")))
    }
    try stores[0].write([1], for: name)
    func codes() -> [SecretStoreError.Code?] {
      stores.map { store in
        do throws(SecretStoreError) {
          _ = try store.read(name)
          return nil
        } catch {
          return error.code
        }
      }
    }
    chmod(open.path, mode)
    #expect(codes() == [.exposedKeyFile, .exposedKeyFile])
    // In a sticky folder only the owner of a file can rename it.
    chmod(open.path, mode | S_ISVTX)
    #expect(codes() == [nil, nil])
    chmod(open.path, 0o755)
    #expect(codes() == [nil, nil])
  }

  @Test func `a symbolic link to the state in a folder that other users may change is refused`()
    throws
  {
    let open = folder.file("open")
    mkdir(open.path, 0o777)
    chmod(open.path, 0o777)
    let safe = try TemporaryFolder()
    let link = open.appending(path: "state")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: safe.url)
    let store = FileSecretStore(in: link, masterKey: KeyFile(link.appending(path: "master.key")))
    try FileSecretStore(in: safe.url, masterKey: KeyFile(safe.file("master.key")))
      .write([1], for: name)
    let error = #expect(throws: SecretStoreError.self) { try store.read(name) }
    #expect(error?.code == .exposedKeyFile)
    chmod(open.path, 0o755)
    #expect(try store.read(name) == [1])
  }

  @Test(.timeLimit(.minutes(1)))
  func `a pipe or a folder in place of a file is refused at once`() throws {
    for file in [key, database] {
      let saved = folder.file("saved")
      try FileManager.default.moveItem(at: file, to: saved)
      try #require(mkfifo(file.path, 0o600) == 0)
      #expect(code() != nil)
      unlink(file.path)
      mkdir(file.path, 0o700)
      #expect(code() != nil)
      rmdir(file.path)
      try FileManager.default.moveItem(at: saved, to: file)
      #expect(code() == nil)
    }
  }

  @Test func `a file of 20 GB without content is refused and not read`() throws {
    for file in [key, database] {
      let saved = folder.file("saved")
      try FileManager.default.copyItem(at: file, to: saved)
      try #require(truncate(file.path, 20 << 30) == 0)
      #expect(code() != nil)
      try FileManager.default.removeItem(at: file)
      try FileManager.default.moveItem(at: saved, to: file)
      #expect(code() == nil)
    }
  }
}
