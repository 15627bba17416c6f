/// Text from elsewhere, made safe to show in a terminal.
package enum TerminalText {
  /// `text` with every character escaped as in JSON that moves the cursor, commands the terminal, or makes what
  /// stands before it look different: control characters, line separators, and the marks that set the
  /// direction of writing. An ordinary backslash stays as it is.
  ///
  /// - Parameter keepsLines: Whether line feeds and tabs stay. Default: true.
  package static func escaped(_ text: String, keepsLines: Bool = true) -> String {
    guard text.unicodeScalars.contains(where: isActive) else { return text }
    return text.unicodeScalars.reduce(into: "") { safe, scalar in
      switch scalar {
      case "\n" where keepsLines, "\t" where keepsLines: safe.unicodeScalars.append(scalar)
      case "\t": safe += "\\t"
      case "\n": safe += "\\n"
      case "\r": safe += "\\r"
      case _ where isActive(scalar):
        let digits = String(scalar.value, radix: 16)
        safe += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      default: safe.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFEFF: true
    // No text needs more than one code unit that is invisible and means nothing.
    case 0xFFF9...0xFFFB: true
    default: false
    }
  }
}
