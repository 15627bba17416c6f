import TestSupport
import Testing

@testable import SalesforceMockOrg
@testable import MockOrgTests

/// Random objects, records and queries, evaluated by the engine and by ``PlainEvaluator``.
///
/// `FIELDFORCE_EFFORT` raises the number of queries, `FIELDFORCE_SEED` changes them.
@Suite struct SOQLDifferentialTests {
  private static let orgCount = 10
  private static let queriesPerOrg = Effort.times(60)

  @Test(arguments: 0..<orgCount)
  func `the engine returns what an evaluation over plain arrays returns`(round: Int) throws {
    let seed = Effort.seed(0xD1FF) &+ UInt64(round)
    var orgs = OrgGenerator(seed: seed)
    let org = orgs.org()
    let engine = try EngineUnderTest(org)
    let evaluator = PlainEvaluator(org: org)
    var queries = QueryGenerator(seed: seed, org)
    var found = 0
    for turn in 0..<Self.queriesPerOrg {
      let query = queries.query()
      let place = "seed \(seed), turn \(turn), zone \(org.zone): \(query.soql)"
      do {
        var actual = try engine.answer(query.soql)
        if query.isGrouped { actual = actual.folded }
        let expected = evaluator.answer(query)
        #expect(actual == expected, "\(place)")
        guard case .array(let rows) = expected else { continue }
        found += rows.count
        if !query.isGrouped, query.order.isEmpty {
          #expect(try engine.count(query.soql(selecting: "COUNT()")) == rows.count, "\(place)")
        }
      } catch {
        Issue.record("\(place): \(error)")
      }
    }
    // Most queries have to find something, or the agreement means little.
    #expect(found > Self.queriesPerOrg * 3, "seed \(seed)")
  }
}
