public import MobileSync
import SalesforceSDKCommon
import SmartStore

/// A conformance suite for sync up targets, which proves the guarantees of sync:
///
/// ```swift
/// try await SyncUpConformance(MyTarget()).check()
/// ```
///
/// Each guarantee is a case of ``cases``. They run against an ``InMemoryOrg``. If the target uses
/// its own endpoint, add that endpoint to the org in `prepare`.
public struct SyncUpConformance<Target: SyncUpTarget>: Sendable {
  private let target: Target
  /// The object whose records are sent.
  public var objectType = "Account"
  /// A field of these records that accepts texts.
  public var field = "Name"
  /// A text that the server rejects in that field; nil if it accepts every text.
  public var refusedText: String? = ""
  /// The number of requests of one group. Default: 1.
  public var requestsPerGroup = 1
  /// The number of these requests before the one that changes records. Default: 0.
  public var requestsBeforeChange = 0
  /// The number of requests to send `count` edits in a merge mode; nil skips this test.
  public var requests: (@Sendable (_ count: Int, _ mode: SyncMergeMode) -> Int)?
  private let prepare: @Sendable (Device) async throws -> Void

  /// Creates the suite of a target.
  ///
  /// - Parameters:
  ///   - requests: See ``requests-swift.property``.
  ///   - prepare: Adds soups to the device and endpoints to its org.
  public init(
    _ target: Target, requests: (@Sendable (_ count: Int, _ mode: SyncMergeMode) -> Int)? = nil,
    prepare: @escaping @Sendable (Device) async throws -> Void = { _ in }
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
    let unacknowledgedCreates =
      target is any UnacknowledgedCreateFinding || target.fields.externalIdFieldName != nil
      ? nil
      : "the target is no UnacknowledgedCreateFinding, so a create without a response is held in doubt"
    return [
      SyncConformanceCase("What was made, edited and deleted here is so on the server", everything),
      SyncConformanceCase("Nothing to send costs no request", nothing),
      SyncConformanceCase("Every request carries the mark of sync", mark),
      SyncConformanceCase("The stored form reads back as the same target", storedForm),
      SyncConformanceCase(
        "An edit made at any step of a run stays and is uploaded next time", editsUnderWay),
      SyncConformanceCase("A failure at any step leaves what the next run completes", failures),
      SyncConformanceCase(
        "A record whose response was lost is not created twice", unless: unacknowledgedCreates
      ) {
        for mode in modesOfLostResponses { try await ends(mode, afterResponse: true, kills: false) }
      },
      SyncConformanceCase(
        "A process that ends before any request loses nothing and costs one group more"
      ) {
        for mode in modes { try await ends(mode, afterResponse: false, kills: true) }
      },
      SyncConformanceCase(
        "A process that ends after any request loses and doubles nothing and costs one group more",
        unless: unacknowledgedCreates
      ) {
        for mode in modesOfLostResponses { try await ends(mode, afterResponse: true, kills: true) }
      },
      SyncConformanceCase("A stop at any step is followed by the rest, without doubles", stops),
      SyncConformanceCase(
        "A newer record on the server is left alone and told as a conflict", conflict),
      SyncConformanceCase(
        "An edit whose response was lost is no conflict",
        unless: target is any RemoteRecordFetching
          ? nil : "the target is no RemoteRecordFetching, so the edit looks like a remote one",
        lostEdit),
      SyncConformanceCase("A deletion of what is gone already removes the row", deletionOfGone),
      SyncConformanceCase("A record that is gone on the server is reported as gone", gone),
      SyncConformanceCase(
        "A refused record keeps the server's words and stays dirty, others are uploaded",
        unless: refusedText == nil ? "the server takes every text" : nil, refusal),
      SyncConformanceCase(
        "A run costs the requests that it is said to cost",
        unless: requests == nil ? "no cost is given" : nil, costs),
    ]
  }

  // MARK: The world of a case

  /// The modes in which the target can send: merging needs the server's records.
  private var modes: [SyncMergeMode] {
    target is any RemoteRecordFetching
      ? [.overwrite, .leaveIfChanged, .mergeFields] : [.overwrite, .leaveIfChanged]
  }

  /// The modes in which an edit whose response was lost can be known again.
  private var modesOfLostResponses: [SyncMergeMode] {
    target is any RemoteRecordFetching ? modes : [.overwrite]
  }

