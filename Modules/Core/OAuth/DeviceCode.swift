public import Foundation
import SalesforceSDKCommon

/// A code that the user enters in a browser on another device to log in.
public struct DeviceCode: Sendable {
  /// The code to show.
  public let userCode: String
  /// The address at which the user enters the code.
  public let verificationURL: URL
  /// The time for which the server accepts the code.
  public let lifetime: Duration

  let deviceCode: String
  let interval: Duration

  /// The lifetime if the server returns none, in seconds.
  private static let usualLifetime: Int64 = 600
  private static let usualInterval: Int64 = 5
  private static let longestInterval: Int64 = 3_600
  /// The maximum lifetime in seconds; a longer one in a response is limited to it.
  private static let longestLifetime: Int64 = 86_400

  init(_ json: JSONSlice) throws(OAuthError) {
    guard let device = json["device_code"]?.string, let user = json["user_code"]?.string,
      let url = json["verification_uri"]?.string.flatMap({ URL(string: $0) }),
      url.isAllowedForTransport
    else {
      throw OAuthError(
        .malformedResponse,
        "The response to the request for a device code lacks a code or an address."
      )
    }
    deviceCode = device
    userCode = user
    verificationURL = url
    let seconds = min(
      max(1, json["expires_in"]?.int64 ?? Self.usualLifetime), Self.longestLifetime)
    lifetime = .seconds(seconds)
    // At least one request is made within the lifetime.
    let longest = min(max(1, seconds - 1), Self.longestInterval)
    interval = .seconds(min(max(1, json["interval"]?.int64 ?? Self.usualInterval), longest))
  }
}

/// The description contains only the code for the user, without the secret of the device.
extension DeviceCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "code \(userCode) at \(verificationURL)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["userCode": userCode]) }
}
