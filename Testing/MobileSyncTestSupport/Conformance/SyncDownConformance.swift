public import MobileSync
import SalesforceSDKCommon
import SmartStore

/// A conformance suite for sync down targets, which proves the guarantees of sync:
///
/// ```swift
/// try await SyncDownConformance(MyTarget()).check()
/// ```
///
/// Each guarantee is a case of ``cases``. They run against an ``InMemoryOrg``. If the target uses
/// its own endpoint, add that endpoint to the org in `prepare`.
public struct SyncDownConformance<Target: SyncDownTarget>: Sendable {
  private let target: Target
  /// The object whose records are downloaded.
  public var objectType = "Account"
  /// A field of these records that accepts texts.
  public var field = "Name"
  /// The number of records per page of the org, small enough that runs have several pages.
  public var pageSize = 2
  /// Whether the target can determine which records the server still has.
  public var findsGhosts = true
  /// Whether the target's pages list deleted records, see ``SyncPage/deleted``.
  public var bringsDeletions = false
  /// The number of additional requests that an interrupted run may cost, for a target that resumes
  /// from a ``SyncPage/checkpoint`` or in ranges (``PartitionedSyncDownTarget``); nil skips this
  /// test.
  public var resumptionCost: Int?
  /// The number of requests of a first download of `count` records, with pages of 2,000; nil skips
  /// this test.
  public var requests: (@Sendable (_ count: Int) -> Int)?
  private let prepare: @Sendable (Device, _ ids: [String]) async throws -> Void

  /// Creates the suite of a target.
  ///
  /// - Parameters:
  ///   - requests: See ``requests-swift.property``.
  ///   - prepare: Adds soups to the device and endpoints to its org; it gets the ids of the records
  ///     to download.
  public init(
    _ target: Target, requests: (@Sendable (_ count: Int) -> Int)? = nil,
    prepare: @escaping @Sendable (Device, _ ids: [String]) async throws -> Void = { _, _ in }
  ) {
    self.target = target
    self.requests = requests
    self.prepare = prepare
  }

  /// Proves all guarantees.
  ///
  /// - Returns: The guarantees that cannot be tested with this target, with the reasons.
  /// - Throws: ``ConformanceFailure``, which names every guarantee that does not hold.
  @discardableResult
  public func check() async throws -> [String] { try await SyncConformanceCase.check(cases) }

  /// The guarantees, each with its proof.
  public var cases: [SyncConformanceCase] {
    let noGhosts = findsGhosts ? nil : "the target cannot tell which records the server still has"
    return [
      SyncConformanceCase("Every record arrives once, clean, marked with its sync", arrival),
      SyncConformanceCase("A re-sync brings what changed and keeps the rest", reSync),
      SyncConformanceCase("Every request carries the mark of sync", mark),
      SyncConformanceCase("The stored form reads back as the same target", storedForm),
      SyncConformanceCase("A record that changes between two pages loses no other", changes),
      SyncConformanceCase("An edit made at any step of a run survives and stays dirty") {
        for mode in Self.modes { try await editsUnderWay(mode) }
      },
      SyncConformanceCase("Edits are left alone where the merge mode says so", leavesEdits),
      SyncConformanceCase("A failure at any step leaves what the next run completes", failures),
      SyncConformanceCase(
        "A process that ends at any step leaves what the next run completes at the cost of one page"
      ) { for mode in Self.modes { try await ends(mode) } },
      SyncConformanceCase("A stop at any step leaves what the next run completes", stops),
      SyncConformanceCase(
        "Cleaning ghosts removes own clean records that are gone, and nothing else",
        unless: noGhosts, ghosts),
      SyncConformanceCase(
        "A failure during the search for ghosts removes nothing", unless: noGhosts, failedGhosts),
      SyncConformanceCase(
        "A deletion that a page brings removes the clean record and keeps the edited one in conflict",
        unless: bringsDeletions ? nil : "the target's pages bring no deletions", deletions),
      SyncConformanceCase(
        "An interrupted run resumes from the checkpoint of its last page",
        unless: resumptionCost == nil ? "no cost of a resumption is given" : nil, resumptions),
      SyncConformanceCase(
        "A run costs the requests that it is said to cost",
        unless: requests == nil ? "no cost is given" : nil, costs),
    ]
  }

  // MARK: The world of a case

  private static var modes: [SyncMergeMode] { [.overwrite, .leaveIfChanged, .mergeFields] }

  private func device(records count: Int = 5, pageSize: Int? = nil) async throws -> (
    Device, [String]
  ) {
    let org = InMemoryOrg(idField: target.idFieldName)
    org.pageSize = pageSize ?? self.pageSize
    let device = try await Device.open(org, idField: target.idFieldName) { registry in
      try registry.register(Target.self)
    }
    let ids = (0..<count).map { org.create(objectType, [field: .string("there \($0)")]) }
    try await prepare(device, ids)
    return (device, ids)
  }

