import TestSupport
import Testing

@testable import SalesforceMockOrg
@testable import MockOrgTests

@Suite struct SOQLFuzzTests {
  private static let seeds = [
    "SELECT Id, Owner.Name, (SELECT Id FROM Contacts WHERE Name = 'x' LIMIT 2) FROM Account a "
      + "WHERE (a.Name LIKE 'a\\_%' OR NOT Industry IN ('Media', null)) AND CreatedDate > "
      + "2024-02-10T10:00:00.000+01:00 ORDER BY Name DESC NULLS LAST, Id LIMIT 10 OFFSET 5",
    "SELECT Industry, COUNT(Id) n, MAX(AnnualRevenue) FROM Account WHERE Tags__c INCLUDES ('a;b') "
      + "GROUP BY Industry HAVING COUNT(Id) > 1 AND MAX(AnnualRevenue) != 1.5e3 ORDER BY COUNT(Id)",
    "SELECT FIELDS(STANDARD) FROM Contact WHERE AccountId NOT IN (SELECT Id FROM Account WHERE "
      + "Founded__c = LAST_N_MONTHS:3 AND Active__c = true) AND Birthdate <= 2024-02-29 ALL ROWS",
    "SELECT TYPEOF Owner WHEN User THEN Name, Title WHEN Group THEN Id ELSE Name END, FORMAT(Score__c) s "
      + "FROM Contact WHERE Account.Name > 'a' ORDER BY Account.Industry NULLS LAST FOR VIEW, REFERENCE",
    "SELECT Industry, toLabel(Industry), GROUPING(Industry) g, FORMAT(MAX(AnnualRevenue)) FROM Account "
      + "WHERE AnnualRevenue < USD-5.5 GROUP BY CUBE(Industry, Name) HAVING GROUPING(Name) = 1 OR "
      + "COUNT(Id) >= 2 ORDER BY GROUPING(Industry) DESC, Name",
    "SELECT Id, DISTANCE(Place__c, GEOLOCATION(10, -20.5), 'mi') d FROM Account USING SCOPE mine WHERE "
      + "DISTANCE(Place__c, GEOLOCATION(1,2), 'km') < 20 AND toLabel(Industry) LIKE 'M%' ORDER BY "
      + "DISTANCE(Place__c, GEOLOCATION(1,2), 'km') UPDATE TRACKING",
    "SELECT COUNT() FROM Account WHERE CALENDAR_YEAR(CreatedDate) = 2024 AND Opens__c < 08:30:00Z",
  ]

  /// Whatever the text, the response is an error with a code, or a statement that SQLite runs.
  @Test(arguments: 0..<8) func `mutated queries never crash and never fail in SQLite`(
    round: Int
  ) throws {
    let seed = Effort.seed(0x50F1) &+ UInt64(round)
    var random = SeededGenerator(seed: seed)
    let org = try SOQLTestOrg()
    var accepted = 0
    for turn in 0..<Effort.times(600) {
      let query = Self.mutation(using: &random)
      do {
        let compiled = try org.compile(query)
        _ = try org.rows(of: compiled)
        accepted += 1
      } catch let error as ServerError {
        #expect(error.status == 400 && !error.code.isEmpty && !error.message.isEmpty)
      } catch {
        Issue.record("seed \(seed), turn \(turn): \(error)\n\(query)")
      }
    }
    #expect(accepted > 0, "seed \(seed)")
  }

  private static func mutation(using random: inout SeededGenerator) -> String {
    var characters = Array((seeds.randomElement(using: &random) ?? "").unicodeScalars)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let from = Int.random(in: 0..<characters.count, using: &random)
      let to = min(from + Int.random(in: 0...12, using: &random), characters.count)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: characters.removeSubrange(from..<to)
      case 1: characters.insert(contentsOf: characters[from..<to], at: from)
      case 2:
        let words = [
          "'", "(", ")", "\\", "\\u12", "NOT ", " AND ", " OR ", "é", "\0", "\n", ":", "null", "-",
          "99999999999999999999", "2024-02-29", "TODAY", ",", ".", "SELECT ", " FROM ", "😀", "\"",
        ]
        characters.insert(
          contentsOf: (words.randomElement(using: &random) ?? "").unicodeScalars, at: from)
      case 3: characters[from] = Unicode.Scalar(UInt8.random(in: 0...127, using: &random))
      case 4:
        let other = Array((seeds.randomElement(using: &random) ?? "").unicodeScalars)
        let start = Int.random(in: 0..<other.count, using: &random)
        characters.insert(contentsOf: other[start..<min(start + 20, other.count)], at: from)
      default: characters.removeSubrange(from...)
      }
      if characters.isEmpty { characters = ["S"] }
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: characters)
    return String(text)
  }
}
