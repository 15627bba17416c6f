import SalesforceSDKCommon
import Testing
import TestSupport

@testable import MobileSync

/// Are ids cut into ranges that cover all of them, whatever they look like?
@Suite struct IdScaleTests {
  @Test func `ids of the platform are cut by their fifteen characters`() throws {
    let (low, high) = ("001Ff0000000001", "001Ff00000000zz")
    let (lowest, highest) = (
      try #require(SalesforceId(low)).text, try #require(SalesforceId(high)).text
    )
    let cuts = IdScale.boundaries(from: lowest, to: highest, count: 4)
    #expect(cuts.count == 3 && cuts.allSatisfy { $0.count == 15 })
    #expect(cuts == cuts.sorted() && lowest < cuts[0] && cuts[2] < highest)
    // A fourth of 62 * 62.
    #expect(cuts[1] == "001Ff00000000V0")
  }

  @Test(arguments: [
    ("", ""), ("001", "001"), ("001", "0012"), ("a-b", "a-c"), ("002", "001"), ("é", "ü"),
    ("001000000000001AAA", "001000000000001AAA"),
  ])
  func `ids that cannot be divided are not`(lowest: String, highest: String) {
    #expect(IdScale.boundaries(from: lowest, to: highest, count: 4) == [])
  }

  @Test func `cuts ascend strictly for any ids and numbers`() {
    var random = SeededGenerator(seed: Effort.seed(3))
    let letters = Array("09AZaz5Mm")
    for _ in 0..<Effort.times(2_000) {
      let length = Int.random(in: 1...20, using: &random)
      func id() -> String {
        String((0..<length).map { _ in letters.randomElement(using: &random) ?? "0" })
      }
      let (lowest, highest) = (id(), id())
      let count = Int.random(in: -1...100, using: &random)
      let cuts = IdScale.boundaries(from: lowest, to: highest, count: count)
      #expect(cuts.count < max(count, 1))
      #expect(zip([lowest] + cuts, cuts).allSatisfy { $0 < $1 }, "\(lowest) \(highest) \(cuts)")
      #expect(cuts.last.map { $0 <= highest } ?? true, "\(lowest) \(highest) \(cuts)")
    }
  }

  @Test func `a page whose ids do not ascend does not move the watermark of its range`() throws {
    var partitions = try #require(
      SyncPartitions(
        SyncIdBounds(count: 20, lowest: "a00", highest: "a99", newestChange: 7), count: 2))
    partitions.save(["a01", "a03"], ofRange: 0, isLast: false)
    partitions.save(["a06", "a05"], ofRange: 0, isLast: false)
    partitions.save(["a02"], ofRange: 0, isLast: false)
    #expect(partitions.ranges[0].savedUntil == "a03" && partitions.saved == 5)
    #expect(!partitions.isDone)
  }

  @Test func `the stored form of ranges reads back, and a damaged one as none`() throws {
    let bounds = SyncIdBounds(
      count: Int.max, lowest: "001000000000000AAA", highest: "001zzzzzzzzzzzzAAA",
      newestChange: 7)
    var partitions = try #require(SyncPartitions(bounds, count: 4))
    partitions.save(["001000000000001AAA"], ofRange: 0, isLast: false)
    let isCut = partitions.cut(0, rest: Int.max, pageSize: 1, count: 1_000_000)
    #expect(isCut)
    let json = try JSONSlice(parsing: Array(JSONValue.object(partitions.json).text.utf8))
    #expect(SyncPartitions(json: json) == partitions)
    for text in ["5", "{}", #"{"watermark":1,"total":2,"highest":"x","ranges":[]}"#] {
      #expect(SyncPartitions(json: try JSONSlice(parsing: Array(text.utf8))) == nil)
    }
  }
}
