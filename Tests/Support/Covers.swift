public import Testing

/// The requirements of the specification that a test proves.
///
/// `Tools/Scripts/conformance.py` reads the numbers from the source and writes them into the tables in
/// `Docs/Conformance`, where each number's requirement stands in one sentence.
public struct Covers: TestTrait {
  /// Numbers such as `MS-311`, or points of one such as `MS-311.2`.
  public let requirements: [String]
}

extension Trait where Self == Covers {
  /// Says which requirements a test proves: `@Test(.covers("MS-311", "SS-12.1"))`.
  public static func covers(_ requirements: String...) -> Self {
    Covers(requirements: requirements)
  }
}
