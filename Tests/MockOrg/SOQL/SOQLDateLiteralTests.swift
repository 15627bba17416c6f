import Foundation
import Testing

@testable import SalesforceMockOrg

@Suite struct SOQLDateLiteralTests {
  private func day(_ text: String) throws -> SOQLDate {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    return try #require(SOQLDate(year: parts[0], month: parts[1], day: parts[2]))
  }

  private func range(_ literal: String, today: String) throws -> String {
    let parts = literal.split(separator: ":")
    let known = try #require(SOQLDateLiteral.named(String(parts[0])))
    #expect(known.takesNumber == (parts.count == 2))
    let range = known.make(parts.count == 2 ? Int(parts[1]) ?? 0 : 0).range(today: try day(today))
    return range.lowerBound.text + " " + range.upperBound.text
  }

  /// Saturday 2024-02-10: the first day of the range and the first day after it.
  @Test(arguments: [
    ("YESTERDAY", "2024-02-09 2024-02-10"), ("TODAY", "2024-02-10 2024-02-11"),
    ("TOMORROW", "2024-02-11 2024-02-12"),
    ("LAST_WEEK", "2024-01-28 2024-02-04"), ("THIS_WEEK", "2024-02-04 2024-02-11"),
    ("NEXT_WEEK", "2024-02-11 2024-02-18"),
    ("LAST_MONTH", "2024-01-01 2024-02-01"), ("THIS_MONTH", "2024-02-01 2024-03-01"),
    ("NEXT_MONTH", "2024-03-01 2024-04-01"),
    ("LAST_90_DAYS", "2023-11-12 2024-02-11"), ("NEXT_90_DAYS", "2024-02-11 2024-05-11"),
    ("LAST_N_DAYS:0", "2024-02-10 2024-02-11"), ("LAST_N_DAYS:2", "2024-02-08 2024-02-11"),
    ("NEXT_N_DAYS:2", "2024-02-11 2024-02-13"), ("N_DAYS_AGO:2", "2024-02-08 2024-02-09"),
    ("LAST_N_WEEKS:2", "2024-01-21 2024-02-04"), ("NEXT_N_WEEKS:2", "2024-02-11 2024-02-25"),
    ("N_WEEKS_AGO:2", "2024-01-21 2024-01-28"),
    ("LAST_N_MONTHS:3", "2023-11-01 2024-02-01"), ("NEXT_N_MONTHS:12", "2024-03-01 2025-03-01"),
    ("N_MONTHS_AGO:2", "2023-12-01 2024-01-01"), ("N_MONTHS_AGO:14", "2022-12-01 2023-01-01"),
    ("LAST_QUARTER", "2023-10-01 2024-01-01"), ("THIS_QUARTER", "2024-01-01 2024-04-01"),
    ("NEXT_QUARTER", "2024-04-01 2024-07-01"),
    ("LAST_N_QUARTERS:2", "2023-07-01 2024-01-01"), ("NEXT_N_QUARTERS:5", "2024-04-01 2025-07-01"),
    ("N_QUARTERS_AGO:1", "2023-10-01 2024-01-01"),
    ("LAST_YEAR", "2023-01-01 2024-01-01"), ("THIS_YEAR", "2024-01-01 2025-01-01"),
    ("NEXT_YEAR", "2025-01-01 2026-01-01"),
    ("LAST_N_YEARS:2", "2022-01-01 2024-01-01"), ("NEXT_N_YEARS:2", "2025-01-01 2027-01-01"),
    ("N_YEARS_AGO:2", "2022-01-01 2023-01-01"),
    ("LAST_FISCAL_QUARTER", "2023-10-01 2024-01-01"),
    ("THIS_FISCAL_QUARTER", "2024-01-01 2024-04-01"),
    ("NEXT_FISCAL_QUARTER", "2024-04-01 2024-07-01"),
    ("LAST_N_FISCAL_QUARTERS:1", "2023-10-01 2024-01-01"),
    ("NEXT_N_FISCAL_QUARTERS:1", "2024-04-01 2024-07-01"),
    ("N_FISCAL_QUARTERS_AGO:4", "2023-01-01 2023-04-01"),
    ("LAST_FISCAL_YEAR", "2023-01-01 2024-01-01"), ("THIS_FISCAL_YEAR", "2024-01-01 2025-01-01"),
    ("NEXT_FISCAL_YEAR", "2025-01-01 2026-01-01"),
    ("LAST_N_FISCAL_YEARS:1", "2023-01-01 2024-01-01"),
    ("NEXT_N_FISCAL_YEARS:1", "2025-01-01 2026-01-01"),
    ("N_FISCAL_YEARS_AGO:1", "2023-01-01 2024-01-01"),
    ("today", "2024-02-10 2024-02-11"),
  ])
  func `a date literal is a range of days`(literal: String, expected: String) throws {
    #expect(try range(literal, today: "2024-02-10") == expected)
  }