  /// A device with a stored sync and with clean records.
  private func device(
    records count: Int, _ mode: SyncMergeMode = .overwrite, fetchesDates: Bool = false
  ) async throws -> (Device, [String]) {
    let org = InMemoryOrg(idField: target.idFieldName)
    org.setClock(SyncEnvironment().now())
    let device = try await Device.open(org, idField: target.idFieldName) { registry in
      try registry.register(Target.self)
    }
    try await prepare(device)
    let ids = (0..<count).map { org.create(objectType, [field: .string("there \($0)")]) }
    try await device.download(ids, type: objectType)
    _ = try await device.manager.createSyncUp(
      target: target,
      options: SyncOptions(
        mergeMode: mode, fieldlist: [field], fetchesModificationDates: fetchesDates),
      soupName: Device.soup, syncName: Self.sync)
    return (device, ids)
  }

  private static var sync: String { "up" }

  private func send(_ device: Device) async throws -> SyncState? {
    try await device.complete { try await $0.reSync(named: Self.sync) }
  }

  /// A device with a record made, one edited and one deleted locally.
  private func worked(
    _ mode: SyncMergeMode = .overwrite, fetchesDates: Bool = false
  ) async throws -> (Device, [String]) {
    let (device, ids) = try await device(records: 3, mode, fetchesDates: fetchesDates)
    try await device.create([[field: "made"]], type: objectType)
    try await device.edit(ids[0], [field: "edited"])
    try await device.delete(ids[1])
    return (device, ids)
  }

  /// Both sides agree on what ``worked()`` did.
  private func proveWorked(_ device: Device, _ step: String) async throws {
    let there = texts(device.org.records(objectType).map { .object($0) })
    try prove(there == ["edited", "made", "there 2"], "\(step): the server has \(there)")
    let here = texts(try await device.rows())
    try prove(here == there, "\(step): the soup has \(here), the server \(there)")
    let dirty = try await device.dirtyRows().count
    try prove(dirty == 0, "\(step): \(dirty) rows are dirty")
    let ids = Set(try await device.rows().compactMap { $0[target.idFieldName]?.string })
    let known = Set(
      device.org.records(objectType).compactMap { $0[target.idFieldName]?.string })
    try prove(ids == known, "\(step): the rows' ids are not the server's")
  }

  private func texts(_ records: [JSONValue]) -> [String] {
    records.compactMap { $0[field]?.string }.sorted()
  }

  /// The number of requests in the run of ``worked()``.
  private func steps(
    _ mode: SyncMergeMode = .overwrite, fetchesDates: Bool = false
  ) async throws -> Int {
    let (device, _) = try await worked(mode, fetchesDates: fetchesDates)
    _ = try await send(device)
    return device.org.requests.count
  }

  /// Runs until nothing is dirty, a few times at most.
  private func complete(_ device: Device) async throws {
    for _ in 0..<3 where try await !device.dirtyRows().isEmpty {
      _ = try await send(device)
      if target is any UnacknowledgedCreateFinding { continue }
      // Such a target cannot find out; a query of the server can.
      for conflict in try await device.store.conflicts() where conflict.kind == .inDoubt {
        try await device.store.resolve(conflict, .create)
      }
    }
  }

  // MARK: Guarantees

  private func everything() async throws {
    for mode in modes {
      let (device, _) = try await worked(mode)
      let state = try await send(device)
      try prove(
        state?.status == .done,
        "in mode \(mode) the run ended as \(state.map { "\($0.status)" } ?? "none")")
      try prove(state?.totalSize == 3, "the run counted \(state?.totalSize ?? -1) records of 3")
      try await proveWorked(device, "in mode \(mode)")
    }
  }

  private func nothing() async throws {
    let (device, _) = try await device(records: 1, .leaveIfChanged)
    _ = try await send(device)
    let lines = device.org.lines
    try prove(lines.isEmpty, "sent \(lines)")
  }

  private func mark() async throws {
    let (device, _) = try await worked(.leaveIfChanged)
    _ = try await send(device)
    let lacking = device.org.requests.filter { $0.qualifier != "MobileSync" }.map(\.line)
    try prove(lacking.isEmpty, "without the mark: \(lacking)")
  }

  private func storedForm() async throws {
    let (device, _) = try await device(records: 0)
    let read = try device.registry.upTarget(from: target.json)
    try prove(read is Target, "it reads back as \(type(of: read))")
    try prove(read.json == target.json, "\(target.json) reads back as \(read.json)")
  }

  private func editsUnderWay() async throws {
    for mode in modes { try await editsUnderWay(mode) }
  }

