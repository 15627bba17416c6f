import SalesforceSDKCommon
import Foundation
import HTTPTypes
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-115 to CO-117: how a request becomes an address and header fields.
@Suite struct RequestAddressTests {
  private let client = RestClient(transport: ScriptedTransport([]))
  private let account = TestOrg().account()

  private func address(_ request: RestRequest, of account: UserAccount? = nil) throws -> String {
    try client.wire(request, as: account ?? self.account).url.absoluteString
  }

  @Test(
    .covers("CO-116"),
    arguments: [
      ("/v60.0/limits", "/services/data/v60.0/limits"),
      ("v60.0/limits", "/services/data/v60.0/limits"),
      ("//v60.0/limits", "/services/data/v60.0/limits"),
      ("/{v}/limits", "/services/data/v66.0/limits"),
      ("/services/data/v60.0/limits", "/services/data/v60.0/limits"),
      ("/services/apexrest/Orders", "/services/apexrest/Orders"),
      ("/", "/services/data/"),
      ("", "/services/data/"),
      ("/v60.0/query?q=a", "/services/data/v60.0/query?q=a"),
    ])
  func `a path stands behind the endpoint, once`(path: String, expected: String) throws {
    #expect(
      try address(RestRequest(path: path)) == "https://acme.my.salesforce.com\(expected)")
  }

  @Test(.covers("CO-116", "BX-48"))
  func `an endpoint of the caller's is not repeated either`() throws {
    #expect(
      RestRequest(path: "/custom/x", endpoint: "/custom").target() == "/custom/x")
    #expect(
      RestRequest(path: "/customary/x", endpoint: "custom/").target() == "/custom/customary/x")
    #expect(RestRequest(path: "/x", endpoint: "").target() == "/x")
  }

  @Test(.covers("CO-116"))
  func `a whole address is used as it is, with the query behind it`() throws {
    let request = RestRequest(
      path: "HTTPS://acme.my.salesforce.com/x?y=1", query: [RestQueryItem("z", 2)])
    #expect(try address(request) == "HTTPS://acme.my.salesforce.com/x?y=1&z=2")
  }

  @Test(.covers("CO-116"))
  func `names and values of a query are encoded`() throws {
    let odd = "\n\r \"#%/:<>?@[\\]^`{|}&=+é😀"
    let request = RestRequest(
      path: "/x", query: [RestQueryItem(odd, odd), RestQueryItem("n", 1.5)])
    let encoded =
      "%0A%0D%20%22%23%25%2F%3A%3C%3E%3F%40%5B%5C%5D%5E%60%7B%7C%7D%26%3D%2B%C3%A9%F0%9F%98%80"
    #expect(
      try address(request)
        == "https://acme.my.salesforce.com/services/data/x?\(encoded)=\(encoded)&n=1.5")
    #expect(PercentEncoding.decode(encoded) == odd)
  }

  @Test(.covers("CO-116"))
  func `a query of 20 kB survives`() throws {
    let soql = String(repeating: "SELECT é\n", count: 2_500)
    let url = try #require(URLComponents(string: address(.query(soql))))
    #expect(url.queryItems?.first?.value == soql)
  }

  @Test(.covers("CO-109", "BX-48"))
  func `the community's server comes before the instance`() throws {
    var community = account
    community.credentials.communityId = "0DB000000000001GAA"
    community.credentials.communityURL = URL(string: "https://acme.force.com/fineapps/")
    #expect(
      try address(.limits(), of: community)
        == "https://acme.force.com/fineapps/services/data/v66.0/limits")
    #expect(
      try address(.userInfo(), of: community)
        == "https://acme.force.com/fineapps/services/oauth2/userinfo")
    community.credentials.communityId = "000000000000000AAA"
    #expect(
      try address(.limits(), of: community)
        == "https://acme.my.salesforce.com/services/data/v66.0/limits")
    #expect(
      try address(.userInfo()) == "https://login.salesforce.com/services/oauth2/userinfo")
  }

  @Test(.covers("CO-117.1", "BX-48"))
  func `the token is sent, unless the caller says otherwise`() throws {
    func headers(_ request: RestRequest) throws -> HTTPFields {
      try client.wire(request, as: account).headers
    }
    #expect(try headers(.limits())[.authorization] == "Bearer access-1")
    #expect(try headers(.versions())[.authorization] == nil)
    var own = RestRequest.limits()
    own.headers[.authorization] = "Bearer mine"
    own.headers[.userAgent] = "me"
    #expect(try headers(own)[.authorization] == "Bearer mine")
    #expect(try headers(own)[.userAgent] == "me")
  }

  @Test(.covers("CO-117.2"))
  func `the caller's Content-Type wins over the one of the body`() throws {
    var request = RestRequest.create(object: "A", fields: ["B": 1])
    let usual = try client.wire(request, as: account)
    #expect(usual.headers[.contentType] == "application/json")
    request.headers[.contentType] = "application/merge-patch+json"
    let sent = try client.wire(request, as: account)
    #expect(sent.headers[.contentType] == "application/merge-patch+json")
    #expect(text(sent.body) == #"{"B":1}"#)
  }

  @Test(.covers("CO-180.1", "CO-183.1", "BX-32.1", "MS-7", "CO-11.4", "BX-117"))
  func `the user agent says who sends, and for what`()
    throws
  {
    let markers = FeatureMarkers()
    for marker in ["US", "SY", "ai", "SY"] { markers.register(marker) }
    markers.unregister("XX")
    var agent = UserAgent(appName: "Kiosk\n", appVersion: "1.2(3)", installationId: "id-1")
    agent.systemName = "Linux"
    agent.systemVersion = "12"
    agent.model = "x86_64"
    #expect(
      agent.text(qualifier: "MobileSync", markers: markers)
        == "SalesforceMobileSDK/\(SDKVersion.current) Linux/12 (x86_64) Kiosk/1.2(3) "
        + "NativeMobileSync uid_id-1 ftr_ai.SY.US")
    agent.installationId = ""
    #expect(agent.text(markers: FeatureMarkers()).hasSuffix(" Native ftr_"))
    var request = RestRequest.limits()
    request.userAgentQualifier = "MobileSync"
    let sent = try client.wire(request, as: account).headers[.userAgent]
    #expect(sent?.contains(" NativeMobileSync ") == true)
  }

  @Test(.covers("CO-10.1"), arguments: ["Hybrid", "HybridLocal", "ReactNative"])
  func `the type of the application stands in the user agent`(type: String) {
    var agent = UserAgent(appName: "Kiosk")
    agent.appType = type
    #expect(agent.text(markers: FeatureMarkers()).hasSuffix(" Kiosk/1.0 \(type) ftr_"))
    #expect(agent.text(qualifier: "MobileSync").contains(" \(type)MobileSync "))
  }

  @Test(.covers("CO-12.1"))
  func `the program names itself, and a blank name leaves the former one`() throws {
    let executable = URL(filePath: try #require(CommandLine.arguments.first)).lastPathComponent
    #expect(UserAgent().appName == executable)
    #expect(UserAgent(appName: " ").appName == executable)
    var agent = UserAgent(appName: "Kiosk", appVersion: "1.2(345)")
    for blank in ["", " \n"] {
      agent.appName = blank
      #expect(agent.appName == "Kiosk")
    }
    agent.appName = "Depot"
    #expect(agent.text().contains(" Depot/1.2(345) "))
  }

  #if os(Linux)
    @Test(.covers("CO-180.2", "HT-94.1"))
    func `system, version and architecture are those of the machine`() throws {
      let agent = UserAgent()
      let release = try String(contentsOfFile: "/etc/os-release", encoding: .utf8)
      let line = try #require(
        release.split(separator: "\n").first { $0.hasPrefix("VERSION_ID=") })
      let version = line.dropFirst("VERSION_ID=".count).replacing("\"", with: "")
      #expect(agent.systemName == "Linux" && agent.systemVersion == version)
      var names = utsname()
      #expect(uname(&names) == 0)
      let machine = withUnsafeBytes(of: names.machine) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      #expect(agent.model == (machine == "aarch64" ? "arm64" : machine))
    }
  #endif

  @Test(.covers("CO-128.1"))
  func `the token goes to servers of the account and to hosts that the app names`()
    throws
  {
    let client = RestClient(
      transport: ScriptedTransport([]),
      redirects: RedirectRule(trustedHostSuffixes: RedirectRule.platformHostSuffixes))
    #expect(throws: RestError.self) {
      try self.client.wire(RestRequest(path: "https://other.force.com/x"), as: account)
    }
    for allowed in [
      "https://acme.my.salesforce.com/x", "https://login.salesforce.com/x",
      "https://other.force.com/x",
    ] {
      #expect(
        try client.wire(RestRequest(path: allowed), as: account).headers[.authorization] != nil)
    }
    for foreign in [
      "https://example.com/x", "https://evilsalesforce.com/x", "https://salesforce.com.example.com",
      "https://acme.my.salesforce.com.evil.org/x", "https://acme.my.salesforce.com@evil.org/x",
    ] {
      #expect {
        _ = try client.wire(RestRequest(path: foreign), as: account)
      } throws: {
        ($0 as? RestError)?.code == .invalidRequest
      }
    }
  }

  @Test(arguments: [
    ("https://example.com", true), ("http://127.0.0.1:8080/x", true), ("http://localhost", true),
    ("http://[::1]:80/", true), ("http://127.255.3.4", true), ("http://example.com", false),
    ("http://127.0.0.1.example.com", false), ("http://127.0.0.256", false),
    ("http://128.0.0.1", false), ("http://localhost.example.com", false),
    ("ftp://localhost", false),
    ("file:///etc/passwd", false), ("http://127.1", false), ("https:///x", false),
    ("http://10.0.0.1", false), ("http://127.0.0.1@evil.org", false),
  ])
  func `plain http is for this machine alone`(address: String, isAllowed: Bool) throws {
    #expect(URL(string: address)?.isAllowedForTransport ?? false == isAllowed)
  }
}
