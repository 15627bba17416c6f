public import SalesforceSDKCommon

/// The response of the reCAPTCHA service, which proves to the server that the user is a person
/// (CO-50).
public struct CaptchaResponse: Sendable {
  let member: (name: String, value: JSONValue)

  /// Returns the response with a token of the standard service.
  public static func token(_ token: String) -> CaptchaResponse {
    CaptchaResponse(member: ("recaptcha", .string(token)))
  }

  /// Returns the response with a token of the enterprise service.
  public static func enterprise(token: String, siteKey: String, projectId: String)
    -> CaptchaResponse
  {
    CaptchaResponse(
      member: (
        "recaptchaevent",
        [
          "token": .string(token), "siteKey": .string(siteKey), "expectedAction": "login",
          "projectId": .string(projectId),
        ]
      ))
  }
}

/// The channel of a one-time code.
public struct VerificationMethod: Sendable, Hashable {
  /// The name in requests.
  public let rawValue: String
  /// By mail.
  public static let email = VerificationMethod(rawValue: "email")
  /// To a phone.
  public static let sms = VerificationMethod(rawValue: "sms")
}

/// A registration at a community.
public struct UserRegistration: Sendable {
  /// The mail address.
  public var email: String
  /// The user name, which looks like a mail address.
  public var username: String
  /// The first name.
  public var firstName: String
  /// The last name.
  public var lastName: String
  /// The password.
  public var password: String
  /// Further members that the org's registration handler reads.
  public var additionalData: JSONObject

  /// Creates the description of a new user.
  public init(
    email: String, username: String, firstName: String, lastName: String, password: String,
    additionalData: JSONObject = [:]
  ) {
    self.email = email
    self.username = username
    self.firstName = firstName
    self.lastName = lastName
    self.password = password
    self.additionalData = additionalData
  }
}

/// A login or registration whose one-time code has not been entered yet.
public struct PendingVerification: Sendable {
  enum Purpose: String, Sendable {
    case login = "passwordless-login"
    case registration = "user-registration"
  }
  let identifier: String
  let purpose: Purpose
  let method: VerificationMethod
}

/// The rules that are checked before anything is sent (CO-50).
enum HeadlessRules {
  private static let maxUsername = 80
  private static let minPassword = 8
  private static let maxPasswordBytes = 16_000

  static func username(_ text: String) throws(OAuthError) -> String {
    let name = text.trimmed
    guard name.count <= maxUsername, isMailAddress(name) else {
      throw OAuthError(
        .invalidUsername,
        "A user name has at most \(maxUsername) characters and looks like a mail address.")
    }
    return name
  }

  static func email(_ text: String) throws(OAuthError) -> String {
    let address = text.trimmed
    guard isMailAddress(address) else {
      throw OAuthError(
        .invalidEmail, "The mail address is not one. Give one like name@example.com.")
    }
    return address
  }

  static func password(_ text: String) throws(OAuthError) -> String {
    let password = text.trimmed
    guard password.count >= minPassword, password.utf8.count <= maxPasswordBytes,
      password.contains(where: \.isLetter), password.contains(where: \.isNumber)
    else {
      throw OAuthError(
        .invalidPassword,
        "A password has at least \(minPassword) characters with a letter and a digit, and at most "
          + "\(maxPasswordBytes) bytes.")
    }
    return password
  }

  /// Whether a text has one `@` between a name and a domain with an inner dot, and no whitespace.
  private static func isMailAddress(_ text: String) -> Bool {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    guard sides.count == 2, !sides[0].isEmpty, !text.contains(where: \.isWhitespace),
      !text.contains(where: { "<>(),;:\\\"[]".contains($0) })
    else { return false }
    let labels = sides[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
  }
}

/// The description is empty, because a registration is personal data and a password.
extension UserRegistration: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  public var description: String { "registration" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension CaptchaResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  /// The description contains the kind of proof, never its token.
  public var description: String { member.name }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
