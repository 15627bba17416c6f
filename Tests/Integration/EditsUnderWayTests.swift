import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import Testing
import TestSupport

/// What becomes of an edit that is made while a sync is under way? It stays, stays dirty, and is uploaded
/// with the next run.
///
///     sync                        app
///     reads the record
///     sends its request
///                                 edits the record
///     hears the response, applies it
@Suite struct EditsUnderWayTests {
  /// Lets the app act between the server's response and the moment when the sync gets it.
  private final class Interruption: Sendable {
    private let action = Mutex<(@Sendable (RestRequest) async throws -> Void)?>(nil)

    /// Runs `body` once, at the first request whose path holds `path`.
    func once(
      at path: String, _ body: @escaping @Sendable () async throws -> Void
    ) {
      action.withLock {
        $0 = { request in
          guard request.path.contains(path) else { return }
          self.action.withLock { $0 = nil }
          try await body()
        }
      }
    }

    /// Whether the app has acted.
    var isDone: Bool { action.withLock { $0 == nil } }

    func sender(_ client: RestClient) -> any SyncRequestSender { Sender(client, self) }

    func answered(_ request: RestRequest) async throws {
      try await action.withLock { $0 }?(request)
    }
  }

  private struct Sender: SyncRequestSender {
    let client: RestClient
    let interruption: Interruption

    init(_ client: RestClient, _ interruption: Interruption) {
      self.client = client
      self.interruption = interruption
    }

    func response(to request: RestRequest) async throws -> RestResponse {
      let response = try await client.response(to: request)
      try await interruption.answered(request)
      return response
    }
  }

  private func withDevice(
    _ body: (FieldDevice, Interruption) async throws -> Void
  ) async throws {
    let interruption = Interruption()
    try await FieldDevice.with(wrap: { interruption.sender($0) }) { device in
      try await body(device, interruption)
      #expect(interruption.isDone)
    }
  }

  /// The next run sends what is left, and both sides agree.
  private func expectConvergence(_ device: FieldDevice, _ names: [String]) async throws {
    _ = try await device.syncUp().finished()
    device.later()
    _ = try await device.syncDown().finished()
    #expect(try await device.serverNames() == names)
    #expect(try await device.differences().isEmpty)
  }

  @Test(.covers("MS-70"))
  func `an update edited again while it is uploaded stays dirty`() async throws {
    try await withDevice { device, interruption in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      try await device.edit(id, ["Name": "first edit"])
      interruption.once(at: "composite/sobjects") {
        try await device.edit(id, ["Name": "second edit"])
      }
      _ = try await device.syncUp().finished()
      #expect(try await device.serverNames() == ["first edit"])
      #expect(try await device.dirtyRows().map { $0["Name"] } == ["second edit"])
      try await expectConvergence(device, ["second edit"])
    }
  }

  @Test(.covers("MS-70"))
  func `a create edited while it is uploaded takes its id and stays dirty`() async throws {
    try await withDevice { device, interruption in
      let local = try await device.create(["Name": "first"])
      interruption.once(at: "composite/sobjects") {
        try await device.edit(local, ["Name": "second"])
      }
      _ = try await device.syncUp().finished()
      let dirty = try await device.dirtyRows()
      #expect(dirty.map { $0["Name"] } == ["second"])
      #expect(dirty.first?["Id"]?.string?.hasPrefix("001") == true)
      #expect(dirty.first?[SyncKeys.locallyCreated] == false)
      try await expectConvergence(device, ["second"])
    }
  }

  @Test(.covers("MS-70"))
  func `a create deleted while it is uploaded is deleted on the server next`()
    async throws
  {
    try await withDevice { device, interruption in
      let local = try await device.create(["Name": "unwanted"])
      interruption.once(at: "composite/sobjects") { try await device.delete(local) }
      _ = try await device.syncUp().finished()
      #expect(try await device.serverNames() == ["unwanted"])
      try await expectConvergence(device, [])
      #expect(try await device.rows().isEmpty)
    }
  }

  @Test(.covers("MS-70"))
  func `an update deleted while it is uploaded is deleted on the server next`()
    async throws
  {
    try await withDevice { device, interruption in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      try await device.edit(id, ["Name": "edited"])
      interruption.once(at: "composite/sobjects") { try await device.delete(id) }
      _ = try await device.syncUp().finished()
      #expect(try await device.dirtyRows().count == 1)
      try await expectConvergence(device, [])
    }
  }

  @Test func `a record made while others are uploaded waits for the next run`() async throws {
    try await withDevice { device, interruption in
      try await device.create(["Name": "a"])
      interruption.once(at: "composite/sobjects") { try await device.create(["Name": "b"]) }
      _ = try await device.syncUp().finished()
      #expect(try await device.dirtyRows().map { $0["Name"] } == ["b"])
      try await expectConvergence(device, ["a", "b"])
    }
  }

  @Test(.covers("MS-78"), arguments: [SyncMergeMode.overwrite, .leaveIfChanged])
  func `an edit made while a sync down waits for its page stays dirty`(
    mode: SyncMergeMode
  ) async throws {
    try await withDevice { device, interruption in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown(mode).finished()
      device.later()
      try await device.org.update("Account", id: id, ["Phone": "1"])
      interruption.once(at: "query") { try await device.edit(id, ["Name": "edited"]) }
      _ = try await device.syncDown().finished()
      #expect(try await device.dirtyRows().map { $0["Name"] } == ["edited"])
      device.later()
      try await expectConvergence(device, ["edited"])
    }
  }

  @Test(.covers("MS-78"))
  func `a sync down that overwrites replaces only what was edited before it began`()
    async throws
  {
    try await withDevice { device, interruption in
      let before = try await device.org.create("Account", ["Name": "a"])
      let during = try await device.org.create("Account", ["Name": "b"])
      _ = try await device.syncDown(.overwrite).finished()
      try await device.edit(before, ["Name": "edited before"])
      try await device.edit(during, ["Name": "edited before"])
      device.later()
      for id in [before, during] {
        try await device.org.update("Account", id: id, ["Phone": "1"])
      }
      interruption.once(at: "query") { try await device.edit(during, ["Name": "edited during"]) }
      _ = try await device.syncDown().finished()
      #expect(try await device.row(before)?["Name"] == "a")
      #expect(try await device.dirtyRows().map { $0["Name"] } == ["edited during"])
      device.later()
      try await expectConvergence(device, ["a", "edited during"])
    }
  }

  @Test(.covers("MS-92"))
  func `a record edited while ghosts are searched is no ghost`() async throws {
    try await withDevice { device, interruption in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      try await device.org.delete("Account", id: id)
      interruption.once(at: "query") { try await device.edit(id, ["Name": "edited"]) }
      #expect(try await device.manager.cleanResyncGhosts(forName: FieldDevice.downName) == 0)
      #expect(try await device.dirtyRows().map { $0["Name"] } == ["edited"])
      // Sent again, it is created again.
      let up = try await device.syncUp(.overwrite).finished()
      #expect(try await device.manager.outcomeCounts(forId: up.id).succeeded == 1)
      #expect(try await device.serverNames() == ["edited"])
    }
  }
}
