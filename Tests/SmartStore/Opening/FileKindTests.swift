import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// What happens to a store in whose folder a pipe, a device or a link has the place of a file?
@Suite(.timeLimit(.minutes(1))) struct FileKindTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  enum Kind: CaseIterable, Sendable { case pipe, device, folder, loop }

  private static let names = [
    "store.sqlite", "store.sqlite-wal", "store.sqlite-anchor", "store.key", "store.key.pending",
  ]

  /// A store as a crash leaves it.
  private func crashed() throws -> [String: Data] {
    let store = try folder.open()
    try store.fill(20)
    try store.checkpoint()
    try store.fill(3)
    let copy = try folder.snapshot()
    try store.close()
    return try folder.stored(at: copy)
  }

  private func replace(_ file: URL, by kind: Kind) throws {
    try? FileManager.default.removeItem(at: file)
    switch kind {
    case .pipe: try #require(mkfifo(file.path, 0o600) == 0)
    case .device: try #require(symlink("/dev/zero", file.path) == 0)
    case .folder: try #require(mkdir(file.path, 0o700) == 0)
    case .loop: try #require(symlink(file.path, file.path) == 0)
    }
  }

  @Test(arguments: Kind.allCases)
  func `no call waits for ever for a file that is none, and no other file changes`(kind: Kind)
    throws
  {
    let files = try crashed()
    for name in Self.names where name != "store.key.pending" || kind == .pipe {
      let place = try folder.place(files)
      try replace(place.appending(path: name), by: kind)
      let others = files.filter { $0.key != name }
      func unchanged() throws -> Bool {
        try others.allSatisfy { try Data(contentsOf: place.appending(path: $0.key)) == $0.value }
      }
      for access in [StoreDatabaseOptions.Access.readWrite, .readOnly] {
        var options = StoreDatabaseOptions()
        options.access = access
        // Only the key file of an interrupted encryption is not looked at.
        if name == "store.key.pending" { continue }
        #expect(throws: SmartStoreError.self, "\(name), \(access)") {
          try folder.open(options, at: place).close()
        }
      }
      let maintenance = StoreMaintenance(at: place)
      let isClean = try? maintenance.verify(folder.encryption).isClean
      #expect(isClean != true || name == "store.key.pending", "\(name)")
      #expect(try unchanged(), "\(name)")
      if name != "store.sqlite-anchor", name != "store.key.pending" {
        let isAccepted = try? maintenance.acceptLostLog(folder.encryption).isClean
        #expect(isAccepted != true, "\(name)")
        #expect(try unchanged(), "\(name)")
      }
    }
  }

  @Test(arguments: ["store.sqlite-wal", "store.sqlite-anchor", "store.sqlite-shm"])
  func `no file outside of the folder is written to through a link`(name: String) throws {
    let store = try folder.open()
    try store.fill(3)
    try store.close()
    let target = folder.url.appending(path: "of-someone-else")
    let content = Data(repeating: 0x78, count: 5_000)
    try content.write(to: target)
    let file = folder.file(name)
    try? FileManager.default.removeItem(at: file)
    try #require(symlink(target.path, file.path) == 0)
    // Whether the store opens or not.
    if let store = try? folder.open() {
      try? store.fill(3)
      try? store.checkpoint()
      try? store.close()
    }
    _ = try? StoreMaintenance(at: folder.store).verify(folder.encryption)
    _ = try? StoreMaintenance(at: folder.store).acceptLostLog(folder.encryption)
    #expect(try Data(contentsOf: target) == content)
  }
}
