import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// The steps of `fieldforce demo`. Each step is a function and prints a line with counts and times.
struct DemoStory {
  let plans: [URL]
  let folder: URL
  let say: (String) -> Void

  /// Runs all of it.
  func tell() async throws -> DemoReport {
    let plan = try DemoPlan(plans)
    // A manual clock, so that later times on the server need no waiting.
    let clock = MockOrgClock(frozenAt: Date())
    var options = MockOrgOptions()
    options.clock = clock
    let org = try MockOrg(options)
    var counts = try await load(into: org)
    return try await MockOrgServer.withServer(org) { server in
      let workspace = try await Workspace(folder: folder, wantsPlaintext: false)
      var device = try await logIn(workspace, server)
      device.objects = try await describe(plan, device)
      try await syncDown(device, &counts)

      let requests = org.requestLog.count
      let edits = try await editOffline(device, plan, &counts)
      say("  requests in that time: \(org.requestLog.count - requests)")

      clock.advance(by: .seconds(60))
      try await editOnServer(device, edits)
      clock.advance(by: .seconds(60))
      try await syncUp(device, .leaveIfChanged, &counts)
      try await showConflicts(device, edits)
      clock.advance(by: .seconds(60))
      try await resolve(device, edits, &counts)
      try await cleanGhosts(device, &counts)
      try await compare(device, &counts)

      try await workspace.close()
      let leaks = try scan(plan)
      let report = DemoReport(counts: counts, leaks: leaks)
      say(report.agree ? "Both sides agree." : "The two sides do NOT agree.")
      return report
    }
  }

  /// The device: a client, a store and the syncs of one user.
  struct Device {
    let client: RestClient
    let store: SmartStore
    let manager: SyncManager
    var objects: [DemoObject] = []
  }

  /// Measures a step and prints its line.
  func step<Result>(
    _ title: String, _ body: () async throws -> (String, Result)
  ) async throws -> Result {
    let start = ContinuousClock.now
    let (detail, result) = try await body()
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    say("\(title): \(detail) (\(Int(milliseconds.rounded())) ms)")
    return result
  }

  // MARK: First step: download everything

  private func load(into org: MockOrg) async throws -> [DemoCounts] {
    try await step("Org loaded") {
      var counts: [DemoCounts] = []
      for plan in plans {
        for loaded in try await org.load(plan: plan) {
          if let index = counts.firstIndex(where: { $0.object == loaded.object }) {
            counts[index].loaded += loaded.count
          } else {
            counts.append(DemoCounts(object: loaded.object, loaded: loaded.count))
          }
        }
      }
      guard !counts.isEmpty else {
        throw CommandFailure(
          "noRecords",
          "The data has no records. Give --data a plan whose files have records."
        )
      }
      return (counts.map { "\($0.loaded) \($0.object)" }.joined(separator: ", "), counts)
    }
  }

  private func logIn(_ workspace: Workspace, _ server: MockOrgServer) async throws -> Device {
    try await step("Logged in") {
      let info = server.info
      let account = try await workspace.accounts.logIn(
        .tokens(
          accessToken: info.accessToken, refreshToken: info.refreshToken,
          instance: try LoginServer(info.instanceUrl),
          app: ConnectedApp(
            clientId: info.clientId, redirectURI: info.redirectUri, usesHybridGrants: false)))
      let client = try await workspace.client()
      guard let store = try await workspace.stores.shared(forUserAccount: StoreOwner(account))
      else { throw CommandFailure("notLoggedIn", "The login was lost.") }
      let manager = try await workspace.managers.sharedInstance(store: store, sender: client)
      return (
        "\(account.username), store encrypted",
        Device(client: client, store: store, manager: manager)
      )
    }
  }

  private func describe(_ plan: DemoPlan, _ device: Device) async throws -> [DemoObject] {
    var objects: [DemoObject] = []
    for name in plan.objects {
      let object = try await DemoObject.describe(
        name, used: plan.fields[name] ?? [], client: device.client)
      try await device.store.registerSoup(
        withName: object.soup, withIndices: DemoObject.indexes)
      objects.append(object)
    }
    return objects
  }

