/// The SOAP login: the one SOAP call that clients of the REST API still make.
extension LoginService {
  /// Answers `login`; any other call, and whatever is no envelope, gets a fault.
  func soapLogin(_ request: OrgRequest) -> OrgAnswer {
    guard request.method == "POST" else {
      return OrgAnswer(.methodNotAllowed(request.method, allowed: "POST"))
    }
    let version = request.path.count > 3 ? request.path[3] : "66.0"
    guard let login = XMLElement(parsing: request.body)?["Body"]?["login"] else {
      return fault(
        "UNKNOWN_EXCEPTION", "No operation available for request, please check the WSDL.")
    }
    let username = login["username"]?.text ?? ""
    let given = login["password"]?.text ?? ""
    // Clients put the security token behind the password.
    let user = users.first {
      $0.username.lowercased() == username.trimmingBlanks().lowercased()
        && given.hasPrefix($0.password)
    }
    guard let user else {
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
      <passwordExpired>false</passwordExpired><sandbox>false</sandbox>\
      <serverUrl>\(XMLText.escaped(url))</serverUrl>\
      <sessionId>\(XMLText.escaped(session))</sessionId><userId>\(user.id)</userId>\
      <userInfo><organizationId>\(organizationID)</organizationId>\
      <organizationName>\(XMLText.escaped(options.organizationName))</organizationName>\
      <sessionSecondsValid>\(options.accessTokenLifetime.components.seconds)</sessionSecondsValid>\
      <userEmail>\(XMLText.escaped(user.email))</userEmail>\
      <userFullName>\(XMLText.escaped("\(user.firstName) \(user.lastName)"))</userFullName>\
      <userId>\(user.id)</userId><userLanguage>en_US</userLanguage><userLocale>en_US</userLocale>\
      <userName>\(XMLText.escaped(user.username))</userName><userTimeZone>GMT</userTimeZone>\
      <userType>Standard</userType></userInfo></result></loginResponse>
      """)
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
