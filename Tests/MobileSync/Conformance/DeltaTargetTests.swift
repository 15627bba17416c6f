import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import Testing
import TestSupport

/// Does a server with delta tokens and tombstones fit?
@Suite struct DeltaTargetTests {
  /// Reads a log of changes from a token on.
  struct DeltaDown: SyncDownTarget {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "delta", implementationName: "DeltaDown", writtenTypeName: "custom")
    static let path = "/services/apexrest/delta"
    let configuration = JSONObject()

    init() {}
    init(configuration: JSONObject) throws {}

    func startFetch(
      since maxTimeStamp: Int64, in context: SyncContext
    ) async throws -> SyncPage<Int64>? {
      try await page(context.checkpoint?["token"]?.int64 ?? 0, context)
    }

    func continueFetch(
      _ cursor: Int64, in context: SyncContext
    ) async throws -> SyncPage<Int64>? { try await page(cursor, context) }

    private func page(_ token: Int64, _ context: SyncContext) async throws -> SyncPage<Int64> {
      let request = RestRequest(
        path: Self.path, query: [RestQueryItem("token", String(token))])
      let json = try await context.json(for: request)
      guard let records = json["records"], let deleted = json["deleted"],
        let next = json["token"]?.int64, let isLast = json["done"]?.bool
      else {
        throw SyncContext.unexpectedForm(json, of: request, expected: "a page of changes")
      }
      return SyncPage(
        records: Array(records.elements), deleted: deleted.elements.compactMap(\.string),
        checkpoint: next < 0 ? [:] : ["token": .integer(next)], next: isLast ? nil : next)
    }

    func remoteIds(
      for localIds: [String], in context: SyncContext
    ) async throws -> Set<String>? { nil }
  }

  /// A server that notes every change of its accounts, and gives two of them with each request.
  final class ChangeLog: Sendable {
    private struct State {
      var known: [String: JSONValue] = [:]
      var changes: [String] = []
    }
    private let state = Mutex(State())

    func page(_ records: InMemoryOrg.Records, from token: Int) -> (Int, JSONValue) {
      let present = Dictionary(
        records.all("Account").compactMap { record in record["Id"]?.string.map { ($0, record) } },
        uniquingKeysWith: { first, _ in first })
      return state.withLock { state in
        for (id, record) in present.sorted(by: { $0.key < $1.key })
        where state.known.updateValue(record["LastModifiedDate"] ?? .null, forKey: id)
          != record["LastModifiedDate"]
        { state.changes.append(id) }
        for id in state.known.keys.sorted() where present[id] == nil {
          state.known[id] = nil
          state.changes.append(id)
        }
        let end = min(token + 2, state.changes.count)
        let ids = state.changes[min(token, end)..<end]
        return (
          200,
          [
            "records": .array(ids.compactMap { present[$0].map(JSONValue.object) }),
            "deleted": .array(ids.filter { present[$0] == nil }.map { .string($0) }),
            "token": .integer(Int64(end)), "done": .bool(end == state.changes.count),
          ]
        )
      }
    }
  }

  private static let prepare: @Sendable (Device, [String]) async throws -> Void = { device, _ in
    let log = ChangeLog()
    device.org.respond(to: "GET \(DeltaDown.path)") { records, request in
      log.page(records, from: request.query["token"].flatMap { Int($0) } ?? 0)
    }
  }

  private static var conformance: SyncDownConformance<DeltaDown> {
    var conformance = SyncDownConformance(DeltaDown(), prepare: prepare)
    conformance.findsGhosts = false
    conformance.bringsDeletions = true
    conformance.resumptionCost = 2
    return conformance
  }

  @Test(arguments: conformance.cases)
  func `a target with deletions and checkpoints keeps what sync guarantees`(
    _ proof: SyncConformanceCase
  ) async throws {
    try await proof.check()
  }

  private func device(_ mode: SyncMergeMode) async throws -> (Device, SyncState, [String]) {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(DeltaDown.self) }
    try await Self.prepare(device, [])
    let ids = (0..<4).map { device.org.create("Account", ["Name": .string("there \($0)")]) }
    let sync = try await device.manager.createSyncDown(
      target: DeltaDown(), options: SyncOptions(mergeMode: mode), soupName: Device.soup)
    _ = try await device.manager.reSync(id: sync.id).lastState()
    return (device, sync, ids)
  }

  private func tokens(_ device: Device) -> [String] {
    device.org.requests.compactMap { $0.query["token"] }
  }

  @Test func `the checkpoint of the last page is in the next run's first request`() async throws {
    let (device, sync, ids) = try await device(.overwrite)
    #expect(tokens(device) == ["0", "2"])
    device.org.update("Account", ids[1], ["Name": "changed"])
    device.org.forgetRequests()
    _ = try await device.restartProcess()
    let state = try await device.manager.reSync(id: sync.id).lastState()
    #expect(state?.checkpoint == ["token": 5])
    #expect(tokens(device) == ["4"])
    #expect(try await device.row(ids[1])?["Name"] == "changed")
  }

  @Test func `a page that was not saved leaves the checkpoint before it`() async throws {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(DeltaDown.self) }
    try await Self.prepare(device, [])
    for number in 0..<6 { device.org.create("Account", ["Name": .string("\(number)")]) }
    let sync = try await device.manager.createSyncDown(
      target: DeltaDown(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    device.org.intervene { number, _ in number == 2 ? .unreachable : .none }
    let state = try await device.manager.reSync(id: sync.id).lastState()
    #expect(state?.status == .failed && state?.checkpoint == ["token": 2])
    #expect(try await device.rows().count == 2)
  }

  @Test func `a record that an edit kept away comes once the edit is undone`() async throws {
    let (device, sync, ids) = try await device(.leaveIfChanged)
    try await device.edit(ids[0], ["Name": "mine"])
    device.org.update("Account", ids[0], ["Name": "theirs"])
    _ = try await device.manager.reSync(id: sync.id).lastState()
    #expect(try await device.row(ids[0])?["Name"] == "mine")
    try await device.store.undoEdit(id: ids[0], in: Device.soup)
    _ = try await device.manager.reSync(id: sync.id).lastState()
    #expect(try await device.row(ids[0])?["Name"] == "theirs")
  }

  @Test func `an empty checkpoint removes the one that is stored`() async throws {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(DeltaDown.self) }
    device.org.respond(to: "GET \(DeltaDown.path)") { _, _ in
      (200, ["records": [], "deleted": [], "token": -1, "done": true])
    }
    let sync = try await device.manager.createSyncDown(
      target: DeltaDown(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    try await device.changeStoredSync(sync.id, ["checkpoint": ["token": 3]])
    let state = try await device.manager.reSync(id: sync.id).lastState()
    #expect(tokens(device) == ["3"])
    #expect(state?.status == .done && state?.checkpoint == nil)
  }

  @Test func `a deleted record that another sync has brought stays with that sync`() async throws {
    let (device, sync, ids) = try await device(.overwrite)
    let other = try await device.manager.syncDown(
      target: try device.registry.downTarget(from: [
        "type": "soql", "query": .string(Device.query),
      ]), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).lastState()
    _ = try await device.manager.reSync(id: sync.id).lastState()
    device.org.delete("Account", ids[2])
    _ = try await device.manager.reSync(id: sync.id).lastState()
    #expect(try await device.row(ids[2])?[SyncKeys.syncId] == .integer(other?.id ?? -1))
    _ = try await device.manager.cleanResyncGhosts(forId: other?.id ?? -1)
    #expect(try await device.row(ids[2]) == nil)
  }
}