  private func syncDown(_ device: Device, _ counts: inout [DemoCounts]) async throws {
    for object in device.objects {
      let total = try await step("Synced down \(object.name)") {
        let sync = try await device.manager.createSyncDown(
          targetJSON: ["type": "soql", "query": .string(object.query)],
          options: SyncOptions(mergeMode: .leaveIfChanged), soupName: object.soup,
          syncName: object.downName)
        let state = try await device.manager.reSync(id: sync.id).finished()
        return ("\(state.totalSize) records", state.totalSize)
      }
      counts.change(object.name) { $0.syncedDown = total }
    }
  }

  // MARK: Last step: compare both sides, and search the files

  private func cleanGhosts(_ device: Device, _ counts: inout [DemoCounts]) async throws {
    for object in device.objects {
      let removed = try await step("Cleaned ghosts of \(object.name)") {
        let removed = try await device.manager.cleanResyncGhosts(forName: object.downName)
        return ("\(removed) removed", removed)
      }
      counts.change(object.name) { $0.ghosts = removed }
    }
  }

  private func compare(_ device: Device, _ counts: inout [DemoCounts]) async throws {
    for object in device.objects {
      let (compared, differences) = try await step("Compared \(object.name)") {
        let server = try await records(onServer: object, device)
        let local = try await records(inStore: object, device)
        let ids = Set(server.keys).union(local.keys)
        let different = ids.filter { id in
          guard let here = local[id], let there = server[id] else { return true }
          if here[SyncKeys.local]?.bool != false { return true }
          return object.fields.contains { here[$0]?.value != there[$0]?.value }
        }
        return ("\(ids.count) records, \(different.count) differ", (ids.count, different.count))
      }
      counts.change(object.name) {
        $0.compared = compared
        $0.differences = differences
      }
    }
  }

  private func records(
    onServer object: DemoObject, _ device: Device
  ) async throws -> [String: JSONSlice] {
    var request = RestRequest.query(object.query)
    var records: [String: JSONSlice] = [:]
    var trail = PageTrail<String>()
    while true {
      let page = try await device.client.send(request).json()
      for record in page["records"].items { records[record["Id"]?.string ?? ""] = record }
      guard let next = page["nextRecordsUrl"]?.string else { return records }
      try trail.follow(
        next, records: Array(page["records"].items),
        totalSize: page["totalSize"]?.int64.map { Int(clamping: $0) })
      request = .queryMore(nextRecordsURL: next)
    }
  }

  /// All entries of an object's soup, by their ids.
  func records(inStore object: DemoObject, _ device: Device) async throws -> [String: JSONSlice] {
    var records: [String: JSONSlice] = [:]
    let spec = try QuerySpec.buildAllQuerySpec(
      soupName: object.soup, orderPath: "Id", pageSize: 2000)
    var page = 0
    while true {
      let elements = try await device.store.queryEntries(
        using: spec, startingFromPageIndex: page)
      for element in elements { records[element["Id"]?.string ?? ""] = element }
      if elements.count < spec.pageSize { return records }
      page += 1
    }
  }

  private func scan(_ plan: DemoPlan) throws -> [String] {
    let findings = try PlaintextScan(texts: plan.texts).search(folder)
    let result =
      findings.leaks.isEmpty
      ? "none contains any of \(plan.texts.count) texts of the records"
      : "TEXT OF RECORDS in \(findings.leaks.joined(separator: ", "))"
    say("Searched the device's \(findings.files) files (\(findings.bytes) bytes): \(result)")
    return findings.leaks
  }
}

extension [DemoCounts] {
  /// Changes the counts of one object.
  mutating func change(_ object: String, _ body: (inout DemoCounts) -> Void) {
    guard let index = firstIndex(where: { $0.object == object }) else { return }
    body(&self[index])
  }
}

extension JSONSlice? {
  /// The elements of an array that may be missing.
  var items: [JSONSlice] { map { Array($0.elements) } ?? [] }
}