  private func make(
    _ device: Device, _ mode: SyncMergeMode = .overwrite
  ) async throws -> SyncState {
    try await device.manager.createSyncDown(
      target: target, options: SyncOptions(mergeMode: mode), soupName: Device.soup)
  }

  /// Creates a sync and runs it.
  private func bring(
    _ device: Device, _ mode: SyncMergeMode = .overwrite
  ) async throws -> SyncState {
    let sync = try await make(device, mode)
    let state = try await run(sync, device)
    try prove(state?.status == .done, "the run ended as \(state.map { "\($0.status)" } ?? "none")")
    return sync
  }

  private func run(_ sync: SyncState, _ device: Device) async throws -> SyncState? {
    try await device.complete { try await $0.reSync(id: sync.id) }
  }

  /// The soup equals the server, but for the rows with ids among `except`.
  private func proveEqual(
    _ device: Device, except: Set<String> = [], _ step: String
  ) async throws {
    let here = pairs(try await device.rows(), except)
    let there = pairs(device.org.records(objectType).map { .object($0) }, except)
    try prove(here == there, "\(step): the soup has \(here), the server \(there)")
  }

  /// Id and text of records, sorted; a double shows.
  private func pairs(_ records: [JSONValue], _ except: Set<String>) -> [String] {
    records.compactMap { record in
      let id = record[target.idFieldName]?.string ?? ""
      return except.contains(id) ? nil : "\(id): \(record[field]?.string ?? "")"
    }.sorted()
  }

  /// The number of requests in a first run.
  private func steps() async throws -> Int {
    let (device, _) = try await device()
    _ = try await bring(device)
    return device.org.requests.count
  }

  // MARK: Guarantees

  private func arrival() async throws {
    let (device, _) = try await device()
    let sync = try await bring(device)
    try await proveEqual(device, "after the run")
    for row in try await device.rows() {
      try prove(row[SyncKeys.local] == false, "a row is dirty")
      try prove(
        row[SyncKeys.syncId] == .integer(sync.id), "a row is not marked with its sync")
    }
  }

  private func reSync() async throws {
    let (device, ids) = try await device()
    let sync = try await bring(device)
    device.org.update(objectType, ids[1], [field: "changed"])
    device.org.update(objectType, ids[4], [field: "changed too"])
    let state = try await run(sync, device)
    try prove(state?.status == .done, "the run ended as \(state.map { "\($0.status)" } ?? "none")")
    try await proveEqual(device, "after the re-sync")
  }

  private func changes() async throws {
    for step in 1...max(try await steps(), 1) {
      for number in 0..<5 {
        let (device, ids) = try await device()
        let sync = try await make(device)
        let (objectType, field) = (objectType, field)
        // Two of them: what comes behind the first is newer than what may have been left out.
        let changed = [ids[number], ids[(number + 1) % 5]]
        device.org.intervene { [org = device.org] seen, _ in
          if seen == step { for id in changed { org.update(objectType, id, [field: "changed"]) } }
          return .none
        }
        _ = try await run(sync, device)
        device.org.intervene(nil)
        _ = try await run(sync, device)
        try await proveEqual(device, "record \(number) changed before request \(step)")
      }
    }
  }

  private func mark() async throws {
    let (device, _) = try await device()
    let sync = try await bring(device)
    if findsGhosts { _ = try await device.manager.cleanResyncGhosts(forId: sync.id) }
    let lacking = device.org.requests.filter { $0.qualifier != "MobileSync" }.map(\.line)
    try prove(lacking.isEmpty, "without the mark: \(lacking)")
  }

  private func storedForm() async throws {
    let (device, _) = try await device(records: 0)
    let read = try device.registry.downTarget(from: target.json)
    try prove(read is Target, "it reads back as \(type(of: read))")
    try prove(read.json == target.json, "\(target.json) reads back as \(read.json)")
  }

  private func editsUnderWay(_ mode: SyncMergeMode) async throws {
    for step in 1...max(try await steps(), 1) {
      let (device, ids) = try await device()
      let sync = try await bring(device, mode)
      for id in ids { device.org.update(objectType, id, [field: "there again"]) }
      device.org.forgetRequests()
      let field = field
      device.org.intervene { number, _ in
        if number == step { try? await device.edit(ids[3], [field: "edited here"]) }
        return .none
      }
      _ = try await run(sync, device)
      guard device.org.requests.count >= step else { continue }
      let row = try await device.row(target.idFieldName, ids[3])
      try prove(
        row?[field] == "edited here" && row?[SyncKeys.local] == true,
        "at request \(step) in mode \(mode): the edit is \(row?[field]?.text ?? "gone")")
      try await proveEqual(device, except: [ids[3]], "at request \(step) in mode \(mode)")
    }
  }

