/// The SOAP login: the one SOAP call that clients of the REST API still make.
extension LoginService {
  /// Answers `login`; any other call, and whatever is no envelope, gets a fault.
  func soapLogin(_ request: OrgRequest) -> OrgAnswer {
    guard request.method == "POST" else {
      return OrgAnswer(.methodNotAllowed(request.method, allowed: "POST"))
    }
    let version = request.path.count > 3 ? request.path[3] : "66.0"
    let envelope = String(decoding: request.body, as: UTF8.self)
    guard XMLText.content(of: "login", in: envelope) != nil else {
      return fault(
        "UNKNOWN_EXCEPTION", "No operation available for request, please check the WSDL.")
    }
    let username = XMLText.content(of: "username", in: envelope) ?? ""
    let given = XMLText.content(of: "password", in: envelope) ?? ""
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

/// As much XML as the login envelope needs.
enum XMLText {
  /// The text inside the first element of a local name, whatever its prefix; nil if there is none.
  static func content(of name: String, in text: String) -> String? {
    var rest = text[...]
    while let open = rest.firstIndex(of: "<") {
      let tag = rest[rest.index(after: open)...].prefix { $0 != ">" }
      guard tag.endIndex < rest.endIndex else { return nil }
      let qualified = tag.prefix { !$0.isWhitespace && $0 != "/" }
      let local = qualified.split(separator: ":").last ?? ""
      let after = rest[rest.index(after: tag.endIndex)...]
      if local == name, !tag.hasPrefix("/") {
        if tag.hasSuffix("/") { return "" }
        guard let end = after.firstRange(of: "</\(qualified)") else { return nil }
        return unescaped(String(after[..<end.lowerBound]))
      }
      rest = after
    }
    return nil
  }

  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  private static func unescaped(_ text: String) -> String {
    text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
      .replacing("&apos;", with: "'").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
  }
}
