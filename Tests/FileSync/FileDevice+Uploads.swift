import CollectionSyncUp
import FileSync
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import Synchronization
import TestSupport

/// A version of a file, as the org has it.
struct OrgVersion: Equatable {
  let title: String
  let number: String
  let checksum: String
  let document: String
}

extension FileDevice {
  /// The account, as files name it.
  var record: FileRecord { FileRecord(id: account, objectType: "Account") }

  /// Bytes as an app that takes a photo would deliver them.
  static func pieces(_ bytes: [UInt8]) -> AsyncStream<[UInt8]> {
    AsyncStream { stream in
      for start in Swift.stride(from: 0, to: bytes.count, by: 50_000) {
        stream.yield(Array(bytes[start..<min(start + 50_000, bytes.count)]))
      }
      stream.finish()
    }
  }

  /// All versions that the org has, in order.
  var versions: [OrgVersion] {
    get async throws {
      try await org.query(
        "SELECT Title, VersionNumber, Checksum, ContentDocumentId FROM ContentVersion "
          + "ORDER BY ContentDocumentId, VersionNumber"
      ).map {
        OrgVersion(
          title: $0["Title"]?.string ?? "", number: $0["VersionNumber"]?.string ?? "",
          checksum: $0["Checksum"]?.string ?? "", document: $0["ContentDocumentId"]?.string ?? "")
      }
    }
  }

  /// The documents that are linked to a record.
  func documents(of record: String) async throws -> [String] {
    try await org.query(
      "SELECT ContentDocumentId FROM ContentDocumentLink WHERE LinkedEntityId = '\(record)'"
    ).compactMap { $0["ContentDocumentId"]?.string }
  }

  /// The number of requests that sent a file.
  var uploads: Int {
    org.requestLog.filter { $0.method == "POST" && $0.target.contains("/sobjects/ContentVersion") }
      .count
  }

  /// Uploads the records of the soup.
  func syncUp() async throws {
    let registry = SyncTargetRegistry()
    try registry.register(CollectionSyncUpTarget.self, asDefault: true)
    let manager = try await SyncManager(store: store, sender: client, registry: registry)
    var options = SyncOptions(mergeMode: .mergeFields)
    options.fieldlist = ["Name"]
    _ = try await manager.syncUp(options: options, soupName: Self.soup).finished()
    await manager.close()
  }

  /// Creates a record without a network.
  ///
  /// - Returns: Its local id.
  func createOffline(_ name: String) async throws -> String {
    let entry = try await store.createRecord(
      ["Name": .string(name)], type: "Account", in: Self.soup)
    return entry["Id"]?.string ?? ""
  }
}

/// A clock that is set by hand.
final class HandClock: Sendable {
  private let time = Mutex<Int64>(1_700_000_000_000)

  var now: Int64 { time.withLock { $0 } }
  func advance(_ seconds: Int64) { time.withLock { $0 += seconds * 1_000 } }
}

/// Ends a process at one of its steps, and every step that follows.
final class StepKiller: Sendable {
  private let left: Mutex<Int?>

  /// - Parameter step: The number of the step, from 0; nil for none.
  init(at step: Int?) { left = Mutex(step) }

  /// Whether a step was reached.
  var hasKilled: Bool { left.withLock { $0.map { $0 < 0 } ?? false } }

  func step() throws {
    let isOver = left.withLock { left in
      guard let count = left else { return false }
      left = max(count - 1, -1)
      return count <= 0
    }
    if isOver { throw Killed() }
  }
}
