import Crypto
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport

@testable import FileSync
@testable import FileSyncTests

/// A file that a device has queued, and what is to become of it.
struct QueuedInHistory {
  enum Fate { case uploaded, removed, removedInDoubt }

  let key: String
  let device: Int
  let checksum: String
  let isAttachment: Bool
  var fate = Fate.uploaded
}

/// A random history of devices of one user that add, change and remove files, with faults and ends of their processes at
/// any step; in the end each file is on the server, once.
struct FileHistory {
  private struct Device {
    let files: FileDevice
    let wire: FileProofWire
    let accounts: UserAccountManager
    /// The records that files are attached to, by the ids that the device knows.
    var records: [String]
    var queued: [String] = []
  }

  private let seed: UInt64
  private let org: MockOrg
  private let clock = HandClock()
  private var random: SeededGenerator
  private var devices: [Device] = []
  private var ledger: [String: QueuedInHistory] = [:]
  private var number = 0
  /// What happened, for the report of a failure.
  private var story: [String] = []

  /// Lives the history of a seed.
  ///
  /// - Returns: What is wrong in the end; nil if nothing is.
  static func live(
    _ seed: UInt64, _ org: MockOrg, _ server: MockOrgServer
  ) async throws -> String? {
    try await TemporaryFolder.with { folder in
      var history = FileHistory(seed: seed, org: org, random: SeededGenerator(seed: seed))
      let fault: String?
      do {
        try await history.open(in: folder.url, server)
        for _ in 0..<Int.random(in: 8...20, using: &history.random) { try await history.act() }
        fault = try await history.settle()
      } catch {
        fault = "\(error)"
      }
      for device in history.devices {
        try? await device.files.store.close()
        await device.accounts.close()
      }
      return fault.map { "\($0)\n" + history.story.joined(separator: "\n") }
    }
  }

