import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Does maintenance say where a copy failed, and leave the store as it was?
struct MaintenanceErrorTests {
  private let folder: StoreFolder
  private let provider: FixedKeyProvider

  init() throws {
    folder = try StoreFolder()
    provider = FixedKeyProvider(folder.key)
  }

  private func make(_ encryption: StoreEncryption, at directory: URL) throws {
    let store = try StoreDatabase.open(at: directory, encryption: encryption)
    try store.fillSoup(20)
    try store.close()
  }

  private func count(_ encryption: StoreEncryption, at directory: URL) throws -> Int {
    let store = try StoreDatabase.open(at: directory, encryption: encryption)
    defer { try? store.close() }
    return try store.count()
  }

  /// A folder in which the path of a file `store.sqlite` has this length.
  private func directory(lengthOfPath length: Int) throws -> URL {
    var directory = folder.url
    var missing = length - directory.path.utf8.count - "/store.sqlite".utf8.count
    while missing > 0 {
      let name = missing > 202 ? 200 : missing - 1
      directory.append(path: String(repeating: "d", count: name), directoryHint: .isDirectory)
      missing -= name + 1
    }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
  }

  @Test(.covers("SS-41"))
  func `a copy that SQLite cannot open is attachFailed, number 1`() throws {
    // SQLite takes paths of 512 bytes with the ending of a journal: the store's own fits, its copy's does not.
    let directory = try directory(lengthOfPath: 504)
    try make(.plaintext, at: directory)
    let error = #expect(throws: SmartStoreError.self) {
      try StoreMaintenance(at: directory).encrypt(provider)
    }
    #expect(error?.code == .attachFailed && error?.code.number == 1)
    #expect(error?.code.domain == SmartStoreError.maintenanceDomain)
    #expect(error?.message.contains("store.sqlite.exported could not be opened") == true)
    #expect(try count(.plaintext, at: directory) == 20)
  }

  /// The ways to make a copy, each with its name.
  private enum Way: String, CaseIterable { case encrypted, decrypted, reencrypted }

  @Test(.covers("SS-41"), arguments: Way.allCases)
  private func `a copy that cannot be brought to the disk is detachFailed, number 3`(
    way: Way
  ) throws {
    let before: StoreEncryption = way == .encrypted ? .plaintext : .encrypted(provider)
    try make(before, at: folder.store)
    let copy = folder.file("store.sqlite.\(way)")
    var files = StoreMaintenance(at: folder.store)
    files.didTake = { step in
      if step == .written { try Self.takeDisk(from: copy.path) }
    }
    let error = #expect(throws: SmartStoreError.self) {
      switch way {
      case .encrypted: try files.encrypt(provider)
      case .decrypted: try files.decrypt(provider)
      case .reencrypted: try files.reencrypt(from: provider, to: provider)
      }
    }
    #expect(error?.code == .detachFailed && error?.code.number == 3)
    #expect(error?.code.domain == SmartStoreError.maintenanceDomain)
    #expect(error?.cause is FileFailure)
    #expect(try count(before, at: folder.store) == 20)
  }

  /// Lets the open file lead to a pipe, which no call brings to a disk.
  private static func takeDisk(from path: String) throws {
    var file = stat()
    try #require(stat(path, &file) == 0)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    var exchanged = 0
    for descriptor in 0..<Int32(4_096) {
      var other = stat()
      guard fstat(descriptor, &other) == 0, other.st_ino == file.st_ino,
        other.st_dev == file.st_dev
      else { continue }
      try #require(dup2(ends[1], descriptor) == descriptor)
      exchanged += 1
    }
    #expect(exchanged == 1)
  }
}
