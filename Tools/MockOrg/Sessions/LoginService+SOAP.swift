/// The SOAP calls that clients of the REST API still make: login and logout, and who and when it is.
extension LoginService {
  /// Answers a call; an unknown one, and whatever is no envelope, gets a fault.
  func soap(_ request: OrgRequest) -> OrgAnswer {
    guard request.method == "POST" else {
      return OrgAnswer(.methodNotAllowed(request.method, allowed: "POST"))
    }
    let envelope = XMLElement(parsing: request.body)
    guard let call = envelope?["Body"]?.children.first else {
      return fault(
        "UNKNOWN_EXCEPTION", "No operation available for request, please check the WSDL.")
    }
    if call.name == "login" { return soapLogin(request, call) }
    let token = envelope?["Header"]?["SessionHeader"]?["sessionId"]?.text ?? ""
    guard let session = sessions.session(token, now: now), let user = user(session.userID) else {
      return fault(
        "INVALID_SESSION_ID", "INVALID_SESSION_ID: Invalid Session ID found in SessionHeader")
    }
    switch call.name {
    case "logout":
      sessions.expire(token)
      return xml(200, "<logoutResponse/>")
    case "getServerTimestamp":
      return xml(
        200,
        "<getServerTimestampResponse><result><timestamp>\(DateText.dateTime(now))</timestamp></result>"
          + "</getServerTimestampResponse>")
    case "getUserInfo":
      return xml(
        200,
        "<getUserInfoResponse><result>\(userInfo(of: user))</result></getUserInfoResponse>")
    default:
      return fault(
        "UNKNOWN_EXCEPTION",
        "No operation available for request \(call.name), please check the WSDL.")
    }
  }

  private func soapLogin(_ request: OrgRequest, _ login: XMLElement) -> OrgAnswer {
    let version = request.path.count > 3 ? request.path[3] : "66.0"
    let username = login["username"]?.text ?? ""
    let given = login["password"]?.text ?? ""
    guard let user = user(named: username), Self.isPassword(given, of: user) else {
      return fault(
        "INVALID_LOGIN",
        "INVALID_LOGIN: Invalid username, password, security token; or user locked out.")
    }
    let session = sessions.open(userID: user.id, clientID: "SOAP", now: now)
    let url = "\(baseURL)/services/Soap/u/\(version)/\(organizationID.prefix(15))"
    return xml(
      200,
      """
      <loginResponse><result>\
      <metadataServerUrl>\(XMLText.escaped(
        "\(baseURL)/services/Soap/m/\(version)/\(organizationID.prefix(15))"))</metadataServerUrl>\
      <passwordExpired>false</passwordExpired><sandbox>\(options.isSandbox)</sandbox>\
      <serverUrl>\(XMLText.escaped(url))</serverUrl>\
      <sessionId>\(XMLText.escaped(session))</sessionId><userId>\(user.id)</userId>\
      <userInfo>\(userInfo(of: user))</userInfo></result></loginResponse>
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

  /// SOAP gives every fault the status 500.
  private func fault(_ code: String, _ message: String) -> OrgAnswer {
    xml(
      500,
      """
      <soapenv:Fault><faultcode>sf:\(code)</faultcode>\
      <faultstring>\(XMLText.escaped(message))</faultstring>\
      <detail><sf:LoginFault xsi:type="sf:LoginFault"><sf:exceptionCode>\(code)</sf:exceptionCode>\
      <sf:exceptionMessage>\(XMLText.escaped(message))</sf:exceptionMessage></sf:LoginFault>\
      </detail></soapenv:Fault>
      """)
  }

  private func xml(_ status: Int, _ body: String) -> OrgAnswer {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope \
      xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:partner.soap.sforce.com" \
      xmlns:sf="urn:fault.partner.soap.sforce.com" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>\(body)</soapenv:Body>\
      </soapenv:Envelope>
      """
    return OrgAnswer(
      status: status, body: Array(text.utf8), contentType: "text/xml; charset=utf-8")
  }
}
