import Synchronization
import Testing

@testable import SalesforceSDKCommon
import TestSupport

/// CA-30: whether there is a way out.
@Suite struct ReachabilityTests {
  private static let header =
    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
  private static let six = """
    00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
    fe800000000000000000000000000001 00000400 00000001 00000000 00000003 eth0
    """
  private static let dead = """
    00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
    00000000000000000000000000000000 ffffffff 00000001 00000000 00200200 lo
    """

  private func route(_ device: String, _ target: String = "00000000", flags: String = "0003")
    -> String
  {
    Self.header + "\(device)\t\(target)\t0102A8C0\t\(flags)\t0\t0\t100\t\(target)\t0\t0\t0\n"
  }

  @Test(.covers("CA-30.1", "HT-88.1"))
  func `a default route is a way out`() {
    #expect(RouteTable.status(four: route("eth0"), six: "") == .viaWiFi)
    #expect(RouteTable.status(four: route("wlan0"), six: "") == .viaWiFi)
    #expect(RouteTable.status(four: route("wwan0"), six: "") == .viaCellular)
    #expect(RouteTable.status(four: Self.header, six: Self.six) == .viaWiFi)
    // Only a neighbour, a route that is down, an entry that leads nowhere.
    #expect(RouteTable.status(four: route("eth0", "0000A8C0"), six: "") == .notReachable)
    #expect(RouteTable.status(four: route("eth0", flags: "0002"), six: "") == .notReachable)
    #expect(RouteTable.status(four: Self.header, six: Self.dead) == .notReachable)
    #expect(RouteTable.status(four: "", six: "") == .notReachable)
    #expect(NetworkStatus.unknown.isReachable && !NetworkStatus.notReachable.isReachable)
  }

  @Test(.covers("CA-30.1"))
  func `the status comes at once, and then each time that it changes`() async {
    let answers = Mutex<[NetworkStatus]>([.viaWiFi, .viaWiFi, .notReachable, .viaWiFi])
    let reachability = Reachability(clock: YieldingClock()) {
      answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
    var last: NetworkStatus?
    var told = 0
    for await status in reachability.statuses() {
      #expect(status != last)
      last = status
      told += 1
      // A slow reader may miss one in the middle, never the newest.
      if status == .viaWiFi, answers.withLock({ $0.count == 1 }) { break }
    }
    #expect(last == .viaWiFi && told >= 1)
  }
}

/// A clock on which every wait lets others run, and is over.
private struct YieldingClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }
  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    await Task.yield()
    try Task.checkCancellation()
  }
}
