public import MobileSync
import SalesforceSDKCommon
import SmartStore

/// A conformance suite for targets whose records are never edited locally, such as descriptions and
/// layouts:
///
/// ```swift
/// try await DescriptionConformance(MyTarget()).check()
/// ```
///
/// Each guarantee is a case of ``cases``. The records of an undisturbed run are the expected ones.
public struct DescriptionConformance<Target: ReadOnlySyncDownTarget>: Sendable {
  private let target: Target
  /// The number of requests of a run.
  private let requests: Int
  private let prepare: @Sendable (Device) async throws -> Void

  /// Creates the suite of a target.
  ///
  /// - Parameters:
  ///   - requests: The number of requests of a run.
  ///   - prepare: Adds endpoints to the org.
  public init(
    _ target: Target, requests: Int = 1,
    prepare: @escaping @Sendable (Device) async throws -> Void = { _ in }
  ) {
    self.target = target
    self.requests = requests
    self.prepare = prepare
  }

  /// Proves all guarantees.
  ///
  /// - Throws: ``ConformanceFailure``, which names every guarantee that does not hold.
  public func check() async throws { try await SyncConformanceCase.check(cases) }

  /// The guarantees, each with its proof.
  public var cases: [SyncConformanceCase] {
    [
      SyncConformanceCase("What comes is stored once, and once again replaced", arrival),
      SyncConformanceCase("Every request carries the mark of sync", mark),
      SyncConformanceCase("The stored form reads back as the same target", storedForm),
      SyncConformanceCase("A failure at any step leaves what the next run completes", failures),
      SyncConformanceCase(
        "A process that ends at any step leaves what the next run completes", ends),
      SyncConformanceCase("A stop at any step leaves what the next run completes", stops),
      SyncConformanceCase("Cleaning ghosts removes nothing and asks nothing", ghosts),
      SyncConformanceCase("A run costs the requests that it is said to cost", costs),
    ]
  }

  private func device() async throws -> (Device, SyncState) {
    let device = try await Device.open(
      InMemoryOrg(idField: target.idFieldName), idField: target.idFieldName
    ) { registry in try registry.register(Target.self) }
    try await prepare(device)
    let sync = try await device.manager.createSyncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    return (device, sync)
  }

  private func run(_ sync: SyncState, _ device: Device) async throws -> SyncState? {
    try await device.complete { try await $0.reSync(id: sync.id) }
  }

  /// The rows without what the store adds to them.
  private func rows(_ device: Device) async throws -> [JSONObject] {
    try await device.rows().compactMap(\.object).map { row in
      var row = row
      for key in row.keys where key.hasPrefix("_soup") { row[key] = nil }
      return row
    }
  }

  /// The records that an undisturbed run stores.
  private func ideal() async throws -> [JSONObject] {
    let (device, sync) = try await device()
    let state = try await run(sync, device)
    try prove(state?.status == .done, "the run ended as \(state.map { "\($0.status)" } ?? "none")")
    return try await rows(device)
  }

  private func proveIdeal(_ device: Device, _ place: String) async throws {
    let (here, wanted) = (try await rows(device), try await ideal())
    try prove(here == wanted, "\(place): the soup has \(here), not \(wanted)")
  }

  // MARK: Guarantees

  private func arrival() async throws {
    let (device, sync) = try await device()
    for _ in 0..<2 {
      _ = try await run(sync, device)
      try await proveIdeal(device, "after a run")
    }
    for row in try await rows(device) {
      try prove(row[SyncKeys.local] == false, "a row is dirty")
      try prove(row[SyncKeys.syncId] == .integer(sync.id), "a row is not marked with its sync")
      try prove(
        row[target.idFieldName]?.string?.isEmpty == false, "a row has no id in its id field")
    }
    let count = try await rows(device).count
    try prove(count > 0, "nothing was stored")
  }

  private func mark() async throws {
    let (device, sync) = try await device()
    _ = try await run(sync, device)
    let lacking = device.org.requests.filter { $0.qualifier != "MobileSync" }.map(\.line)
    try prove(lacking.isEmpty, "without the mark: \(lacking)")
  }

  private func storedForm() async throws {
    let (device, _) = try await device()
    let read = try device.registry.downTarget(from: target.json)
    try prove(read is Target, "it reads back as \(type(of: read))")
    try prove(read.json == target.json, "\(target.json) reads back as \(read.json)")
  }

  private func failures() async throws {
    let ways: [(String, InMemoryOrg.Intervention)] = [
      ("no network", .unreachable), ("500", .response(status: 500, body: "[]")),
      ("no JSON", .response(status: 200, body: "<html>")),
      ("another form", .response(status: 200, body: "5")),
    ]
    for step in 1...max(requests, 1) {
      for (name, way) in ways {
        let (device, sync) = try await device()
        device.org.intervene { number, _ in number == step ? way : .none }
        let state = try await run(sync, device)
        try prove(state?.status == .failed, "\(name) at request \(step): the run did not fail")
        device.org.intervene(nil)
        _ = try await run(sync, device)
        try await proveIdeal(device, "\(name) at request \(step)")
      }
    }
  }

  private func ends() async throws {
    for step in 1...max(requests, 1) {
      let (device, sync) = try await device()
      device.endProcess(at: step, afterResponse: true)
      _ = try await run(sync, device)
      device.org.intervene(nil)
      try await device.restartProcess()
      _ = try await run(sync, device)
      try await proveIdeal(device, "at request \(step)")
      let cost = device.org.requests.count
      try prove(cost <= step + requests, "at request \(step): both runs cost \(cost) requests")
    }
  }

  private func stops() async throws {
    for step in 1...max(requests, 1) {
      let (device, sync) = try await device()
      device.org.intervene { number, _ in
        if number == step { await device.manager.stop() }
        return .none
      }
      let state = try await run(sync, device)
      try prove(state?.status == .stopped, "at request \(step): the run did not stop")
      device.org.intervene(nil)
      try await device.manager.restart(restartStoppedSyncs: false)
      _ = try await run(sync, device)
      try await proveIdeal(device, "at request \(step)")
    }
  }

  private func ghosts() async throws {
    let (device, sync) = try await device()
    _ = try await run(sync, device)
    device.org.forgetRequests()
    let removed = try await device.manager.cleanResyncGhosts(forId: sync.id)
    try prove(removed == 0, "\(removed) records were removed")
    try prove(device.org.requests.isEmpty, "asked \(device.org.lines)")
    try await proveIdeal(device, "afterwards")
  }

  private func costs() async throws {
    let (device, sync) = try await device()
    for _ in 0..<2 {
      device.org.forgetRequests()
      _ = try await run(sync, device)
      let cost = device.org.requests.count
      try prove(cost == requests, "a run cost \(cost) requests, not \(requests)")
    }
  }
}
