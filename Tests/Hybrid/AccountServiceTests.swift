import Foundation
import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import TestSupport
import Testing

/// What do pages receive of accounts, requests and facts about the app?
struct AccountServiceTests {
  static let oauth = "com.salesforce.oauth"
  static let manager = "com.salesforce.sfaccountmanager"
  static let network = "com.salesforce.network"

  @Test(.covers("HT-7"))
  func `the credentials have all keys, and null where there is no value`() async throws {
    try await TestHost.withOrg { host, _ in
      let page = try Page(host.bridge)
      let account = try #require(await host.accounts.current)
      let credentials = try await page.value(Self.oauth, "getAuthCredentials")
      for key in [
        "accessToken", "refreshToken", "clientId", "userId", "orgId", "loginUrl", "identityUrl",
        "instanceUrl", "userAgent", "communityId", "communityUrl",
      ] {
        #expect(credentials?[key] != nil, "\(key)")
      }
      #expect(credentials?["communityId"] == .null)
      #expect(credentials?["userId"] == .string(account.userId))
      #expect(credentials?["accessToken"]?.string == account.credentials.accessToken)
      let agent = try #require(credentials?["userAgent"]?.string)
      #expect(agent.hasPrefix("SalesforceMobileSDK/") && agent.contains(" HybridLocal "))
      #expect(try await page.value(Self.oauth, "authenticate")?["userId"] != nil)
      #expect(try await page.value(Self.oauth, "getAppHomeUrl") == "")
      let other = try Page(host.bridge)
      #expect(try await page.value(Self.oauth, "logoutCurrentUser") == nil)
      _ = await page.frame { $0["event"] == "fieldforceReload" }
      _ = await other.frame { $0["event"] == "fieldforceReload" }
      #expect(try await page.value(Self.oauth, "logoutCurrentUser") == nil)
      #expect(try await page.failure(Self.oauth, "getAuthCredentials") == "Not authenticated")
    }
  }

  @Test(.covers("HT-7"))
  func `authenticate without a user fails on a host that offers no login`() async throws {
    try await TestHost.with { host in
      let page = try Page(host.bridge)
      #expect(try await page.failure(Self.oauth, "authenticate").hasPrefix("Not authenticated"))
    }
  }

