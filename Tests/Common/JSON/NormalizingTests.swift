import Testing

@testable import SalesforceSDKCommon

/// Which spelling of a value is the one that stands for all of them?
@Suite struct NormalizingTests {
  @Test(arguments: [
    ("1e5", "100000"), ("100000.0", "100000"), ("-0", "0"), ("0e9", "0"), ("1.50", "1.5"),
    ("-15e-1", "-1.5"),
    ("0.0001", "0.0001"), ("0.00001", "1e-05"), ("1e39", "1" + String(repeating: "0", count: 39)),
    ("1e40", "1e+40"), ("10E399", "1e+400"), ("12.5e300", "1.25e+301"),
    ("12345678901234567890", "12345678901234567890"),
    ("0.10", "0.1"), ("1.7976931348623157e308", "1.7976931348623157e+308"), ("5e-324", "5e-324"),
    (
      "123456789012345678901234567890123456789012",
      "1.23456789012345678901234567890123456789012e+41"
    ),
  ])
  func `all spellings of a number have one normalised text`(number: String, text: String) throws {
    let slice = try JSONSlice(parsing: number)
    #expect(slice.normalizedText == text)
    #expect(slice.withNormalizedNumber { String(decoding: $0, as: UTF8.self) } == text)
    #expect(try JSONSlice(parsing: text).value == slice.value)
    #expect(slice.value.normalizedText == text)
    #expect(try JSONSlice(parsing: text).normalizedText == text)
  }

  @Test(arguments: [
    (#"[ "gr\u0065y", "a\/b", "\u000a\u0000\u001F", 1.0 ]"#, #"["grey","a/b","\n\u0000\u001f",1]"#),
    (#"{"\u0061": {"b" : 1}, "a":2}"#, #"{"a":2}"#), (#"{"a":1,"b":2,"a":3}"#, #"{"b":2,"a":3}"#),
    (
      #"["\ud83d\udc18", "\ud83d", "\uDC18x", "\ud83d\ud83d\udc18", "\ufffd"]"#,
      "[\"\u{1f418}\",\"\\ud83d\",\"\\uDC18x\",\"\\ud83d\\ud83d\\udc18\",\"\u{fffd}\"]"
    ),
    ("[]", "[]"), ("{ }", "{}"), (#""\\u0041""#, #""\\u0041""#),
  ])
  func `normalised text is compact, with the escapes that JSON requires`(
    text: String, expected: String
  ) throws {
    let slice = try JSONSlice(parsing: text)
    #expect(slice.normalizedText == expected)
    #expect(try JSONSlice(parsing: expected).normalizedText == expected)
  }

  @Test(arguments: [
    (#"{"a": "\u0061", "b\"": 1.0}"#, nil), (#"["\u0061"]"#, nil), ("1", nil),
    (#"{"\ud800":1}"#, nil),
    (#" { "\u0061" :1 , "b":[{"x\/":"\/"} ] } "#, #"{ "a" :1 , "b":[{"x/":"\/"} ] }"#),
    (#"[1, {"c\u00e9":{}} , [ ]]"#, #"[1, {"cé":{}} , [ ]]"#),
    (#"{"a":1, "\u0061":{"b" : 2}}"#, #"{"a":{"b" : 2}}"#),
  ])
  func `only names change when names are normalised`(text: String, expected: String?) throws {
    let slice = try JSONSlice(parsing: text)
    #expect(slice.normalizingNames()?.description == expected)
    #expect(
      JSONSlice(trusting: Array(slice.description.utf8)).normalizingNames()?.description == expected
    )
    if let expected { #expect(try JSONSlice(parsing: expected).value == slice.value) }
  }

  @Test func `an index has nothing of what is null or missing`() throws {
    let slice = try JSONSlice(
      parsing:
        #"{"l":[{"v":null},{},{"v":"\u0061"},[{"v":null}]],"n":[{"v":null}],"e":[{"v":[null]}]}"#)
    #expect(slice.project("l.v").normalizedText == #"["a"]"#)
    #expect(slice.project("n.v").normalizedText == nil)
    #expect(slice.project("n.v").isNullOrMissing)
    #expect(slice.project("e.v").normalizedText == "[[null]]")
    #expect(slice.project("x").isNullOrMissing)
  }
}
