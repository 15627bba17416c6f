import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

@testable import MobileSync

/// Does a secret that the server repeats stay out of what a sync stores?
@Suite struct RepeatedSecretTests {
  private static let secret = "00DStored!AQ_outcome.3Kp7"
  private static let fault =
    #"[{"errorCode":"X","statusCode":"X","message":"Session \#(secret)","fields":[]}]"#

  @Test func `a secret in the refusal of a record is in no outcome and no entry`() async throws {
    SecretsInUse.note(Self.secret)
    let device = try await Device.open(InMemoryOrg())
    try await device.create([["Name": "a"]])
    device.org.intervene { _, request in
      request.line.hasPrefix("GET")
        ? .none
        : .response(status: 200, body: #"[{"success":false,"errors":\#(Self.fault)}]"#)
    }
    let run = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    _ = try await run.finished()
    let outcomes = try await device.manager.outcomes(forId: run.state.id)
    #expect(outcomes.map(\.kind) == [.rejected])
    #expect(outcomes.first?.error?.text.contains("[redacted]") == true)
    let stored = try await device.store.query("SELECT {syncs_outcomes:_soup} FROM {syncs_outcomes}")
    let rows = try await device.dirtyRows()
    #expect(rows.first?[SyncKeys.lastError]?.string?.contains("[redacted]") == true)
    #expect(!"\(outcomes) \(stored) \(rows)".contains(Self.secret))
  }

  @Test func `a secret in the error that ends a run is not in the state of the sync`() async throws
  {
    SecretsInUse.note(Self.secret)
    let device = try await Device.open(InMemoryOrg())
    device.org.intervene { _, _ in .response(status: 500, body: Self.fault) }
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try #require(await run.lastState())
    #expect(state.status == .failed && state.error.contains("[redacted]"))
    #expect(!state.error.contains(Self.secret))
    let stored = try await device.manager.syncStatus(forId: run.state.id)
    #expect(stored?.error == state.error)
  }
}
