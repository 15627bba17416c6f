import Foundation

/// The parser that the variable `FIELDFORCE_PARSER` names.
private let parser: FuzzedParser = {
  let name = ProcessInfo.processInfo.environment["FIELDFORCE_PARSER"] ?? ""
  guard let parser = FuzzedParser.all.first(where: { $0.name == name }) else {
    let names = FuzzedParser.all.map(\.name).joined(separator: " ")
    print("error: FIELDFORCE_PARSER is '\(name)'. Name one of: \(names)")
    exit(2)
  }
  return parser
}()

/// Called by libFuzzer, which has the program's entry point, once for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try parser.run(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    fatalError("\(parser.name): \(error)")
  }
  return 0
}