  private func leavesEdits() async throws {
    let (device, ids) = try await device()
    let sync = try await bring(device, .leaveIfChanged)
    try await device.edit(ids[0], [field: "edited here"])
    try await device.delete(ids[1])
    try await device.create([[field: "created locally"]], type: objectType)
    let before = try await device.dirtyRows()
    for id in ids { device.org.update(objectType, id, [field: "there again"]) }
    _ = try await run(sync, device)
    let after = try await device.dirtyRows()
    try prove(before == after, "dirty rows were touched")
  }

  private func failures() async throws {
    let ways: [(String, InMemoryOrg.Intervention)] = [
      ("no network", .unreachable), ("500", .response(status: 500, body: "[]")),
      ("no JSON", .response(status: 200, body: "<html>")),
      ("another form", .response(status: 200, body: "5")), ("records without ids", .withoutIds),
    ]
    for step in 1...max(try await steps(), 1) {
      for (name, way) in ways {
        let (device, _) = try await device()
        let sync = try await make(device)
        device.org.intervene { number, _ in number == step ? way : .none }
        let state = try await run(sync, device)
        device.org.intervene(nil)
        // A harmless fault need not end the run.
        if state?.status == .done {
          try await proveEqual(device, "\(name) at request \(step), which did not fail the run")
        } else {
          try prove(state?.status == .failed, "\(name) at request \(step): the run did not fail")
        }
        _ = try await run(sync, device)
        try await proveEqual(device, "\(name) at request \(step)")
      }
    }
  }

  private func ends(_ mode: SyncMergeMode) async throws {
    let ideal = try await steps()
    for step in 1...max(ideal, 1) {
      let place = "in mode \(mode) at request \(step)"
      let (device, _) = try await device()
      let sync = try await make(device, mode)
      device.endProcess(at: step, afterResponse: true)
      _ = try await run(sync, device)
      device.org.intervene(nil)
      try await device.restartProcess()
      _ = try await run(sync, device)
      try await proveEqual(device, place)
      // In order, the pages that were in flight and being saved come again, and with them the last
      // record before; otherwise everything does.
      let most =
        target.isSortedByModificationDate
        ? ideal + (resumptionCost ?? 3) : step + ideal + (resumptionCost ?? 0)
      let cost = device.org.requests.count
      try prove(cost <= most, "\(place): both runs cost \(cost) requests, more than \(most)")
    }
  }

  private func stops() async throws {
    for step in 1...max(try await steps(), 1) {
      let (device, _) = try await device()
      let sync = try await make(device)
      device.org.intervene { number, _ in
        if number == step { await device.manager.stop() }
        return .none
      }
      let state = try await run(sync, device)
      device.org.intervene(nil)
      // A stop that comes when everything is saved may find the run done.
      if state?.status == .done {
        try await proveEqual(device, "at request \(step), where the run ended as done")
      } else {
        try prove(
          state?.status == .stopped,
          "at request \(step): the run ended as \(state.map { "\($0.status)" } ?? "none")")
      }
      try await device.manager.restart(restartStoppedSyncs: false)
      _ = try await run(sync, device)
      try await proveEqual(device, "at request \(step)")
    }
  }

  private func ghosts() async throws {
    let (device, ids) = try await device()
    let sync = try await bring(device)
    // Not this sync's: another sync's record, an edited one and one that was created locally.
    try await device.store.upsert(
      entries: [
        .object([
          target.idFieldName: "001other", SyncKeys.local: false, SyncKeys.syncId: -5,
          "attributes": ["type": .string(objectType)],
        ])
      ], forSoupNamed: Device.soup)
    try await device.create([[field: "created locally"]], type: objectType)
    try await device.edit(ids[0], [field: "edited here"])
    device.org.delete(objectType, ids[0])
    device.org.delete(objectType, ids[2])
    let removed = try await device.manager.cleanResyncGhosts(forId: sync.id)
    try prove(removed == 1, "\(removed) records were removed instead of 1")
    let left = Set(try await device.rows().compactMap { $0[target.idFieldName]?.string })
    try prove(!left.contains(ids[2]), "the ghost is still there")
    try prove(
      left.isSuperset(of: [ids[0], ids[1], ids[3], ids[4], "001other"]) && left.count == 6,
      "the soup has \(left)")
  }

