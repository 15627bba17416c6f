import Foundation
import SalesforceHybridSDK
import TestSupport
import Testing

/// Whose pages are shown, and may call the bridge?
struct AllowedOriginsTests {
  @Test(
    .covers("HT-4"),
    arguments: [
      ("https://localhost/index.html", true), ("https://acme.my.salesforce.com/apex/P", true),
      ("https://ACME.Force.com/", true), ("https://c.visualforce.com/", true),
      ("https://x.documentforce.com/", true), ("https://y.salesforce-communities.com/", true),
      ("http://acme.my.salesforce.com/", false), ("https://salesforce.com/", false),
      ("https://evilsalesforce.com/", false), ("https://salesforce.com.evil.example/", false),
      ("https://acme.salesforce.com:8443/", false), ("http://localhost/", false),
      ("https://localhost:8443/", false), ("https://localhost.evil.example/", false),
      ("https://user@acme.salesforce.com/", false), ("file:///etc/passwd", false),
      ("javascript:alert(1)", false), ("https://127.0.0.1/", false),
    ])
  func `the platform's https hosts and localhost are allowed, and nothing like them`(
    _ address: String, _ isAllowed: Bool
  ) throws {
    let url = try #require(URL(string: address))
    #expect(AllowedOrigins.standard.admits(url) == isAllowed)
  }

  @Test(.covers("HT-4"))
  func `an app adds hosts and domains, but not every page`() throws {
    var origins = AllowedOrigins.standard
    for text in ["app.example.com", "https://*.acme.example:8443", "http://127.0.0.1:8080"] {
      let isAdded = origins.add(text)
      #expect(isAdded, "\(text)")
    }
    for text in [
      "*", "https://*", "*.com*", "http://app.example.com", "http://*.localhost", "file://x", "",
      "https://*.", "https://*.com", "https://u@x.example",
    ] {
      let isAdded = origins.add(text)
      #expect(!isAdded, "\(text)")
    }
    for (origin, isAllowed) in [
      ("https://app.example.com", true), ("https://sub.app.example.com", false),
      ("https://x.acme.example:8443", true), ("https://x.acme.example", false),
      ("http://127.0.0.1:8080", true), ("http://127.0.0.1:8081", false), ("null", false),
      ("https://app.example.com/x", false), ("", false),
    ] {
      #expect(origins.admits(origin: origin) == isAllowed, "\(origin)")
    }
  }
}
