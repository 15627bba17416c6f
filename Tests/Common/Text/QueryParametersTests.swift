import SalesforceSDKCommon
import Testing
import TestSupport

/// CA-25: parameters of addresses.
@Suite struct QueryParametersTests {
  @Test(.covers("CA-25.1"))
  func `a parameter is found whatever its case, as it stands there`() {
    let parameters = QueryParameters(
      ofAddress: "https://a.b/c?Code=x%3D%3D&flag&code=second#code=no")
    #expect(parameters.rawValue("CODE") == "x%3D%3D")
    #expect(parameters.rawValue("flag") == nil)
    #expect(parameters.rawValue("none") == nil)
    #expect(QueryParameters(ofAddress: "https://a.b#code=x").rawValue("code") == nil)
  }

  @Test(.covers("CA-25.1"))
  func `a dictionary has whole, decoded values`() {
    let parameters = QueryParameters(query: "a=1=2=3&b+c=%C3%A9+f&flag&=x&empty=")
    #expect(
      parameters.dictionary == ["a": "1=2=3", "b c": "é f", "flag": "", "": "x", "empty": ""])
  }

  @Test(.covers("CA-25.1"))
  func `parts of a path are joined with one slash`() {
    #expect(QueryParameters.path("a/", "/b", "", "//c/") == "a/b/c/")
    #expect(QueryParameters.path("https://a.b//", "c") == "https://a.b/c")
    #expect(QueryParameters.path("", "/a") == "/a")
  }
}
