import Testing

@testable import SalesforceSDKCommon

/// Is a series that goes in a circle noticed, and no other?
@Suite struct CircleDetectorTests {
  @Test(arguments: 0...9, 1...9)
  func `a circle is noticed, wherever it begins and however long it is`(lead: Int, length: Int) {
    var detector = CircleDetector<Int>()
    var number = 0
    while !detector.returns(to: number < lead ? number : lead + (number - lead) % length) {
      number += 1
      if number > 4 * (lead + length) { break }
    }
    #expect(number >= lead + length)
    #expect(number <= 4 * (lead + length))
  }

  @Test func `a series without repetition goes on`() {
    var detector = CircleDetector<Int>()
    #expect(!(0..<10_000).contains { detector.returns(to: $0) })
  }
}
