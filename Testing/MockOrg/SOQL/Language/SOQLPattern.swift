/// The right side of LIKE: `%` stands for any text, `_` for one character, a backslash takes both
/// meanings away. Case does not matter.
struct SOQLPattern: Sendable, Equatable {
  private(set) var elements: [Wildcards.Element] = []

  init() {}

  /// Reads the form that ``sqlText`` writes.
  init(sqlText: String) {
    var escaped = false
    for scalar in sqlText.unicodeScalars {
      if !escaped, scalar == "\\" {
        escaped = true
      } else {
        append(scalar, escaped: escaped)
        escaped = false
      }
    }
  }

  mutating func append(_ scalar: Unicode.Scalar, escaped: Bool) {
    switch scalar {
    case "%" where !escaped: elements.append(.anyText)
    case "_" where !escaped: elements.append(.anyScalar)
    default: elements.append(.scalar(scalar))
    }
  }

  /// Whether SQLite's own LIKE gives the same result in reasonable time: it folds the case of ASCII
  /// letters alone, it goes back once per `%`, and it limits the length of a pattern.
  var suitsSQLite: Bool {
    elements.count < 10_000
      && elements.count { $0 == .anyText } <= 4
      && elements.allSatisfy { element in
        if case .scalar(let scalar) = element { scalar.isASCII && scalar.value != 0 } else { true }
      }
  }

  /// The pattern for `LIKE ? ESCAPE '\'`.
  var sqlText: String {
    var text = String.UnicodeScalarView()
    for element in elements {
      switch element {
      case .anyText: text.append("%")
      case .anyScalar: text.append("_")
      case .scalar(let scalar):
        if scalar == "%" || scalar == "_" || scalar == "\\" { text.append("\\") }
        text.append(scalar)
      }
    }
    return String(text)
  }

  /// Whether the whole of `text` has this form.
  func matches(_ text: String) -> Bool {
    Wildcards.match(elements, text.unicodeScalars.map(\.foldedForSOQL)) { $0.foldedForSOQL }
  }
}

extension Unicode.Scalar {
  /// The scalar as comparisons see it: upper case, if that is one scalar.
  ///
  /// What lies outside ASCII never folds into it, so that the result for ASCII text is the one of
  /// SQLite's `NOCASE`.
  var foldedForSOQL: Unicode.Scalar {
    if isASCII { return (0x61...0x7A).contains(value) ? Unicode.Scalar(UInt8(value) - 0x20) : self }
    let mapping = properties.uppercaseMapping.unicodeScalars
    guard mapping.count == 1, let upper = mapping.first, !upper.isASCII else { return self }
    return upper
  }

  /// The scalar by which texts sort, so that the order of ASCII text is the one of `NOCASE` too.
  var sortedForSOQL: Unicode.Scalar {
    let folded = foldedForSOQL
    return (0x41...0x5A).contains(folded.value)
      ? Unicode.Scalar(UInt8(folded.value) + 0x20) : folded
  }
}
