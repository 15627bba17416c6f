import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

/// The public JSON parsing test suite (see Resources/json-test-suite): `y_` must be accepted, `n_`
/// refused; what the standard leaves open, `i_`, is decided here.
struct PublicSuiteTests {
  private static let files: [URL] = {
    let folder = Bundle.module.bundleURL
      .appendingPathComponent("Resources/json-test-suite/test_parsing")
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).sorted { $0.lastPathComponent < $1.lastPathComponent }
  }()

  /// What is accepted although it may be refused: numbers of any size, lone surrogates in
  /// escapes, 500 levels. What is not UTF-8 or has a byte order mark is refused.
  private static let acceptedByChoice: Set<String> = [
    "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json",
    "i_number_neg_int_huge_exp.json", "i_number_pos_double_huge_exp.json",
    "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json", "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json", "i_number_very_big_negative_int.json",
    "i_object_key_lone_2nd_surrogate.json", "i_string_1st_surrogate_but_2nd_missing.json",
    "i_string_1st_valid_surrogate_2nd_invalid.json",
    "i_string_incomplete_surrogate_and_escape_valid.json",
    "i_string_incomplete_surrogate_pair.json",
    "i_string_incomplete_surrogates_escape_valid.json",
    "i_string_invalid_lonely_surrogate.json", "i_string_invalid_surrogate.json",
    "i_string_inverted_surrogates_U+1D11E.json", "i_string_lone_second_surrogate.json",
    "i_structure_500_nested_arrays.json",
  ]

  @Test func `all 318 cases of the public suite are there`() {
    #expect(Self.files.count == 318)
    let names = Set(Self.files.map(\.lastPathComponent))
    #expect(Self.acceptedByChoice.isSubset(of: names))
  }

  @Test(.covers("CA-21"), arguments: files)
  func `a case of the public suite is accepted or refused as it should be`(
    file: URL
  ) throws {
    let name = file.lastPathComponent
    let text = [UInt8](try Data(contentsOf: file))
    if name.hasPrefix("y_") || Self.acceptedByChoice.contains(name) {
      let slice = try JSONSlice(parsing: text)
      // What was accepted can be copied, written and read again without a change of meaning.
      let again = try JSONSlice(parsing: slice.value.serialized())
      #expect(again.value == slice.value)
    } else {
      #expect(throws: JSONError.self) { try JSONSlice(parsing: text) }
    }
  }
}
