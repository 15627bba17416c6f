extension MockOrg {
  /// Responds to a call of the SOAP API.
  func soap(
    _ request: OrgRequest, _ login: LoginService, _ circumstances: Circumstances
  ) async -> OrgResponse {
    guard request.path.count > 2, ["u", "c"].contains(request.path[2].lowercased()) else {
      return OrgResponse(.notFound())
    }
    guard request.method == "POST" else {
      return OrgResponse(.methodNotAllowed(request.method, allowed: "POST"))
    }
    guard let call = SOAPCall(request) else {
      return SOAPCall.fault(
        "UNKNOWN_EXCEPTION", "No operation available for request, please check the WSDL.")
    }
    if call.name == "login" { return login.soapLogin(call) }
    guard let session = sessions.session(call.sessionID, now: login.now),
      let user = login.user(session.userID)
    else {
      return SOAPCall.fault(
        "INVALID_SESSION_ID", "INVALID_SESSION_ID: Invalid Session ID found in SessionHeader",
        form: call.form)
    }
    if let response = login.soap(call, of: user) { return response }
    guard SOAPService.calls.contains(call.name) else {
      return SOAPCall.fault(
        "UNKNOWN_EXCEPTION",
        "No operation available for request \(call.name), please check the WSDL.", form: call.form)
    }
    guard let version = RESTVersions.number("v\(call.version)") else {
      return SOAPCall.fault(
        "UNSUPPORTED_API_VERSION", "UNSUPPORTED_API_VERSION: Invalid Api version specified on URL",
        form: call.form)
    }
    return await perform(request, session, version, login, circumstances) { service in
      try SOAPService(rest: service, call: call).respond()
    }
  }
}