  @Test func `weeks begin on Sunday and months end where the calendar says`() throws {
    #expect(try range("THIS_WEEK", today: "2024-02-11") == "2024-02-11 2024-02-18")
    #expect(try range("TOMORROW", today: "2024-02-28") == "2024-02-29 2024-03-01")
    #expect(try range("TOMORROW", today: "2023-02-28") == "2023-03-01 2023-03-02")
    #expect(try range("NEXT_MONTH", today: "2023-12-31") == "2024-01-01 2024-02-01")
    #expect(try range("LAST_QUARTER", today: "2024-12-31") == "2024-07-01 2024-10-01")
    #expect(try range("LAST_N_DAYS:1000000", today: "2024-02-10") == "0001-01-01 2024-02-11")
    #expect(try range("NEXT_N_YEARS:1000000", today: "2024-02-10") == "2025-01-01 9999-12-31")
  }

  @Test func `days and dates are the calendar's, for eight thousand years`() throws {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    for days in stride(from: -130_000, to: 2_900_000, by: 997) {
      let date = SOQLDate(daysSince1970: days)
      let parts = calendar.dateComponents(
        [.year, .month, .day, .weekday], from: Date(timeIntervalSince1970: Double(days) * 86_400))
      #expect(date.year == parts.year && date.month == parts.month && date.day == parts.day)
      #expect(date.weekday + 1 == parts.weekday)
      #expect(SOQLDate(year: date.year, month: date.month, day: date.day) == date)
    }
  }

  @Test func `datetimes are compared with the user's days`() throws {
    var org = try SOQLTestOrg([
      "Account": [
        [
          "Id": .text(SOQLTestOrg.id("001", 1)),
          "CreatedDate": .text("2024-02-09T23:59:59.999+0000"),
        ],
        [
          "Id": .text(SOQLTestOrg.id("001", 2)),
          "CreatedDate": .text("2024-02-10T00:00:00.000+0000"),
        ],
        [
          "Id": .text(SOQLTestOrg.id("001", 3)),
          "CreatedDate": .text("2024-02-10T23:59:59.999+0000"),
        ],
        [
          "Id": .text(SOQLTestOrg.id("001", 4)),
          "CreatedDate": .text("2024-02-11T00:00:00.000+0000"),
        ],
        ["Id": .text(SOQLTestOrg.id("001", 5))],
      ]
    ])
    func numbers(_ condition: String) throws -> [Int] {
      try org.values("SELECT Id FROM Account WHERE CreatedDate \(condition)").compactMap { id in
        Int(id?.dropFirst(3).prefix(12) ?? "")
      }
    }
    #expect(try numbers("= TODAY") == [2, 3])
    #expect(try numbers("!= TODAY") == [1, 4, 5])
    #expect(try numbers("< TODAY") == [1])
    #expect(try numbers("<= TODAY") == [1, 2, 3])
    #expect(try numbers("> TODAY") == [4])
    #expect(try numbers(">= TODAY") == [2, 3, 4])
    #expect(try numbers("IN (YESTERDAY, TOMORROW)") == [1, 4])
    #expect(try numbers("NOT IN (YESTERDAY, TOMORROW)") == [2, 3, 5])
    // Ten hours west of UTC, the day began at 10:00 and it is 05:30.
    org.options.timeZone = try #require(TimeZone(secondsFromGMT: -36_000))
    #expect(try numbers("= TODAY") == [3, 4])
    #expect(try numbers("= YESTERDAY") == [1, 2])
    // Nine hours east of UTC it is already tomorrow.
    org.options.timeZone = try #require(TimeZone(secondsFromGMT: 9 * 3600))
    #expect(try numbers("= TODAY") == [3, 4])
  }
}