  private func editsUnderWay(_ mode: SyncMergeMode) async throws {
    // A record that was sent and edited since has to know its new date to be sent again.
    let fetchesDates = mode == .leaveIfChanged
    for step in 1...max(try await steps(mode, fetchesDates: fetchesDates), 1) {
      let place = "in mode \(mode) at request \(step)"
      let (device, ids) = try await worked(mode, fetchesDates: fetchesDates)
      let made = try await device.row(field, "made")?["_soupEntryId"]?.int64 ?? -1
      let field = field
      device.org.intervene { number, _ in
        if number == step {
          try? await device.edit(entry: made, [field: "made again"])
          try? await device.edit(ids[0], [field: "edited again"])
          try? await device.edit(ids[2], [field: "edited at last"])
        }
        return .none
      }
      _ = try await send(device)
      let kept = texts(try await device.rows())
      let expected = ["edited again", "edited at last", "made again"]
      try prove(
        expected.allSatisfy(kept.contains), "\(place): the soup has \(kept) after the run")
      device.org.intervene(nil)
      try await complete(device)
      let there = texts(device.org.records(objectType).map { .object($0) })
      let here = texts(try await device.rows())
      try prove(
        there == expected && here == expected,
        "\(place): the server has \(there), the soup \(here)")
      let dirty = try await device.dirtyRows().count
      try prove(dirty == 0, "\(place): \(dirty) rows are dirty in the end")
    }
  }

  private func failures() async throws {
    let ways: [(String, InMemoryOrg.Intervention)] = [
      ("no network", .unreachable), ("503", .response(status: 503, body: "[]")),
      ("401", .response(status: 401, body: "[]")),
    ]
    for mode in modes {
      for step in 1...max(try await steps(mode), 1) {
        for (name, way) in ways {
          let place = "\(name) in mode \(mode) at request \(step)"
          let (device, _) = try await worked(mode)
          device.org.intervene { number, _ in number == step ? way : .none }
          let state = try await send(device)
          device.org.intervene(nil)
          // A harmless fault need not end the run.
          if state?.status != .done {
            try prove(state?.status == .failed, "\(place): the run did not fail")
            try prove(state?.error.isEmpty == false, "\(place): no reason is stored")
            try await complete(device)
          }
          try await proveWorked(device, place)
        }
      }
    }
  }

  /// The connection, or the process, ends at each request in turn.
  private func ends(_ mode: SyncMergeMode, afterResponse: Bool, kills: Bool) async throws {
    let ideal = try await steps(mode)
    let questions = ideal - (mode == .overwrite ? ideal : try await steps(.overwrite))
    for step in 1...max(ideal, 1) {
      let place = "in mode \(mode) at request \(step)"
      let (device, _) = try await worked(mode)
      if kills {
        device.endProcess(at: step, afterResponse: afterResponse)
      } else {
        device.org.intervene { number, _ in number == step ? .dropResponse : .none }
      }
      _ = try await send(device)
      device.org.intervene(nil)
      if kills { try await device.restartProcess() }
      try await complete(device)
      try await proveWorked(device, place)
      // The group that was in flight, the questions before it, and what became of it: a question each
      // for creations and edits.
      let cost = device.org.requests.count
      let most = ideal + 1 + questions + 2 + 2 * (requestsPerGroup - 1)
      try prove(cost <= most, "\(place): both runs cost \(cost) requests, more than \(most)")
    }
  }

  private func stops() async throws {
    for mode in modes {
      for step in 1...max(try await steps(mode), 1) {
        let place = "in mode \(mode) at request \(step)"
        let (device, _) = try await worked(mode)
        device.org.intervene { number, _ in
          if number == step { await device.manager.stop() }
          return .none
        }
        let state = try await send(device)
        try prove(
          state?.status == .stopped || state?.status == .done,
          "\(place): the run ended as \(state.map { "\($0.status)" } ?? "none")")
        device.org.intervene(nil)
        try await device.manager.restart(restartStoppedSyncs: false)
        try await complete(device)
        try await proveWorked(device, place)
      }
    }
  }

  private func conflict() async throws {
    let (device, ids) = try await device(records: 2, .leaveIfChanged)
    for id in ids { try await device.edit(id, [field: .string("here \(id)")]) }
    device.org.update(objectType, ids[0], [field: "newer there"])
    let state = try await send(device)
    try prove(state?.status == .done, "the run ended as \(state.map { "\($0.status)" } ?? "none")")
    let texts = ids.map { device.org.record(objectType, $0)?[field]?.string ?? "" }
    try prove(texts[0] == "newer there", "the newer record was overwritten with \(texts[0])")
    try prove(texts[1] == "here \(ids[1])", "the other record was not uploaded")
    let dirty = try await device.dirtyRows().compactMap { $0[target.idFieldName]?.string }
    try prove(dirty == [ids[0]], "dirty are \(dirty)")
    let kinds = try await device.manager.outcomes(forId: state?.id ?? -1)
      .filter { $0.kind == .conflict }.count
    try prove(kinds == 1, "\(kinds) conflicts are reported")
  }

