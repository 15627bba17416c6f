import Testing

@testable import MobileSync
import TestSupport

@Suite struct SyncDownMachineTests {
  private func progress(total: Int?, pages: [Int]) -> [Int] {
    var machine = SyncDownMachine(maxTimeStamp: -1, isSorted: true)
    _ = machine.begin(total: total, isLast: pages.count == 1)
    return pages.compactMap { machine.page(count: $0, latest: 1).progress }
  }

  @Test func `the watermark goes no further than what is complete, nor below the start`() {
    var machine = SyncDownMachine(maxTimeStamp: 5, isSorted: true)
    _ = machine.begin(total: 3, isLast: false)
    let pages: [(Int64, Int64?)] = [(4, nil), (9, 7), (20, 8)]
    let stored = pages.map {
      machine.page(count: 1, latest: $0.0, completeUntil: $0.1).maxTimeStamp
    }
    #expect(stored == [5, 7, 7])
    machine.end(latestOfChildren: 30)
    #expect(machine.maxTimeStamp == 7)
  }

  @Test(.covers("MS-46"))
  func `pages report the floor of their share while something is missing`() {
    #expect(progress(total: 10, pages: [10]) == [])
    #expect(progress(total: 30, pages: [10, 10, 10]) == [33, 66])
    #expect(progress(total: 6, pages: [1, 1, 1, 1, 1, 1]) == [16, 33, 50, 66, 83])
    #expect(progress(total: 1_000_000, pages: [999_999, 1]) == [99])
  }

  @Test(.covers("MS-52"))
  func `an unknown total keeps the progress at 0 and a wrong one stays below 100`() {
    #expect(progress(total: nil, pages: [5, 5]) == [])
    #expect(progress(total: 4, pages: [2, 2, 2]) == [50])
  }

  @Test(.covers("MS-45"))
  func `with no records and no further page there is no second update`() {
    func isReported(_ total: Int?, isLast: Bool) -> Bool {
      var machine = SyncDownMachine(maxTimeStamp: -1, isSorted: true)
      return machine.begin(total: total, isLast: isLast)
    }
    #expect(!isReported(0, isLast: true))
    #expect(isReported(0, isLast: false))
    #expect(isReported(nil, isLast: true))
  }

  @Test(.covers("BX-67", "MS-83"))
  func `a sorted target stores the watermark with every page, another at the end`() {
    var sorted = SyncDownMachine(maxTimeStamp: 5, isSorted: true)
    _ = sorted.begin(total: 3, isLast: false)
    let stored = sorted.page(count: 1, latest: 7).maxTimeStamp
    #expect(stored == 7)
    var unsorted = SyncDownMachine(maxTimeStamp: 5, isSorted: false)
    _ = unsorted.begin(total: 3, isLast: false)
    let kept = unsorted.page(count: 1, latest: 7).maxTimeStamp
    #expect(kept == nil)
    #expect(unsorted.maxTimeStamp == 7)
  }

  @Test(.covers("MS-81"))
  func `a run never lowers the watermark`() {
    var machine = SyncDownMachine(maxTimeStamp: 50, isSorted: true)
    _ = machine.begin(total: 3, isLast: false)
    let stored = [7, -1].map { machine.page(count: 1, latest: $0).maxTimeStamp }
    #expect(stored == [50, 50])
  }

  /// All ways to cut up to eight records into pages, with totals that are right, too small and too large.
  @Test(.covers("MS-48"))
  func `progress never falls and is below 100`() {
    func cuts(_ count: Int) -> [[Int]] {
      if count == 0 { return [[]] }
      return (1...count).flatMap { first in cuts(count - first).map { [first] + $0 } }
    }
    for count in 1...8 {
      for pages in cuts(count) {
        for total in [count - 1, count, count + 3] {
          let reported = progress(total: total, pages: pages)
          #expect(reported == reported.sorted())
          #expect(reported.allSatisfy { (0..<100).contains($0) })
        }
      }
    }
  }
}
