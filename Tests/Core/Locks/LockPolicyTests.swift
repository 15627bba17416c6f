import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What does an org demand?
struct LockPolicyTests {
  private func policy(_ json: String) throws -> LockPolicy? {
    LockPolicy(UserProfile(response: try JSONSlice(parsing: json)))
  }

  @Test(.covers("CO-154")) func `a mobile policy has minutes and digits`() throws {
    #expect(
      try policy(#"{"mobile_policy":{"screen_lock":"10","pin_length":6}}"#)
        == LockPolicy(timeoutMinutes: 10, passcodeLength: 6))
    for none in [
      "{}", #"{"mobile_policy":null}"#, #"{"mobile_policy":{}}"#,
      #"{"mobile_policy":{"screen_lock":0,"pin_length":4}}"#,
      #"{"mobile_policy":{"screen_lock":-5}}"#, #"{"mobile_policy":{"screen_lock":"soon"}}"#,
    ] {
      #expect(try policy(none) == nil, "\(none)")
    }
  }

  @Test(.covers("CO-154")) func `numbers out of range end at the limits`() throws {
    let huge = try policy(
      #"{"mobile_policy":{"screen_lock":9223372036854775807,"pin_length":"9223372036854775807"}}"#)
    #expect(huge?.timeoutMinutes == LockPolicy.maxTimeoutMinutes)
    #expect(huge?.passcodeLength == LockPolicy.maxPasscodeLength)
    let low = try policy(#"{"mobile_policy":{"screen_lock":1,"pin_length":-9}}"#)
    #expect(low == LockPolicy(timeoutMinutes: 1))
  }

  @Test(
    .covers("CO-154"),
    arguments: [
      (#""true""#, true), (#""1""#, true), ("true", true), (#"" TRUE ""#, true), (#""yes""#, true),
      (#""false""#, false), (#""0""#, false), ("false", false), (#""""#, false), ("null", false),
    ])
  func `the text of the biometric attribute counts, not its presence`(value: String, isOn: Bool)
    throws
  {
    let policy = try policy(
      #"{"custom_attributes":{"ENABLE_BIOMETRIC_AUTHENTICATION":\#(value)}}"#)
    #expect(policy == (isOn ? LockPolicy(timeoutMinutes: 15, isBiometric: true) : nil))
  }

  @Test(.covers("CO-154")) func `biometric authentication wins, and waits for 15 minutes at least`()
    throws
  {
    for (minutes, expected) in [(#""20""#, 20), ("30", 30), (#""5""#, 15), (#""x""#, 15)] {
      let policy = try policy(
        """
        {"mobile_policy":{"screen_lock":1,"pin_length":5},"custom_attributes":{
        "ENABLE_BIOMETRIC_AUTHENTICATION":"true","BIOMETRIC_AUTHENTICATION_TIMEOUT":\(minutes)}}
        """)
      #expect(
        policy == LockPolicy(timeoutMinutes: expected, passcodeLength: 5, isBiometric: true))
    }
    let forbidden = try policy(
      #"{"mobile_policy":{"screen_lock":1},"custom_attributes":{"BIOMETRIC_UNLOCK":"false"}}"#)
    #expect(forbidden?.allowsBiometricUnlock == false)
  }

  @Test(.covers("CO-155", "BX-95.1")) func `the strictest of each demand holds for all users`() {
    let policies = [
      LockPolicy(timeoutMinutes: 20, passcodeLength: 8),
      LockPolicy(timeoutMinutes: 15, isBiometric: true),
      LockPolicy(timeoutMinutes: 30, passcodeLength: 4, allowsBiometricUnlock: false),
    ]
    #expect(
      LockPolicy.strictest(policies)
        == LockPolicy(
          timeoutMinutes: 15, passcodeLength: 8, isBiometric: true, allowsBiometricUnlock: false))
    #expect(LockPolicy.strictest([]) == nil)
  }
}
