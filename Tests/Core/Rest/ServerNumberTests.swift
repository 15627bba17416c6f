import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore

/// Numbers of a server that no honest server sends.
@Suite struct ServerNumberTests {
  @Test(arguments: [
    "-9223372036854775808", "-1", "0", "1", "9223372036854775807", "1e300", "-1e300", "\"9\"",
  ])
  func `times of a device code are bounded`(number: String) async throws {
    for members in [#""expires_in":\#(number)"#, #""interval":\#(number)"#] {
      let text: String = """
        {"device_code":"d","user_code":"u","verification_uri":"https://a.example/",\(members)}
        """
      await #expect(processExitsWith: .success) { [text = text as String] in
        let code = try DeviceCode(JSONSlice(parsing: text))
        precondition((.seconds(1)...Duration.seconds(86_400)).contains(code.lifetime))
        precondition((.seconds(1)...Duration.seconds(3_600)).contains(code.interval))
      }
    }
  }

  @Test(arguments: [
    "-9223372036854775808", "9223372036854775807", "99999999999999999999", "-1",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT",
  ])
  func `the wait that a server asks for is bounded`(text: String) {
    let fields: HTTPFields = [.retryAfter: text]
    let wait = fields.retryAfter(now: SalesforceDate(Date())) ?? .zero
    #expect((.zero...Duration.seconds(86_400)).contains(wait))
  }
}
