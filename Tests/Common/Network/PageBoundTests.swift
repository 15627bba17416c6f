import Testing

@testable import SalesforceSDKCommon

/// Do pages without an end end, and do honest ones come through?
@Suite struct PageBoundTests {
  typealias Bound = PageBound<Int>

  /// A server by the number of a page: what it says of the page.
  struct Server: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let count: @Sendable (Int) -> Int?
    let first: @Sendable (Int) -> Int?
    let total: @Sendable (Int) -> Int?
    let fault: Bound.Fault
    let page: Int
  }

  static let hostile = [
    Server(
      testDescription: "empty pages", count: { _ in 0 }, first: { _ in nil }, total: { _ in nil },
      fault: .idle(pages: 1_000), page: 1_000),
    Server(
      testDescription: "the same page", count: { _ in 200 }, first: { _ in 7 }, total: { _ in nil },
      fault: .idle(pages: 1_000), page: 1_001),
    Server(
      testDescription: "the same fifty pages, each time in another order", count: { _ in 200 },
      first: { $0 * 7 % 50 }, total: { _ in nil }, fault: .idle(pages: 1_000), page: 1_050),
    Server(
      testDescription: "more records than the total", count: { _ in 100 }, first: { $0 },
      total: { _ in 100 }, fault: .beyondTotal(100), page: 22),
    Server(
      testDescription: "a total that grows", count: { _ in 100 }, first: { $0 },
      total: { 100 * $0 }, fault: .beyondTotal(100), page: 22),
    Server(
      testDescription: "no total", count: { _ in 100 }, first: { $0 }, total: { _ in nil },
      fault: .tooMany(pages: 1_000_000), page: 1_000_000),
    Server(
      testDescription: "no number of records", count: { _ in nil }, first: { _ in nil },
      total: { _ in nil }, fault: .tooMany(pages: 1_000_000), page: 1_000_000),
  ]

  @Test(arguments: hostile)
  func `a server whose addresses are always new is left in the end`(_ server: Server) {
    var bound = Bound()
    for page in 1...1_000_001 {
      let fault = bound.follow(
        page, count: server.count(page), first: server.first(page), total: server.total(page))
      guard let fault else { continue }
      #expect(fault == server.fault && page == server.page)
      return
    }
    Issue.record("The pages did not end.")
  }

  @Test(arguments: [nil, 4_000_000, 3_700_000])
  func `two thousand pages with records come through`(total: Int?) {
    var bound = Bound()
    #expect(
      !(1...2_000).contains {
        bound.follow($0, count: 2_000, first: $0, total: total) != nil
      })
  }

  @Test func `empty pages between others come through`() {
    var bound = Bound()
    #expect(
      !(1...10_000).contains {
        bound.follow($0, count: $0 % 999 == 0 ? 1 : 0, first: $0, total: nil) != nil
      })
  }

  @Test func `a total may grow where the server counts while it lists`() {
    var bound = Bound(isTotalFixed: false)
    #expect(
      !(1...2_000).contains {
        bound.follow($0, count: 2_000, first: $0, total: $0 * 2_000) != nil
      })
  }
}
