/// A parser of bytes from outside, and what holds for each input.
///
/// An input that a parser refuses is as good as one that it accepts. What no input may do: end the process, run on
/// without end, or break the property that the parser states.
struct FuzzedParser: Sendable {
  /// A property that an input breaks.
  struct Finding: Error, CustomStringConvertible {
    let description: String
  }

  /// The name in `Tools/fuzz.sh`, and of the folder of the corpus.
  let name: String
  /// Parses the bytes.
  let run: @Sendable ([UInt8]) throws(Finding) -> Void

  /// All parsers, in the order of their names.
  static let all: [FuzzedParser] = [
    configurations, csv, dates, dbus, formulas, gzip, json, keyFiles, multipart, pageFrames, paths,
    rescue, responses,
    smartSQL, soql, sosl, storeFiles, syncStates, urls, wal, webSocket, xml,
  ]

  /// Requires a property of a parsed input.
  static func require(_ holds: Bool, _ property: String) throws(Finding) {
    if !holds { throw Finding(description: property) }
  }

  /// The text of an input that is UTF-8; other bytes are replaced.
  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// The first byte chooses one of `count` forms, and the rest is the input.
  static func choice(_ bytes: [UInt8], of count: Int) -> (Int, [UInt8]) {
    (Int(bytes.first ?? 0) % count, Array(bytes.dropFirst()))
  }
}
