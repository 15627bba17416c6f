import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import Foundation
import HTTPTypes
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import Testing
import TestSupport
@testable import MobileSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Is a create sent twice if the server completes the first only after the next run has searched for it?
@Suite struct LateCreateTests {
  static let targets: [any SyncUpTarget] = [
    CollectionSyncUpTarget(), BatchSyncUpTarget(), BasicSyncUpTarget(),
  ]

  /// A device with one new record, and an org that gets the create and works on it when the test says so.
  private struct Story {
    let org = InMemoryOrg()
    let device: Device
    /// The requests that the server has received and not completed.
    private let underWay = SharedList<RestRequest>()

    init(_ target: any SyncUpTarget = CollectionSyncUpTarget()) async throws {
      org.setClock(SalesforceDateNow.milliseconds)
      device = try await Device.open(org)
      _ = try await device.manager.createSyncUp(
        targetJSON: target.json,
        options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Ext__c"]),
        soupName: Device.soup, syncName: "up")
      try await device.create([["Id": "local_1", "Name": "a", "Ext__c": "x"]])
    }

    /// Runs the sync; an error ends it.
    func run() async { _ = try? await device.manager.reSync(named: "up").finished() }

    /// Sends the create, and loses the connection while the server works on it.
    func breakConnection() async {
      let underWay = underWay
      org.intervene { _, request in
        guard request.line.hasPrefix("POST") else { return .none }
        underWay.append(Self.copy(of: request))
        return .unreachable
      }
      await run()
      org.intervene(nil)
    }

    /// Sends the create, and ends the process while the server works on it.
    func kill() async throws {
      let underWay = underWay
      let sent = Latch()
      org.intervene { _, request in
        guard request.line.hasPrefix("POST") else { return .none }
        underWay.append(Self.copy(of: request))
        sent.open()
        await awaitCancellation()
        return .unreachable
      }
      let run = try await device.manager.reSync(named: "up")
      await sent.pass()
      try await device.restartProcess()
      _ = try? await run.finished()
      org.intervene(nil)
    }

    /// Lets the server complete its work before it responds to a later request.
    func completeLate(beforeRequest number: Int) {
      let first = org.requests.count
      org.intervene { count, _ in
        if count == first + number { await complete() }
        return .none
      }
    }

    /// Lets the server complete its work.
    func complete() async {
      for request in underWay.removeAll() { _ = try? await org.response(to: request) }
    }

    private static func copy(of request: InMemoryOrg.Request) -> RestRequest {
      RestRequest(
        method: .post, path: String(request.line.dropFirst("POST ".count)),
        body: Array(request.body.utf8))
    }

    var posts: Int { org.lines.count { $0.hasPrefix("POST") } }

    func expectOneRecord() async throws {
      let there = org.records("Account").compactMap { $0["Id"]?.string }
      #expect(there.count == 1)
      #expect(try await device.rows().compactMap { $0["Id"]?.string } == there)
      #expect(try await device.dirtyRows().isEmpty)
      #expect(try await device.store.conflicts().isEmpty)
    }
  }

  @Test(.covers("MS-195"), arguments: targets.indices)
  func `a create that the server completes during the next run is found`(target: Int) async throws {
    for isKilled in [false, true] {
      let story = try await Story(Self.targets[target])
      if isKilled { try await story.kill() } else { await story.breakConnection() }
      story.completeLate(beforeRequest: 4)
      await story.run()
      try await story.expectOneRecord()
    }
  }

  @Test(.covers("MS-195"), arguments: targets.indices)
  func `a create of a process that ended is held while the server may complete it`(
    target: Int
  ) async throws {
    let story = try await Story(Self.targets[target])
    try await story.kill()
    await story.run()
    #expect(story.posts == 1 && story.org.records("Account").isEmpty)
    let conflict = try #require(try await story.device.store.conflicts().first)
    #expect(conflict.kind == .inDoubt && conflict.candidates.isEmpty)
    let until = try #require(conflict.heldUntil)
    #expect(until > story.org.now && until <= story.org.now + 62_000)
    let id = try #require(try await story.device.manager.syncStatus(forName: "up")?.id)
    let outcome = try #require(try await story.device.manager.outcomes(forId: id).first)
    #expect(outcome.kind == .conflict && outcome.error?["statusCode"] == "IN_DOUBT")
    #expect(try await story.device.manager.outcomeCounts(forId: id).skipped == 1)
    await story.complete()
    await story.run()
    try await story.expectOneRecord()
  }

  @Test(.covers("MS-195"))
  func `a create that never arrived is sent after some runs without a decision`() async throws {
    let story = try await Story()
    let start = story.org.now
    try await story.kill()
    var runs = 0
    while story.posts == 1, runs < 10 {
      await story.run()
      runs += 1
    }
    #expect((4...8).contains(runs))
    #expect(story.org.now - start >= 60_000)
    try await story.expectOneRecord()
  }

  @Test(.covers("MS-195"))
  func `a create whose connection broke is sent again in the next run, after some seconds`()
    async throws
  {
    let story = try await Story()
    await story.breakConnection()
    let start = story.org.now
    await story.run()
    #expect((5_000...8_000).contains(story.org.now - start))
    try await story.expectOneRecord()
    #expect(story.posts == 2)
  }

