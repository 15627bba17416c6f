/// A call of the SOAP API, and the forms of its responses.
struct SOAPCall {
  /// Which of the platform's two descriptions the client was made from.
  enum Form: String {
    case partner, enterprise
  }

  let form: Form
  /// The name of the call, such as `create`.
  let name: String
  /// Its arguments.
  let element: XMLElement
  /// The version in the path, such as `66.0`.
  let version: String
  private let header: XMLElement?

  /// - Returns: nil if the request's body is no envelope with a call.
  init?(_ request: OrgRequest) {
    guard let envelope = XMLElement(parsing: request.body),
      let call = envelope["Body"]?.children.first
    else { return nil }
    element = call
    name = call.name
    header = envelope["Header"]
    form = request.path.count > 2 && request.path[2].lowercased() == "c" ? .enterprise : .partner
    version = request.path.count > 3 ? request.path[3] : "66.0"
  }

  var sessionID: String { header?["SessionHeader"]?["sessionId"]?.text ?? "" }

  /// Whether all records are undone if one of them fails. Default: false.
  var allOrNone: Bool { header?["AllOrNoneHeader"]?["allOrNone"]?.text == "true" }

  /// How many records a page of a query has; nil: the usual number.
  var batchSize: String? { header?["QueryOptions"]?["batchSize"]?.text }

  /// A response whose element holds `body`.
  func response(_ body: String) -> OrgResponse {
    Self.envelope(
      200, "<\(name)Response>\(body)</\(name)Response>", "urn:\(form.rawValue).soap.sforce.com",
      "urn:sobject.\(form.rawValue).soap.sforce.com")
  }

  /// The response to a call that fails. SOAP gives every fault the status 500.
  static func fault(_ code: String, _ message: String, form: Form = .partner) -> OrgResponse {
    let type =
      switch code {
      case "MALFORMED_QUERY": "MalformedQueryFault"
      case "MALFORMED_SEARCH": "MalformedSearchFault"
      case "INVALID_FIELD": "InvalidFieldFault"
      case "INVALID_TYPE": "InvalidSObjectFault"
      case "INVALID_QUERY_LOCATOR": "InvalidQueryLocatorFault"
      case "MALFORMED_ID", "INVALID_ID_FIELD": "InvalidIdFault"
      case "INVALID_LOGIN": "LoginFault"
      default: "UnexpectedErrorFault"
      }
    return envelope(
      500,
      """
      <soapenv:Fault><faultcode>sf:\(code)</faultcode>\
      <faultstring>\(XMLText.escaped(message))</faultstring>\
      <detail><sf:\(type) xsi:type="sf:\(type)"><sf:exceptionCode>\(code)</sf:exceptionCode>\
      <sf:exceptionMessage>\(XMLText.escaped(message))</sf:exceptionMessage></sf:\(type)>\
      </detail></soapenv:Fault>
      """, "urn:\(form.rawValue).soap.sforce.com", "urn:fault.\(form.rawValue).soap.sforce.com")
  }

  private static func envelope(
    _ status: Int, _ body: String, _ namespace: String, _ inner: String
  ) -> OrgResponse {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope \
      xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns="\(namespace)" \
      xmlns:sf="\(inner)" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\
      <soapenv:Body>\(body)</soapenv:Body></soapenv:Envelope>
      """
    return OrgResponse(
      status: status, body: Array(text.utf8), contentType: "text/xml; charset=utf-8")
  }
}
