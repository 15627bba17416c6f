import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

/// Dates, ids and encodings.
struct TextTests {
  @Test(.covers("HT-95.2")) func `a text is equal to a secret only if all of it is`() {
    #expect("geheim".isEqual(toSecret: "geheim") && "".isEqual(toSecret: ""))
    for text in ["", "gehei", "geheimx", "Geheim", "geheiM", "gehein", "geheim\u{0}"] {
      #expect(!text.isEqual(toSecret: "geheim"), "\(text)")
    }
  }

  @Test(
    .covers("CA-26"),
    arguments: [
      ("2026-03-01T08:30:00.000+0000", 1_772_353_800_000),
      ("2026-03-01T08:30:00Z", 1_772_353_800_000),
      ("2026-03-01T10:00:00.5+01:30", 1_772_353_800_500), ("1970-01-01T00:00:00.001Z", 1),
      ("2000-02-29T23:59:59.9999Z", 951_868_799_999), ("1969-12-31T23:59:59.000Z", -1000),
      ("2023-02-29T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil), ("2026-03-01T24:00:00Z", nil),
      ("2026-03-01T08:30:00", nil), ("2026-03-01", nil), ("2026-03-01T08:30:00.Z", nil), ("", nil),
      ("2026-03-01T08:30:00Zx", nil), ("1900-02-29T00:00:00Z", nil),
    ] as [(String, Int64?)])
  func `an ISO text is read or refused`(text: String, milliseconds: Int64?) {
    #expect(SalesforceDate.parse(text)?.milliseconds == milliseconds)
    #expect(SalesforceDate.milliseconds(of: text) == milliseconds ?? -1)
  }

  @Test(.covers("CA-26"))
  func `dates are written in the three forms of the platform`() {
    let date = SalesforceDate(milliseconds: 1_772_353_800_007)
    #expect(
      date.text == "2026-03-01T08:30:00.007+0000" && date.soqlText == "2026-03-01T08:30:00.007Z")
    #expect(date.httpText == "Sun, 01 Mar 2026 08:30:00 GMT" && date.dayText == "2026-03-01")
    #expect(SalesforceDate(date.date) == date)
    #expect(SalesforceDate.text(ofMilliseconds: -1) == nil)
    #expect(
      SalesforceDate.parseHTTP("Sun, 01 Mar 2026 08:30:00 GMT")?.milliseconds == 1_772_353_800_000)
    #expect(SalesforceDate.parseHTTP("Sun, 31 Feb 2026 08:30:00 GMT") == nil)
  }

  @Test(.covers("CA-26"))
  func `every day of eight centuries survives, and the weekdays follow each other`() {
    let first: Int64 = -11_676_096_000_000  // 1600-01-01
    for day in 0..<292_194 as Range<Int64> {
      let date = SalesforceDate(milliseconds: first + day * 86_400_000 + day)
      guard SalesforceDate.parse(date.text) == date, SalesforceDate.parseHTTP(date.httpText) != nil
      else {
        Issue.record("day \(day): \(date)")
        break
      }
    }
    #expect(SalesforceDate(milliseconds: first).dayText == "1600-01-01")
    #expect(SalesforceDate(milliseconds: first).httpText.hasPrefix("Sat"))
  }

  @Test func `dates at the ends of their range, and invalid ones, cause no crash`() {
    #expect(SalesforceDate(milliseconds: .min).text.hasSuffix("T16:47:04.192+0000"))
    #expect(SalesforceDate(milliseconds: .max).text.hasSuffix("T07:12:55.807+0000"))
    #expect(SalesforceDate(Date(timeIntervalSince1970: .nan)).milliseconds == 0)
    #expect(SalesforceDate(Date(timeIntervalSince1970: .infinity)).dayText == "9999-12-31")
  }

  @Test(.covers("CA-24.1", "CO-77"))
  func `ids are the same in either form`() {
    let long = "001A0000006Vm9rIAC"
    #expect(SalesforceId("001A0000006Vm9r")?.text == long)
    #expect(SalesforceId(long)?.shortText == "001A0000006Vm9r")
    #expect(SalesforceId(long.lowercased()) == SalesforceId(long))
    #expect(SalesforceId(long.uppercased())?.shortText == "001A0000006Vm9r")
    #expect(SalesforceId("001A0000006vm9r") != SalesforceId(long))
    for text in ["", "001A0000006Vm9", "001A0000006Vm9rI", "001A0000006Vm-r", "001A0000006Vm9rI-C"]
    {
      #expect(SalesforceId(text) == nil && SalesforceId.longForm(of: text) == nil)
    }
    #expect(SalesforceId.longForm(of: "001A0000006Vm9r") == long)
    #expect(SalesforceId.areSame("001A0000006Vm9r", long.lowercased()))
    #expect(SalesforceId.areSame("Me", "me") && !SalesforceId.areSame("me", "you"))
  }

  @Test(.covers("CO-148.1"))
  func `bytes survive in each encoding`() {
    for count in 0..<40 {
      let bytes = RandomBytes.make(count)
      #expect(bytes.count == count && Hex.decode(Hex.encode(bytes)) == bytes)
      let text = Base64URL.encode(bytes)
      #expect(Base64URL.decode(text) == bytes && !text.contains("="))
      let standard = Data(bytes).base64EncodedString()
      #expect(
        text
          == standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
    }
    #expect(Hex.decode("0") == nil && Hex.decode("0g") == nil && Hex.decode("fF") == [255])
    #expect(Base64URL.decode("A") == nil && Base64URL.decode("A+") == nil)
    #expect(
      Digests.sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    #expect(
      Hex.encode(
        Digests.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }
}
