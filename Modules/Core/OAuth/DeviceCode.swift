public import Foundation
import SalesforceSDKCommon

/// What a person enters in a browser elsewhere to let a device without one log in.
public struct DeviceCode: Sendable {
  /// The code to show.
  public let userCode: String
  /// Where to enter it.
  public let verificationURL: URL
  /// How long the server accepts it.
  public let lifetime: Duration

  let deviceCode: String
  let interval: Duration

  /// What servers that name no time mean.
  private static let usualLifetime: Int64 = 600
  private static let usualInterval: Int64 = 5

  init(_ json: JSONSlice) throws(OAuthError) {
    guard let device = json["device_code"]?.string, let user = json["user_code"]?.string,
      let url = json["verification_uri"]?.string.flatMap({ URL(string: $0) }),
      url.isAllowedForTransport
    else {
      throw OAuthError(
        .malformedResponse, "the answer to the request for a device code lacks a code or an address"
      )
    }
    deviceCode = device
    userCode = user
    verificationURL = url
    lifetime = .seconds(json["expires_in"]?.int64 ?? Self.usualLifetime)
    interval = .seconds(max(1, json["interval"]?.int64 ?? Self.usualInterval))
  }
}

/// What the person sees, not what the device keeps.
extension DeviceCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "code \(userCode) at \(verificationURL)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["userCode": userCode]) }
}
