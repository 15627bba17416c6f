import SalesforceSDKCommon
import Testing
import TestSupport

/// Where paths lead.
struct ProjectionTests {
  static let first = #"{"t":"x","n":4,"l":[7,8],"o":{"s":"y","l":[9],"m":{"k":1}}}"#
  static let second = """
    {"r":[{"v":"p"},{"v":3},{"v":[4,5]},{},{"v":{"w":6}}],\
    "q":[{"u":[{"z":1},{"z":2}]},{"u":[{"z":3}]},{"u":[{"z":4},{"y":5}]}]}
    """

  @Test(
    .covers("SS-77"),
    arguments: [
      (first, "", first), (first, "t", #""x""#), (first, "n", "4"), (first, "l", "[7,8]"),
      (first, "o", #"{"s":"y","l":[9],"m":{"k":1}}"#), (first, "o.s", #""y""#),
      (first, "o.l", "[9]"), (first, "o.m", #"{"k":1}"#), (first, "o.m.k", "1"),
      (first, "o.z", nil), (first, "t.x", nil), (first, "O", nil),
      (second, "r.v", #"["p",3,[4,5],{"w":6}]"#), (second, "r.v.w", "[6]"),
      (second, "q.u", #"[[{"z":1},{"z":2}],[{"z":3}],[{"z":4},{"y":5}]]"#),
      (second, "q.u.z", "[[1,2],[3],[4]]"), (second, "q.u.y", "[[5]]"), (second, "q.u.x", nil),
    ])
  func `the examples of the specification`(
    text: String, path: String, expected: String?
  ) throws {
    let projection = try JSONSlice(parsing: text).project(JSONPath(path))
    #expect(projection.compactText == expected)
    #expect(try projection.value == expected.map { try JSONValue(parsing: $0) })
  }

  @Test(
    .covers("CA-22", "SS-78"),
    arguments: [
      (#"{"a":{"b":{"c":1}}}"#, "1"), (#"{"a":{"b":{"c":[1,2,3]}}}"#, "[1,2,3]"),
      (#"{"a":{"b":[{"c":[1,2,3]}]}}"#, "[[1,2,3]]"),
      (#"{"a":{"b":[{"c":1},{"c":2},{"d":3}]}}"#, "[1,2]"),
      (#"{"a":[{"b":{"c":0}},{"b":[{"c":1},{"c":2}]}]}"#, "[0,[1,2]]"),
    ])
  func `the guide's table for a.b.c`(text: String, expected: String) throws {
    #expect(try JSONSlice(parsing: text).project("a.b.c").compactText == expected)
  }

  @Test(.covers("SS-79"))
  func `a null is distinguished from a missing value, at any depth`() throws {
    let slice = try JSONSlice(parsing: #"{"a":null,"b":{"c":null},"d":[{"e":null},{}]}"#)
    #expect(slice.project("a").value == .some(.null))
    #expect(slice.project("b.c").value == .some(.null))
    #expect(slice.project("d.e").value == [nil])
    #expect(slice.project("z") == .missing)
    #expect(slice.project("b.z") == .missing)
    #expect(slice.project("a.z") == .missing)
  }

  @Test(.covers("SS-72"))
  func `an object is shown as compact text with its numbers as written`() throws {
    let slice = try JSONSlice(parsing: #"{ "o" : { "x" : 1.50 , "y z" : [ "a \" b" , 1e2 ] } }"#)
    #expect(slice.project("o").compactText == #"{"x":1.50,"y z":["a \" b",1e2]}"#)
  }
}