  private func lostEdit() async throws {
    let (device, ids) = try await device(records: 1, .leaveIfChanged)
    try await device.edit(ids[0], [field: "edited"])
    // First values and dates are requested, of a tree with two requests; what follows is done, and its response
    // is lost.
    let reading = (target is any TreeSyncUpTarget ? 2 : 1) + requestsBeforeChange
    device.org.intervene { number, _ in number > reading ? .dropResponse : .none }
    _ = try await send(device)
    try prove(
      device.org.record(objectType, ids[0])?[field] == "edited", "the edit did not arrive")
    device.org.intervene(nil)
    _ = try await send(device)
    let row = try await device.rows().first
    try prove(row?[SyncKeys.local] == false, "the row is dirty")
    try prove(row?[field] == "edited", "the row has \(row?[field]?.text ?? "nothing")")
  }

  private func deletionOfGone() async throws {
    let (device, ids) = try await device(records: 1)
    try await device.delete(ids[0])
    device.org.delete(objectType, ids[0])
    let state = try await send(device)
    try prove(state?.status == .done, "the run ended as \(state.map { "\($0.status)" } ?? "none")")
    let rows = try await device.rows().count
    try prove(rows == 0, "\(rows) rows are left")
  }

  /// A target that says `unknown` of such records leaves them dirty for ever.
  private func gone() async throws {
    let (device, ids) = try await device(records: 3, .leaveIfChanged)
    try await device.edit(ids[0], [field: "edited"])
    try await device.delete(ids[1])
    try await device.edit(ids[2], [field: "edited"])
    for id in ids.prefix(2) { device.org.delete(objectType, id) }
    let state = try await send(device)
    try prove(state?.status == .done, "the run ended as \(state.map { "\($0.status)" } ?? "none")")
    let undecided = try await device.manager.outcomes(forId: state?.id ?? -1)
      .count { $0.kind == .undecided }
    try prove(
      undecided == 0,
      "remoteDates(of:in:) said of \(undecided) records that are gone that it does not know them")
    let deleted = try await device.row(ids[1])
    try prove(deleted == nil, "the row that was deleted on both sides is left")
    let edited = try await device.row(ids[0])
    try prove(
      edited?[SyncKeys.local] == true,
      "the row that was edited here and deleted there did not stay dirty")
    let there = texts(device.org.records(objectType).map { .object($0) })
    try prove(there == ["edited"], "the server has \(there)")
  }

  private func refusal() async throws {
    let (device, _) = try await device(records: 0)
    let refused = refusedText ?? ""
    try await device.create(
      [[field: "one"], [field: .string(refused)], [field: "two"]], type: objectType)
    let state = try await send(device)
    try prove(state?.status == .done, "the run ended as \(state.map { "\($0.status)" } ?? "none")")
    let there = texts(device.org.records(objectType).map { .object($0) })
    try prove(there == ["one", "two"], "the server has \(there)")
    let dirty = try await device.dirtyRows()
    try prove(
      dirty.count == 1 && dirty[0][field]?.string == refused
        && dirty[0][SyncKeys.lastError]?.string?.isEmpty == false,
      "\(dirty.count) rows are dirty, or the server's words are not kept")
    let counts = try await device.manager.outcomeCounts(forId: state?.id ?? -1)
    try prove(counts.succeeded == 2 && counts.failed == 1, "the outcomes are \(counts)")
  }

  private func costs() async throws {
    for (count, mode) in [
      (1, SyncMergeMode.overwrite), (25, .overwrite), (26, .overwrite), (200, .overwrite),
      (201, .overwrite), (1, .leaveIfChanged), (201, .leaveIfChanged),
    ] {
      let (device, _) = try await device(records: count, mode)
      let rows = try await device.rows().map { row in
        var row = row
        row[field] = "edited"
        row[SyncKeys.local] = true
        row[SyncKeys.locallyUpdated] = true
        return row
      }
      try await device.store.upsert(entries: rows, forSoupNamed: Device.soup)
      _ = try await send(device)
      let cost = device.org.requests.count
      let expected = requests?(count, mode) ?? cost
      try prove(
        cost == expected, "\(count) edits in mode \(mode) cost \(cost) requests, not \(expected)")
      let dirty = try await device.dirtyRows().count
      try prove(dirty == 0, "\(dirty) of \(count) rows are dirty")
    }
  }
}