  @Test(.covers("HT-10", "CO-76.4"))
  func `users are listed by the keys of the table, and found by org and user`() async throws {
    try await TestHost.withOrg { host, _ in
      let page = try Page(host.bridge)
      let user = try #require(try await page.value(Self.manager, "getCurrentUser"))
      for key in [
        "authToken", "refreshToken", "loginServer", "idUrl", "instanceServer", "orgId", "userId",
        "username", "clientId", "communityId", "communityUrl", "firstName", "lastName",
        "displayName", "email", "photoUrl", "thumbnailUrl",
      ] {
        #expect(user[key] != nil, "\(key)")
      }
      let account = try #require(await host.accounts.current)
      #expect(user["userId"] == .string(account.userId))
      #expect(user["displayName"] == account.profile.displayName.map { .string($0) })
      #expect(user["email"] == account.profile.email.map { .string($0) })
      #expect(user["communityId"] == .null)
      #expect(try await page.value(Self.manager, "getUsers") == [user])
      #expect(try await page.value(Self.manager, "switchToUser", user) == nil)
      let unknown: JSONValue = ["orgId": "00D000000000009AAA", "userId": "005000000000009AAA"]
      #expect(
        try await page.failure(Self.manager, "switchToUser", unknown).contains("no such account"))
      #expect(try await page.failure(Self.manager, "switchToUser", [:]).contains("userId"))
      #expect(try await page.value(Self.manager, "logout", .null) == nil)
      #expect(try await page.value(Self.manager, "getCurrentUser") == [:])
      #expect(try await page.value(Self.manager, "getUsers") == [])
      #expect(try await page.value(Self.manager, "logout", .null) == nil)
    }
  }

  @Test(.covers("HT-9"))
  func `sdkinfo names the plug-ins, the app and its boot configuration`() async throws {
    try await TestHost.with(
      plugins: [Echo()],
      adjust: { host in
        host.app.name = "Notes"
        host.app.bootConfiguration = ["startPage": "index.html"]
      }
    ) { host in
      let page = try Page(host.bridge)
      let info = try await page.value("com.salesforce.sdkinfo", "getInfo")
      #expect(info?["sdkVersion"] == "14.0.0")
      #expect(info?["fieldforceVersion"] == .string(SDKVersion.current))
      #expect(info?["appName"] == "Notes")
      #expect(info?["appVersion"] == "")
      #expect(info?["bootConfig"] == ["startPage": "index.html"])
      #expect(
        info?["forcePluginsAvailable"] == [
          "com.salesforce.oauth", "com.salesforce.network", "com.salesforce.sdkinfo",
          "com.salesforce.sfaccountmanager", "com.salesforce.smartstore",
          "com.salesforce.mobilesync",
        ])
      let feature: JSONValue = ["feature": "QQ"]
      _ = try await page.value("com.salesforce.sdkinfo", "registerAppFeature", feature)
      #expect(FeatureMarkers.shared.text.contains("QQ"))
      _ = try await page.value("com.salesforce.sdkinfo", "unregisterAppFeature", feature)
      #expect(!FeatureMarkers.shared.text.contains("QQ"))
      _ = try await page.value(
        "com.salesforce.sdkinfo", "registerAppFeature", ["feature": ""])
      for wrong in ["a b", "é", "\r\nX: y", "\u{0}", String(repeating: "x", count: 33)] {
        #expect(
          try await page.failure(
            "com.salesforce.sdkinfo", "registerAppFeature", ["feature": .string(wrong)]
          ).contains("feature"))
      }
    }
  }

  @Test(.covers("HT-14"))
  func `the test runner is an unknown service unless the host offers it`() async throws {
    try await TestHost.with { host in
      let page = try Page(host.bridge)
      #expect(
        try await page.failure("com.salesforce.testrunner", "onReadyForTests")
          .hasPrefix("invalid action"))
    }
    try await TestHost.with(plugins: [TestRunnerPlugin()]) { host in
      let page = try Page(host.bridge)
      #expect(try await page.value("com.salesforce.testrunner", "onReadyForTests") == nil)
      #expect(
        try await page.value(
          "com.salesforce.testrunner", "onTestComplete", ["testName": "t"]) == nil)
    }
  }

  @Test(.covers("HT-8"))
  func `a page reads and writes records, and gets failures as a text of JSON`() async throws {
    try await TestHost.withOrg { host, _ in
      let page = try Page(host.bridge)
      let send = { (message: JSONValue) in
        try await page.value(Self.network, "pgSendRequest", message)
      }
      let endPoint: JSONValue = "/services/data"
      let made = try await send([
        "endPoint": endPoint, "path": "/v66.0/sobjects/Account/", "method": "POST",
        "queryParams": ["Name": "Ada & Co"], "headerParams": [:], "fileParams": [:],
      ])
      let id = try #require(made?["id"]?.string)
      let record: JSONValue = [
        "endPoint": endPoint, "path": .string("/v66.0/sobjects/Account/\(id)"),
        "queryParams": ["fields": ["Id", "Name"]],
      ]
      #expect(try await send(record)?["Name"] == "Ada & Co")
      // An update has no body in its response, so the callback has no argument.
      var update = record
      update["method"] = "PATCH"
      update["queryParams"] = ["Name": "Grace"]
      #expect(try await send(update) == nil)
      // As pages write it: blanks and quotes in the path.
      let query = try await send([
        "endPoint": endPoint, "path": "/v66.0/query?q=SELECT Id FROM Account WHERE Name = 'Grace'",
        "method": "GET",
      ])
      #expect(query?["totalSize"] == 1)
      var binary = record
      binary["returnBinary"] = true
      let body = try await send(binary)
      #expect(body?["contentType"]?.string?.hasPrefix("application/json") == true)
      let bytes = try #require(Data(base64Encoded: body?["encodedBody"]?.string ?? ""))
      #expect(String(decoding: bytes, as: UTF8.self).contains("Grace"))

      var missing = record
      missing["path"] = "/v66.0/sobjects/Account/001000000000000AAA"
      let failure = try await page.failure(Self.network, "pgSendRequest", missing)
      let json = try JSONValue(parsing: failure)
      #expect(json["error"]?.string != nil)
      #expect(json["response"]?["statusCode"] == 404)
      #expect(json["response"]?["body"]?[0]?["errorCode"] == "NOT_FOUND")
      #expect(json["response"]?["headers"]?.object?.isEmpty == false)
    }
  }

  @Test(.covers("HT-8"))
  func `a request that cannot be made fails with a text of JSON, and is not sent`()
    async throws
  {
    try await TestHost.withOrg { host, org in
      let page = try Page(host.bridge)
      org.clearRequestLog()
      for (message, text): (JSONValue, String) in [
        (["path": "/x", "method": "TRACE"], "method"),
        (["path": "/x", "queryParams": "a"], "queryParams"),
        (["path": "/x", "headerParams": ["a b": "c"]], "headerParams"),
        (["path": "/x", "headerParams": ["a": "b\r\nc: d"]], "headerParams"),
        (["path": 7], "path"),
        (
          [
            "path": "/x", "method": "POST",
            "fileParams": ["f": ["fileUrl": "file:///etc/passwd", "fileName": "p"]],
          ], "access"
        ),
      ] {
        let failure = try await page.failure(Self.network, "pgSendRequest", message)
        #expect(try JSONValue(parsing: failure)["error"]?.string?.contains(text) == true)
      }
      #expect(org.requestLog.isEmpty)
    }
  }

  @Test(.covers("HT-20"))
  func `without a user only requests that need no login are sent`() async throws {
    try await TestHost.with { host in
      let page = try Page(host.bridge)
      let failure = try await page.failure(
        Self.network, "pgSendRequest", ["endPoint": "/services/data", "path": "/"])
      #expect(try JSONValue(parsing: failure) == ["error": "No user account found"])
    }
  }
}
