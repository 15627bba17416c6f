import SalesforceSDKCommon
import Testing

/// Text of a server on its way to a terminal.
struct TerminalTextTests {
  @Test(arguments: [
    "\u{1B}[2J", "\u{9B}31m", "\u{07}", "a\rb", "\u{7F}", "\u{85}", "\u{1B}]0;title\u{07}",
    "\u{202E}gpj.exe", "\u{2066}x\u{2069}", "\u{200F}", "\u{61C}", "\u{2028}", "\u{2029}", "\u{0}",
  ])
  func `nothing that commands a terminal or turns the direction of writing is left`(text: String) {
    let safe = TerminalText.escaped("x" + text)
    #expect(safe.contains("\\"))
    for scalar in safe.unicodeScalars {
      #expect(scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value))
      #expect(
        !(0x2028...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value))
      #expect(![0x61C, 0x200E, 0x200F].contains(scalar.value))
    }
  }

  @Test func `ordinary text stays as it is`() {
    for text in ["", "Köln 東京 עברית عربى 👩‍👩‍👧", "a\\b", "one\ntwo\tthree"] {
      #expect(TerminalText.escaped(text) == text)
    }
    #expect(TerminalText.escaped("a\n\tb", keepsLines: false) == "a\\n\\tb")
    #expect(TerminalText.escaped("\u{1B}[0m") == "\\u001b[0m")
  }
}
