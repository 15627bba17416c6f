import MobileSync
import SalesforceSDKCommon
import SmartStore
import Synchronization

/// A watcher that polls the stores while a client waits for events, and sends the changes: running
/// syncs of any process, and soups that were written.
///
/// Polling reads the ends of two indexes for each soup, so its cost does not depend on the size of
/// a soup. The deletion of an entry is detected only if it is the last modified one.
final class StoreWatch: Sendable {
  private struct Seen {
    var status = ""
    var marks: [String: String] = [:]
    var syncs: [Int64: JSONValue] = [:]
  }

  private let task = Mutex<Task<Void, Never>?>(nil)

  private static let interval: Duration = .milliseconds(400)

  /// Starts watching, unless it is already watching.
  func start(_ resources: InspectorResources) {
    task.withLock { task in
      guard task == nil else { return }
      task = Task { [weak self] in
        var seen: [String: Seen] = [:]
        while !Task.isCancelled, let self, self.goesOn(resources.hub) {
          await self.look(resources, &seen)
          try? await Task.sleep(for: Self.interval)
        }
      }
    }
  }

  /// Whether a client waits; if not, the next ``start(_:)`` begins again.
  private func goesOn(_ hub: InspectorHub) -> Bool {
    task.withLock { task in
      if hub.hasStreams { return true }
      task = nil
      return false
    }
  }

  func stop() async {
    let running = task.withLock { task in
      defer { task = nil }
      return task
    }
    running?.cancel()
    await running?.value
  }

  private func look(_ resources: InspectorResources, _ seen: inout [String: Seen]) async {
    // A folder that cannot be listed is seen on the page itself.
    guard let stores = try? await resources.stores.found() else { return }
    for found in stores {
      let isFirst = seen[found.id] == nil
      var known = seen[found.id] ?? Seen()
      do {
        try await look(resources, found, &known, isFirst)
      } catch {
        let status = InspectorFailure(error).name
        if known.status != status, !isFirst {
          resources.hub.send("store", await resources.document(of: found))
        }
        known.status = status
      }
      seen[found.id] = known
    }
  }

  private func look(
    _ resources: InspectorResources, _ found: SmartStoreManager.FoundStore, _ known: inout Seen,
    _ isFirst: Bool
  ) async throws {
    let store = try await resources.stores.open(found).store
    let marks = try await store.read { reader in
      var marks: [String: String] = [:]
      for name in reader.allSoupNames().prefix(SmartStoreInspector.maxCountedSoups) {
        marks[name] = try reader.inspectedMark(ofSoupNamed: name)
      }
      return marks
    }
    let changed = Set(marks.keys).union(known.marks.keys).filter { marks[$0] != known.marks[$0] }
    known.status = ""
    known.marks = marks
    if changed.isEmpty { return }
    if !isFirst {
      let own = changed.filter { !SyncManager.ownsSoup(named: $0) }
      if !own.isEmpty { resources.hub.sendChange(store: found.id, soups: own.sorted()) }
    }
    if changed.contains(where: SyncManager.ownsSoup(named:)) {
      for document in try await resources.syncs(of: store) {
        guard let id = document["id"]?.int64, known.syncs[id] != document else { continue }
        if !isFirst {
          resources.hub.send("sync", ["store": .string(found.id), "sync": document])
        }
        known.syncs[id] = document
      }
    }
    if !isFirst { resources.hub.send("store", await resources.document(of: found)) }
  }
}
