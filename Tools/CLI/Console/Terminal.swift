import Foundation

/// The terminal or file behind an output stream.
struct Terminal {
  /// Whether the stream is a terminal.
  let isTerminal: Bool
  /// Whether colours may be used: a terminal that can show them, and `NO_COLOR` is unset or empty.
  let hasColours: Bool
  private let descriptor: Int32

  static let output = Terminal(STDOUT_FILENO)
  static let errors = Terminal(STDERR_FILENO)

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    let environment = ProcessInfo.processInfo.environment
    hasColours =
      isTerminal && environment["NO_COLOR", default: ""].isEmpty
      && environment["TERM", default: "dumb"] != "dumb"
  }

  /// The number of columns now. Default, where the terminal does not say: 80.
  var columns: Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// `text` in a style, or as it is where colours may not be used.
  func styled(_ text: String, _ style: Style) -> String {
    hasColours && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// The parameter of an SGR sequence.
  enum Style: String {
    case heading = "1"
    case failure = "31"
    case success = "32"
    case warning = "33"
    case faint = "2"
  }
}

extension String {
  /// The number of terminal columns that the text takes: two for each wide East Asian character and most emoji.
  var displayWidth: Int {
    var width = 0
    for character in self {
      guard let first = character.unicodeScalars.first else { continue }
      width += first.isWide || character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1
    }
    return width
  }

  /// The text cut to a number of terminal columns, with `…` where something is missing.
  func truncated(to columns: Int) -> String {
    guard displayWidth > columns else { return self }
    var kept = ""
    var width = 1
    for character in self {
      width += String(character).displayWidth
      if width > columns { break }
      kept.append(character)
    }
    return kept + "…"
  }

  /// The text with blanks up to a number of terminal columns.
  func padded(to columns: Int) -> String {
    self + String(repeating: " ", count: max(0, columns - displayWidth))
  }
}

extension Unicode.Scalar {
  fileprivate var isWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
      0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}