  private func failedGhosts() async throws {
    let ways: [(String, InMemoryOrg.Intervention, SyncError.Code)] = [
      ("no network", .unreachable, .transport),
      ("500", .response(status: 500, body: "[]"), .server),
      ("no JSON", .response(status: 200, body: "<html>"), .unexpectedResponse),
      ("another form", .response(status: 200, body: "{}"), .unexpectedResponse),
      (
        "a refusal as a success", .response(status: 200, body: #"[{"errorCode":"X"}]"#),
        .unexpectedResponse
      ),
      ("records without ids", .withoutIds, .unexpectedResponse),
    ]
    let (device, ids) = try await device()
    let sync = try await bring(device)
    device.org.delete(objectType, ids[2])
    device.org.forgetRequests()
    _ = try await device.manager.cleanResyncGhosts(forId: sync.id)
    for step in 1...max(device.org.requests.count, 1) {
      for (name, way, expected) in ways {
        let (device, ids) = try await self.device()
        let sync = try await bring(device)
        device.org.delete(objectType, ids[2])
        device.org.forgetRequests()
        device.org.intervene { number, _ in number == step ? way : .none }
        let code = await syncErrorCode {
          _ = try await device.manager.cleanResyncGhosts(forId: sync.id)
        }
        let place = "\(name) at request \(step)"
        try prove(code == expected, "\(place): \(code.map { "\($0)" } ?? "no error")")
        let rows = try await device.rows().count
        try prove(rows == 5, "\(place): \(5 - rows) records were removed")
      }
    }
  }

  private func deletions() async throws {
    for mode in Self.modes {
      let (device, _, _) = try await deleted(mode)
      let ideal = device.org.requests.count
      for step in 1...max(ideal, 1) {
        let place = "in mode \(mode) with a process that ends at request \(step)"
        let (device, sync, ids) = try await deleted(mode, endingAt: step)
        for _ in 0..<2 {
          _ = try await run(sync, device)
          let left = Set(try await device.rows().compactMap { $0[target.idFieldName]?.string })
          try prove(left == [ids[0], ids[3], ids[4]], "\(place): the soup has \(left)")
          let row = try await device.row(ids[0])
          try prove(
            row?[field] == "edited here" && row?[SyncKeys.local] == true,
            "\(place): the edit is \(row?[field]?.text ?? "gone")")
          let kinds = try await device.store.conflicts().map { "\($0.recordId) \($0.kind)" }
          try prove(
            kinds == ["\(ids[0]) \(SyncConflict.Kind.deletedThere)"],
            "\(place): the conflicts are \(kinds)")
        }
      }
    }
  }

  /// A device whose sync has run again after three of its records were deleted on the server: one edited locally, one
  /// deleted locally, and a clean one. The requests are those of this run.
  private func deleted(
    _ mode: SyncMergeMode, endingAt step: Int? = nil
  ) async throws -> (Device, SyncState, [String]) {
    let (device, ids) = try await device()
    let sync = try await bring(device, mode)
    try await device.edit(ids[0], [field: "edited here"])
    try await device.delete(ids[1])
    for id in ids.prefix(3) { device.org.delete(objectType, id) }
    device.org.forgetRequests()
    if let step { device.endProcess(at: step, afterResponse: true) }
    _ = try await run(sync, device)
    if step != nil {
      device.org.intervene(nil)
      try await device.restartProcess()
    }
    return (device, sync, ids)
  }

  private func resumptions() async throws {
    let ideal = try await steps()
    let most = ideal + (resumptionCost ?? 0)
    for step in 1...max(ideal, 1) {
      for ends in [true, false] {
        let place = "\(ends ? "a process that ends" : "a stop") at request \(step)"
        let (device, _) = try await device()
        let sync = try await make(device)
        if ends {
          device.endProcess(at: step, afterResponse: true)
        } else {
          device.org.intervene { number, _ in
            if number == step { await device.manager.stop() }
            return .none
          }
        }
        _ = try await run(sync, device)
        device.org.intervene(nil)
        if ends {
          try await device.restartProcess()
        } else {
          try await device.manager.restart(restartStoppedSyncs: false)
        }
        _ = try await run(sync, device)
        try await proveEqual(device, place)
        let cost = device.org.requests.count
        try prove(cost <= most, "\(place): both runs cost \(cost) requests, more than \(most)")
      }
    }
  }

  private func costs() async throws {
    for count in [1, 25, 200, 201, 2_000, 2_001] {
      let (device, _) = try await device(records: count, pageSize: 2_000)
      _ = try await bring(device)
      let cost = device.org.requests.count
      let expected = requests?(count) ?? cost
      try prove(cost == expected, "\(count) records cost \(cost) requests, not \(expected)")
      try await proveEqual(device, "\(count) records")
    }
  }
}
