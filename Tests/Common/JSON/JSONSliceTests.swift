import SalesforceSDKCommon
import Testing
import TestSupport

/// Reading values out of a text.
struct JSONSliceTests {
  @Test func `members and elements are found and walked through`() throws {
    let slice = try JSONSlice(parsing: #" {"a":1,"b":[true,{"c":null},"x"],"":2} "#)
    #expect(slice.kind == .object && slice.count == 3)
    #expect(slice["a"]?.int64 == 1 && slice[""]?.int64 == 2 && slice["z"] == nil)
    #expect(slice["b"]?[1]?["c"]?.isNull == true && slice["b"]?[0]?.bool == true)
    #expect(slice["b"]?[3] == nil && slice["b"]?[-1] == nil && slice[0] == nil)
    #expect(slice["b"]?.elements.map(\.description) == ["true", #"{"c":null}"#, #""x""#])
    #expect(slice.members.map(\.key) == ["a", "b", ""])
    #expect(Array(slice.elements).isEmpty && slice["a"]?.count == 0)
    #expect(slice.description == #"{"a":1,"b":[true,{"c":null},"x"],"":2}"#)
  }

  @Test func `of a key that stands twice the last value counts`() throws {
    let slice = try JSONSlice(parsing: #"{"a":1,"b":2,"\u0061":3}"#)
    #expect(slice.count == 3 && slice["a"]?.int64 == 3)
    #expect(slice.value == ["a": 3, "b": 2])
    #expect(slice.members.map(\.key) == ["a", "b", "a"])
    #expect(try slice.setting([("a", 4)]).description == #"{"b":2,"\u0061":4}"#)
    #expect(try slice.setting([], removing: ["a"]).description == #"{"b":2}"#)
  }

  @Test func `escapes are resolved and lone surrogates shown as U+FFFD`() throws {
    let slice = try JSONSlice(
      parsing:
        #"["\"\\\/\b\f\n\r\t\u00e9\u20AC\ud834\udd1e","\ud800x","\udd1e\ud834","\ud834\u0041"]"#)
    #expect(slice[0]?.string == "\"\\/\u{8}\u{c}\n\r\té€𝄞")
    #expect(slice[1]?.string == "\u{fffd}x")
    #expect(slice[2]?.string == "\u{fffd}\u{fffd}")
    #expect(slice[3]?.string == "\u{fffd}A")
    #expect(slice[1]?.description == #""\ud800x""#)
  }

  @Test(
    .covers("CA-21"),
    arguments: [
      ("0", 0), ("-0", 0), ("-0.0", 0), ("1.0", 1), ("1e2", 100), ("120e-1", 12), ("1.5", nil),
      ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
      ("-9223372036854775809", nil), ("9223372036854775807.0", .max),
      ("1e18", 1_000_000_000_000_000_000),
      ("1e19", nil), ("0e999999999999999999999", 0), ("1e999999999999999999999", nil),
      ("1e-999999999999999999999", nil), ("922337203685477580700e-2", .max), ("0.1e1", 1),
    ] as [(String, Int64?)])
  func `an integer is exact or nil`(text: String, expected: Int64?) throws {
    #expect(try JSONSlice(parsing: text).int64 == expected)
    #expect(JSONNumber(text)?.int64 == expected)
    #expect(try JSONSlice(parsing: text).numberText == text)
  }

  @Test(
    .covers("SS-70"),
    arguments: [
      ("1.9", 1), ("-1.9", -1), ("0.9", 0), ("1e300", .max), ("-1e300", .min), ("12345e-2", 123),
      ("9223372036854775807.9", .max), ("-9223372036854775808.9", .min), ("1e400", .max),
      ("9223372036854775806.5", .max - 1), ("1e-400", 0),
    ] as [(String, Int64)])
  func `a fraction is cut off and what is out of range saturates`(
    text: String, expected: Int64
  ) throws {
    #expect(try JSONSlice(parsing: text).clampedInt64 == expected)
  }

  @Test(
    .covers("SS-71"),
    arguments: [
      "0", "-0.0", "0.1", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308",
      "9007199254740993", "123456789012345678", "1e22", "1e23", "3.14159265358979323846", "1E-7",
    ])
  func `a double is the nearest one`(text: String) throws {
    let double = try JSONSlice(parsing: text).double
    #expect(double?.bitPattern == Double(text)?.bitPattern)
  }

  @Test func `a number beyond the range of doubles is nil there and kept as written`() throws {
    let slice = try JSONSlice(parsing: "-1e400")
    #expect(slice.double == nil && slice.value.text == "-1e400")
    #expect(slice.value.double == nil)
    #expect(slice["x"] == nil && slice.string == nil && slice.bool == nil)
  }

  @Test(.covers("CA-21"))
  func `numbers keep what they are on the way through a value`() throws {
    let text = "[1,1.0,1.5,-0,-0.0,true,18446744073709551615,0.1000000000000000055511151231257827]"
    let value = try JSONValue(parsing: text)
    #expect(
      value.text
        == "[1,1.0,1.5,-0.0,-0.0,true,18446744073709551615,0.1000000000000000055511151231257827]")
    #expect(value[0] == value[1] && value[0] != value[5])
    #expect(value[3] == value[4] && value[6] != .double(18_446_744_073_709_551_616))
  }

  @Test(arguments: [
    (#"{"a":1"#, JSONError.Code.malformed, 6), (#"[1,]"#, .malformed, 3), ("", .malformed, 0),
    (#"["a\x"]"#, .malformed, 3), ("[\"\u{1}\"]", .malformed, 2), ("[01]", .malformed, 2),
    ("1 2", .malformed, 2), (#"{"a" 1}"#, .malformed, 5), ("[tru]", .malformed, 1),
  ])
  func `a text that is refused tells where`(
    text: String, code: JSONError.Code, offset: Int
  ) {
    let error = #expect(throws: JSONError.self) { try JSONSlice(parsing: text) }
    #expect(error?.code == code && error?.byteOffset == offset)
    #expect(error?.location.fileID.hasPrefix("SalesforceSDKCommon/") == true)
  }

  @Test func `bytes that are not UTF-8 and texts beyond a limit have codes of their own`() {
    func code(_ bytes: [UInt8], _ limits: JSONLimits = .default) -> JSONError.Code? {
      do throws(JSONError) {
        _ = try JSONSlice(parsing: bytes, limits: limits)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code([0x22, 0xff, 0x22]) == .notUTF8)
    let nested = [UInt8](repeating: 0x5b, count: 512) + [UInt8](repeating: 0x5d, count: 512)
    #expect(code(nested) == nil)
    #expect(code([0x5b] + nested + [0x5d]) == .tooDeep)
    #expect(code(Array("[[1]]".utf8), JSONLimits(maxDepth: 1)) == .tooDeep)
    #expect(code(Array("[[1]]".utf8), JSONLimits(maxBytes: 4)) == .tooLarge)
    #expect(code([UInt8](repeating: 0x5b, count: 1 << 20)) == .tooDeep)
  }

  /// `é` as one scalar and as two: Unicode counts them as equal, JSON does not.
  @Test func `keys are compared byte for byte, in texts, splices and values alike`() throws {
    let one = "\u{e9}", two = "e\u{301}"
    let text = "{\"\(one)\":1,\"\(two)\":2}"
    let slice = try JSONSlice(parsing: text)
    #expect(slice[one]?.int64 == 1 && slice[two]?.int64 == 2)
    #expect(
      try slice.setting([(two, 3)]) == JSONSlice(parsing: "{\"\(one)\":1,\"\(two)\":3}"))
    #expect(try slice.setting([], removing: [one]) == JSONSlice(parsing: "{\"\(two)\":2}"))
    #expect(
      try JSONSlice(parsing: "{}").setting([(one, 1), (two, 2)]).description.utf8
        .elementsEqual(text.utf8))
    var object = try #require(slice.value.object)
    #expect(object.count == 2 && object[one] == 1 && object[two] == 2)
    #expect(JSONValue.object(object).text.utf8.elementsEqual(text.utf8))
    #expect(object != [one: 1, "x": 2] && object == [two: 2, one: 1])
    object.removeValue(forKey: two)
    object[two] = 4
    #expect(object.keys.map(\.utf8.count) == [2, 3] && object.values == [1, 4])
  }

  @Test func `slices of equal text are equal, wherever they come from`() throws {
    let one = try JSONSlice(parsing: #"[{"a":1},{"a":1},{"a":2}]"#)
    let other = try JSONSlice(parsing: #"{"a":1}"#)
    #expect(one[0] == one[1] && one[0] == other && one[0] != one[2])
  }
}
