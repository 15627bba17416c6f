/// The SOAP calls that clients of the REST API still make: login and logout, and who and when it is.
extension LoginService {
  /// Responds to the call that opens a session.
  func soapLogin(_ call: SOAPCall) -> OrgResponse {
    let version = call.version
    let username = call.element["username"]?.text ?? ""
    let given = call.element["password"]?.text ?? ""
    guard let user = user(named: username), Self.isPassword(given, of: user) else {
      return SOAPCall.fault(
        "INVALID_LOGIN",
        "INVALID_LOGIN: Invalid username, password, security token; or user locked out.",
        form: call.form)
    }
    let session = sessions.open(userID: user.id, clientID: "SOAP", now: now)
    let url = "\(baseURL)/services/Soap/u/\(version)/\(organizationID.prefix(15))"
    return call.response(
      """
      <result>\
      <metadataServerUrl>\(XMLText.escaped(
        "\(baseURL)/services/Soap/m/\(version)/\(organizationID.prefix(15))"))</metadataServerUrl>\
      <passwordExpired>false</passwordExpired><sandbox>\(options.isSandbox)</sandbox>\
      <serverUrl>\(XMLText.escaped(url))</serverUrl>\
      <sessionId>\(XMLText.escaped(session))</sessionId><userId>\(user.id)</userId>\
      <userInfo>\(userInfo(of: user))</userInfo></result>
      """)
  }

  private func userInfo(of user: LoginUser) -> String {
    [
      ("organizationId", organizationID), ("organizationName", options.organizationName),
      ("profileId", user.profileID),
      ("sessionSecondsValid", String(options.accessTokenLifetime.components.seconds)),
      ("userEmail", user.email), ("userFullName", "\(user.firstName) \(user.lastName)"),
      ("userId", user.id), ("userLanguage", "en_US"), ("userLocale", "en_US"),
      ("userName", user.username), ("userTimeZone", "GMT"), ("userType", "Standard"),
    ].map { XMLText.element($0.0, $0.1) }.joined()
  }

  /// Responds to a call about a session; nil if the call is about something else.
  func soap(_ call: SOAPCall, of user: LoginUser) -> OrgResponse? {
    switch call.name {
    case "logout":
      sessions.expire(call.sessionID)
      return call.response("")
    case "getServerTimestamp":
      return call.response(
        "<result><timestamp>\(DateText.dateTime(now))</timestamp></result>")
    case "getUserInfo": return call.response("<result>\(userInfo(of: user))</result>")
    default: return nil
    }
  }
}
