import SalesforceSDKCommon
import SalesforceSDKCore
import Testing

/// Does the message of an error in a boot configuration say what helps?
@Suite struct BootConfigurationRemediesTests {
  @Test(arguments: [
    (BootConfigurationError.Code.noConsumerKey, "remoteAccessConsumerKey", "consumer key"),
    (.noRedirectURI, "oauthRedirectURI", "sfdc://done"),
  ])
  func `a member that is missing is named, and with it the configuration is read`(
    code: BootConfigurationError.Code, member: String, value: String
  ) throws {
    var members: JSONObject = [
      "remoteAccessConsumerKey": "key", "oauthRedirectURI": "app://done", "oauthScopes": ["api"],
    ]
    members[member] = nil
    let error = #expect(throws: BootConfigurationError.self) { try BootConfiguration(members) }
    #expect(error?.code == code && error?.message.contains("\(member). Add it") == true)
    members[member] = .string(value)
    let app = try BootConfiguration(members).app
    #expect(app.clientId == value || app.redirectURI == value)
  }
}
