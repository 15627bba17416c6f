import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct TextFormTests {
  @Test func `an id has the checksum that the platform gives it`() {
    #expect(RecordID.normalized("001000000000001") == "001000000000001AAA")
    #expect(RecordID.normalized("0016F00003ABcDE") == "0016F00003ABcDEQA1")
    #expect(RecordID.normalized("a0Xd00000014vGI") == "a0Xd00000014vGIEAY")
    #expect(RecordID.normalized("005Ff0000000001IAA") == "005Ff0000000001IAA")
    #expect(RecordID.normalized("005ff0000000001iaa") == "005Ff0000000001IAA")
    #expect(RecordID.normalized("005Ff00000000") == nil)
    #expect(RecordID.normalized("005Ff000000000-") == nil)
    #expect(RecordID.normalized("005Ff0000000001999") == nil)
  }

  @Test func `ids of an object ascend as texts do, and their number can be read back`() {
    var last = ""
    for number in [1, 9, 10, 35, 36, 61, 62, 3843, 3844, 1_000_000] {
      let id = RecordID.make(prefix: "a0Q", number: number)
      #expect(id > last)
      #expect(RecordID.number(of: id) == number)
      #expect(RecordID.normalized(String(id.prefix(15))) == id)
      #expect(RecordID.normalized(id.lowercased()) == id)
      last = id
    }
  }

  @Test(arguments: [
    ("2026-05-01", "2026-05-01T00:00:00.000+0000"),
    ("2026-05-01T10:20:30Z", "2026-05-01T10:20:30.000+0000"),
    ("2026-05-01T10:20:30.999Z", "2026-05-01T10:20:30.000+0000"),
    ("2026-05-01T10:20:30.999+0000", "2026-05-01T10:20:30.000+0000"),
    ("2026-05-01T01:00:00+02:00", "2026-04-30T23:00:00.000+0000"),
    ("2026-05-01T23:00:00-0500", "2026-05-02T04:00:00.000+0000"),
    ("1700-01-01T00:00:00Z", "1700-01-01T00:00:00.000+0000"),
    ("2024-02-29T12:00Z", "2024-02-29T12:00:00.000+0000"),
  ])
  func `a datetime is read in every form that clients write`(text: String, stored: String) {
    #expect(DateText.parseDateTime(text) == stored)
  }

  @Test(arguments: [
    "", "2026", "2026-13-01", "2026-02-30", "2025-02-29", "2026-05-01T", "2026-05-01T25:00:00Z",
    "2026-05-01T10:60:00Z", "2026-05-01T10:00:00+", "2026-05-01x", "1699-12-31", "4001-01-01",
    "20260501", "2026-5-1",
  ])
  func `what is no datetime is refused`(text: String) {
    #expect(DateText.parseDateTime(text) == nil)
  }

  @Test func `dates agree with the calendar over four centuries`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    for day in stride(from: -90_000, through: 90_000, by: 97) {
      let date = Date(timeIntervalSince1970: Double(day) * 86400 + 3661)
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let civil = CivilCalendar.date(ofDay: day)
      #expect(civil.year == parts.year && civil.month == parts.month && civil.day == parts.day)
      #expect(CivilCalendar.day(year: civil.year, month: civil.month, day: civil.day) == day)
      #expect(DateText.dateTime(date).hasSuffix("T01:01:01.000+0000"))
    }
  }

  @Test func `an HTTP date is read as it is written`() {
    let text = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(DateText.parseHTTP(text) == 784_111_777)
    #expect(DateText.http(secondsSince1970: 784_111_777) == text)
    #expect(DateText.parseHTTP("06 Nov 1994") == nil)
    for year in [Int.max, Int.min, 0, 10_000] {
      #expect(DateText.parseHTTP("Sun, 06 Nov \(year) 08:49:37 GMT") == nil)
    }
  }

  @Test func `a time is kept as a time of day in UTC`() {
    #expect(DateText.parseTime("10:20") == "10:20:00.000Z")
    #expect(DateText.parseTime("23:30:00.5-01:00") == "00:30:00.500Z")
    #expect(DateText.parseTime("24:00") == nil)
  }
}
