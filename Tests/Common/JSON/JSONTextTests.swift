import Testing

@testable import SalesforceSDKCommon

/// Are strings escaped as asked, wherever in them the character stands?
struct JSONTextTests {
  /// The escapes of RFC 8259, one character at a time.
  private func expected(_ text: String, slashes: Bool) -> String {
    let letters: [Unicode.Scalar: String] = [
      "\"": #"\""#, "\\": #"\\"#, "\u{8}": #"\b"#, "\u{c}": #"\f"#, "\n": #"\n"#, "\r": #"\r"#,
      "\t": #"\t"#,
    ]
    var result = "\""
    for scalar in text.unicodeScalars {
      if let letter = letters[scalar] {
        result += letter
      } else if scalar == "/", slashes {
        result += #"\/"#
      } else if scalar.value < 0x20 {
        let digits = String(scalar.value, radix: 16)
        result += #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  @Test(arguments: [false, true])
  func `every character below 128, and some above, at every place of a string`(
    slashes: Bool
  ) {
    let scalars = (0..<128).compactMap { Unicode.Scalar($0) } + ["é", "€", "🐘"]
    for scalar in scalars {
      for place in 0..<18 {
        let text =
          String(repeating: "a", count: place) + String(Character(scalar)) + "/bc\(scalar)0.//-"
        var bytes: [UInt8] = []
        if slashes {
          var copy = text
          copy.withUTF8 { JSONText.appendEscapingSlashes($0, to: &bytes) }
        } else {
          JSONText.append(text, to: &bytes)
        }
        #expect(String(decoding: bytes, as: UTF8.self) == expected(text, slashes: slashes))
      }
    }
  }

  @Test func `the empty string has its quotes`() {
    var bytes: [UInt8] = []
    JSONText.appendEscapingSlashes(UnsafeBufferPointer(start: nil, count: 0), to: &bytes)
    JSONText.append("", to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == #""""""#)
  }
}
