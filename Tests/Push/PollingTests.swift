import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforcePush

/// When is the next request, and what counts as news?
@Suite struct PollingTests {
  @Test(.covers("HT-72.1"))
  func `the pause doubles without news up to its bound, and varies by a fifth`() {
    func seconds(_ pause: Duration) -> Double {
      Double(pause.components.seconds) + Double(pause.components.attoseconds) / 1e18
    }
    var schedule = PollSchedule(shortest: .seconds(60), longest: .seconds(900))
    for expected in [60.0, 120, 240, 480, 900, 900] {
      #expect(abs(seconds(schedule.next(hasNews: false, chance: 0.5)) - expected) < 0.001)
    }
    for (chance, expected) in [(0.5, 60.0), (0, 48), (1, 72), (-1, 48), (7, 72)] {
      #expect(abs(seconds(schedule.next(hasNews: true, chance: chance)) - expected) < 0.001)
    }
    var odd = PollSchedule(shortest: .seconds(100), longest: .seconds(10))
    for _ in 0..<2 { #expect(abs(seconds(odd.next(hasNews: false, chance: 0.5)) - 100) < 0.001) }
  }

  private func notification(_ id: String, _ second: Int, seen: Bool = false) throws -> JSONSlice {
    let date = SalesforceDate(milliseconds: 1_800_000_000_000 + Int64(second) * 1_000).text
    return try JSONSlice(
      parsing: #"{"id":"\#(id)","mostRecentActivityDate":"\#(date)","seen":\#(seen)}"#)
  }

  private func ids(_ objects: [JSONObject]) -> [String] { objects.compactMap { $0["id"]?.string } }

  @Test(.covers("HT-72.1"))
  func `a notification counts once, also of the same second or a little late`() throws {
    var inbox = NotificationInbox(since: nil)
    #expect(
      try ids(
        inbox.take([
          notification("b", 100), notification("old", 0, seen: true), notification("a", 50),
        ])) == ["a", "b"])
    #expect(try ids(inbox.take([notification("c", 100), notification("b", 100)])) == ["c"])
    #expect(
      try ids(inbox.take([notification("late", 70), notification("old", 60, seen: true)])) == [
        "old", "late",
      ])
    #expect(try ids(inbox.take([notification("late", 70), notification("ancient", 10)])) == [])
    #expect(try ids(inbox.take([notification("b", 130)])) == ["b"])
    #expect(
      try ids(
        inbox.take([
          JSONSlice(parsing: "{}"), JSONSlice(parsing: #"{"id":"x","lastModified":"soon"}"#),
        ])) == [])
    var since = NotificationInbox(since: SalesforceDate(milliseconds: 1_800_000_000_000))
    #expect(
      try ids(since.take([notification("a", 0, seen: true), notification("b", -1)])) == ["a"])
  }
}