  private mutating func open(in folder: URL, _ server: MockOrgServer) async throws {
    let account = try await org.create("Account", ["Name": .string("Acme \(seed)")])
    for index in 0..<Int.random(in: 1...2, using: &random) {
      let wire = FileProofWire()
      let accounts = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: wire)
      let user = try await accounts.logIn(
        .tokens(
          accessToken: server.info.accessToken, refreshToken: server.info.refreshToken,
          instance: try LoginServer(server.info.instanceUrl),
          app: ConnectedApp(
            clientId: server.info.clientId, redirectURI: server.info.redirectUri,
            usesHybridGrants: false)))
      let store = try await SmartStore.open(
        at: folder.appending(path: "store\(index)"), encryption: .plaintext)
      try await store.registerSoup(
        withName: FileDevice.soup,
        withIndices: [
          SoupIndex(path: "Id", type: .string), SoupIndex(path: "__local__", type: .string),
          SoupIndex(path: "__sync_id__", type: .integer),
        ])
      try await store.upsert(
        entries: [["Id": .string(account), "attributes": ["type": "Account"]]],
        forSoupNamed: FileDevice.soup)
      let client = RestClient(
        account: user, accounts: accounts, transport: wire, options: .init(retries: .never))
      devices.append(
        Device(
          files: FileDevice(
            org: org, store: store, client: client, wire: FaultyWire(), account: account),
          wire: wire, accounts: accounts, records: [account]))
    }
  }

  // MARK: Steps

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private mutating func act() async throws {
    let index = Int.random(in: 0..<devices.count, using: &random)
    switch Int.random(in: 0..<13, using: &random) {
    case 0, 1:
      devices[index].records.append(try await devices[index].files.createOffline("Site \(number)"))
      note(index, "creates a record")
    case 2, 3, 4, 5: try await add(index)
    case 6, 7, 8: try await upload(index)
    case 9:
      note(index, "syncs its records up")
      try await devices[index].files.syncUp()
    case 10: try await remove(index)
    case 11:
      let seconds = pick([1, 30, 119, 300]) as Int64
      // What has not arrived after two minutes never does, and many short waits may be as long.
      if seconds > 1 { for device in devices { await device.wire.deliver() } }
      clock.advance(seconds)
      note(index, "waits \(seconds) s")
    default:
      note(index, "late requests arrive")
      for device in devices { await device.wire.deliver() }
    }
  }

  private mutating func note(_ device: Int, _ text: String) {
    story.append("device \(device) \(text)")
  }

  /// Runs `body` as a process that may end at any of its steps.
  private func process(
    _ index: Int, killedAt step: Int?, _ body: (FileSyncManager) async throws -> Void
  ) async throws -> Bool {
    let killer = StepKiller(at: step)
    do {
      try await devices[index].files.process(
        quota: 200_000, attachments: true, now: { [clock] in clock.now }, onStep: killer.step, body)
    } catch is Killed {
      return true
    } catch let error as FileSyncError where [.transport, .server].contains(error.code) {
    } catch let error as FileSyncError where error.code == .unexpectedResponse {
    }
    return killer.hasKilled
  }

  private mutating func add(_ index: Int) async throws {
    number += 1
    let size = pick([1, 100, 65_536, 65_537, 140_000])
    var bytes = FileDevice.bytes(size, seed: seed &* 1_000 &+ UInt64(number))
    // No two files have the same bytes by chance.
    bytes += Array("\(seed) \(number)".utf8)
    let isAttachment = pick([true, false, false])
    let name = "s\(seed)-\(number).bin"
    let record = pick(devices[index].records)
    let base = pick([true, false, false]) ? devices[index].queued.last : nil
    let step = pick([nil, nil, nil, Int.random(in: 0...6, using: &random)])
    let content = bytes
    let isKilled = try await process(index, killedAt: step) { files in
      if let base,
        try await files.queuedFiles().contains(where: { $0.id == base && !$0.isAttachment })
      {
        _ = try await files.addVersion(of: base, FileDevice.pieces(content))
      } else {
        _ = try await files.addFile(
          FileDevice.pieces(content),
          NewFile(
            name: name, record: FileRecord(id: record, objectType: "Account"),
            isAttachment: isAttachment))
      }
    }
    note(index, "adds file \(number)" + (isKilled ? ", killed at step \(step ?? 0)" : ""))
    let checksum = Hex.encode(Insecure.MD5.hash(data: bytes))
    let device = devices[index].files
    let entries = try await device.store.read { try $0.queuedFiles() }
    let found = entries.first { $0.content.version.checksum == checksum }
    if found == nil, !isKilled { throw Wrong("File \(number) was added, and is not in the queue.") }
    if let found {
      devices[index].queued.append(found.key)
      ledger[found.key] = QueuedInHistory(
        key: found.key, device: index, checksum: checksum, isAttachment: found.isAttachment)
    }
  }

  private mutating func upload(_ index: Int) async throws {
    let fault = pick([nil] + FileProofWire.Fault.allCases.map(Optional.some))
    let step = pick([nil, nil, Int.random(in: 0...30, using: &random)])
    devices[index].wire.arm(fault)
    let lists = pick([true, false])
    let isKilled = try await process(index, killedAt: step) { files in
      if lists { try await files.sync() } else { try await files.upload() }
    }
    devices[index].wire.arm(nil)
    note(
      index,
      "uploads, fault \(fault?.rawValue ?? "none")"
        + (isKilled ? ", killed at step \(step ?? 0)" : ""))
  }

  private mutating func remove(_ index: Int) async throws {
    let entries = try await devices[index].files.store.read { reader in
      reader.soupExists(forName: "syncs_file_uploads") ? try reader.queuedFiles() : []
    }
    guard !entries.isEmpty else { return }
    let entry = pick(entries)
    _ = try await process(index, killedAt: nil) { try await $0.removeQueued(entry.key) }
    ledger[entry.key]?.fate = entry.mark == nil ? .removed : .removedInDoubt
    note(index, "removes \(entry.key) from the queue")
  }

  // MARK: The end

  private struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
  }

  private mutating func settle() async throws -> String? {
    for device in devices { await device.wire.deliver() }
    for index in devices.indices {
      let device = devices[index].files
      try await device.syncUp()
      var left: [QueuedFile] = []
      for _ in 0..<4 {
        clock.advance(500)
        _ = try await process(index, killedAt: nil) { files in
          for file in try await files.queuedFiles() where file.state == .orphaned {
            try await files.move(file.id, to: device.record)
          }
          try await files.sync()
          left = try await files.queuedFiles()
        }
      }
      if let file = left.first { return "\(file.id) is left in the queue: \(file.state)." }
    }
    for index in devices.indices {
      if let wrong = try await contents(index) { return wrong }
    }
    if let wrong = try await versions() { return wrong }
    return try await attachments()
  }

  /// Each version has arrived once, with its bytes.
  private func versions() async throws -> String? {
    let found = try await org.query(
      "SELECT PathOnClient, Checksum FROM ContentVersion WHERE Title LIKE 's\(seed)-%'")
    var counts: [String: Int] = [:]
    for version in found {
      let path = version["PathOnClient"]?.string ?? ""
      let parts = path.split(separator: "/")
      guard parts.count == 3, let entry = ledger["file_\(parts[1])"], !entry.isAttachment else {
        return "The server has \(path), which no device has queued."
      }
      if version["Checksum"]?.string != entry.checksum {
        return "\(entry.key) has other bytes on the server."
      }
      counts[entry.key, default: 0] += 1
    }
    return check(counts, isAttachment: false)
  }

  private func attachments() async throws -> String? {
    let found = try await org.query("SELECT Id FROM Attachment WHERE Name LIKE 's\(seed)-%'")
    let byChecksum = Dictionary(ledger.values.map { ($0.checksum, $0) }) { first, _ in first }
    var counts: [String: Int] = [:]
    for attachment in found {
      let request = RestRequest(
        path: "/{v}/sobjects/Attachment/\(attachment["Id"]?.string ?? "")/Body")
      let body = try await devices[0].files.client.send(request).body
      guard let entry = byChecksum[Hex.encode(Insecure.MD5.hash(data: body))] else {
        return "The server has an attachment that no device has queued."
      }
      counts[entry.key, default: 0] += 1
    }
    return check(counts, isAttachment: true)
  }

  private func check(_ counts: [String: Int], isAttachment: Bool) -> String? {
    for entry in ledger.values where entry.isAttachment == isAttachment {
      let count = counts[entry.key] ?? 0
      let isRight =
        switch entry.fate {
        case .uploaded: count == 1
        case .removed: count == 0
        case .removedInDoubt: count <= 1
        }
      if !isRight { return "\(entry.key) (\(entry.fate)) is \(count) times on the server." }
    }
    return nil
  }

  /// What a device has of its files are the server's bytes, and nothing else is on its disk.
  private func contents(_ index: Int) async throws -> String? {
    let device = devices[index].files
    var wrong: String?
    _ = try await process(index, killedAt: nil) { files in
      var count = 0
      for file in try await files.files() where file.hasContent {
        count += 1
        let content = try await files.content(of: file.id)
        let checksum = Hex.encode(Insecure.MD5.hash(data: try await content.bytes()))
        if let expected = content.version.checksum, expected != checksum {
          wrong = "\(file.id) has other bytes on device \(index)."
        }
      }
      let stored = try device.stored.count
      if stored != count { wrong = "Device \(index) has \(stored) contents of \(count) files." }
    }
    return wrong
  }
}