  @Test(.covers("MS-195"))
  func `a clock that was set back does not prolong the time`() async throws {
    let story = try await Story()
    try await story.kill()
    story.org.setClock(story.org.now - 86_400_000)
    for _ in 0..<8 { await story.run() }
    try await story.expectOneRecord()
  }

  @Test(.covers("MS-195"))
  func `a decision to create it does not wait`() async throws {
    let story = try await Story()
    try await story.kill()
    await story.run()
    let conflict = try #require(try await story.device.store.conflicts().first)
    try await story.device.store.resolve(conflict, .create)
    let start = story.org.now
    await story.run()
    #expect(story.org.now - start <= 2_000)
    try await story.expectOneRecord()
  }

  @Test(.covers("MS-195", "MS-210"))
  func `an upsert by external id does not wait`() async throws {
    let story = try await Story(
      CollectionSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c")))
    story.org.intervene { _, request in request.line.hasPrefix("PATCH") ? .unreachable : .none }
    await story.run()
    story.org.intervene(nil)
    let start = story.org.now
    await story.run()
    #expect(story.org.now - start <= 2_000)
    try await story.expectOneRecord()
  }

  @Test(.covers("MS-195"), arguments: [500, 503])
  func `a create to which the server responded is sent again at once`(status: Int) async throws {
    let story = try await Story()
    story.org.intervene { _, request in
      request.line.hasPrefix("POST") ? .response(status: status, body: "[]") : .none
    }
    await story.run()
    story.org.intervene(nil)
    let start = story.org.now
    await story.run()
    #expect(story.org.now - start <= 2_000)
    try await story.expectOneRecord()
  }

  @Test(.covers("MS-195"))
  func `a stop ends the wait`() async throws {
    let story = try await Story()
    try await story.kill()
    let manager = story.device.manager
    story.org.intervene { _, request in
      if request.line.hasPrefix("GET /{v}/query") { Task { await manager.stop() } }
      return .none
    }
    #expect(
      await syncErrorCode { _ = try await manager.reSync(named: "up").finished() } == .stopped)
    #expect(story.posts == 1)
  }

  @Test(.covers("MS-195"))
  func `the server may be at work for a time that depends on how the request ended`() {
    func lateness(_ error: any Error, after time: Duration = .zero) -> Duration {
      RequestEnd(error, after: time).lateness(atMost: .seconds(60))
    }
    func server(_ status: Int) -> SyncError { SyncError(.server, "", status: status) }
    for status in [400, 409, 500, 503] { #expect(lateness(server(status)) == .zero) }
    for status in [408, 425, 499, 502, 504] { #expect(lateness(server(status)) == .seconds(60)) }
    #expect(lateness(CancellationError()) == .seconds(60))
    #expect(lateness(TransportError(.timedOut, "")) == .seconds(60))
    for code in [TransportError.Code.truncated, .tooLarge, .malformed, .insecureURL] {
      #expect(lateness(TransportError(code, "")) == .zero)
    }
    let broken = TransportError(.unreachable, "", cause: URLError(.networkConnectionLost))
    #expect(lateness(broken) == .seconds(5))
    #expect(lateness(broken, after: .seconds(3)) == .seconds(5))
    #expect(lateness(broken, after: .seconds(6)) == .seconds(17))
    #expect(lateness(broken, after: .seconds(30)) == .seconds(60))
    #expect(
      lateness(SyncError(.transport, "", cause: broken), after: .seconds(4)) == .seconds(9))
    // The server may have a bulk job whose state is unknown.
    #expect(lateness(SyncError(.transport, "", cause: server(404))) == .seconds(60))
  }

  @Test(.covers("MS-195"))
  func `a request that the server did not work on leaves nothing to search for`() {
    func end(_ status: Int, _ body: String) -> RequestEnd {
      RequestEnd(SyncError(.server, "", status: status, body: body), after: .zero)
    }
    let errors = #"[{"errorCode":"SERVER_UNAVAILABLE","message":"Server unavailable"}]"#
    #expect(end(503, errors) == .notProcessed)
    for body in ["", "[]", "{}", "<html></html>", #"{"errorCode":"SERVER_UNAVAILABLE"}"#] {
      #expect(end(503, body) == .over, "\(body)")
      #expect(end(429, body) == .notProcessed, "\(body)")
    }
    for status in [400, 401, 409, 500] { #expect(end(status, errors) == .over) }
    for code in [URLError.Code.cannotConnectToHost, .cannotFindHost, .notConnectedToInternet] {
      let error = TransportError(.unreachable, "", cause: URLError(code))
      #expect(RequestEnd(error, after: .zero) == .notProcessed)
      #expect(RequestEnd(error, after: .zero).lateness(atMost: .seconds(60)) == .zero)
    }
  }
}

/// A list that several tasks share.
private final class SharedList<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  func append(_ element: Element) { elements.withLock { $0.append(element) } }

  func removeAll() -> [Element] {
    elements.withLock { elements in
      defer { elements = [] }
      return elements
    }
  }
}
