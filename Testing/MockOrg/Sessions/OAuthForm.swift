import Foundation
import SalesforceSDKCommon

/// The forms of OAuth responses besides JSON, by the parameter `format` or the `Accept` header.
enum OAuthForm {
  private enum Kind { case json, xml, urlEncoded }

  private static func kind(_ request: OrgRequest) -> Kind {
    switch Form(request)["format"]?.lowercased() {
    case "xml": return .xml
    case "urlencoded": return .urlEncoded
    case "json": return .json
    default: break
    }
    let accept = request.headers["accept"]?.lowercased() ?? ""
    if accept.hasPrefix("application/x-www-form-urlencoded") { return .urlEncoded }
    return ResponseXML.isWanted(request) ? .xml : .json
  }

  /// A response of the token endpoint, an error too.
  static func tokens(_ response: OrgResponse, for request: OrgRequest) -> OrgResponse {
    guard let json = try? JSONSlice(parsing: response.body) else { return response }
    switch kind(request) {
    case .json: return response
    case .xml: return xml(response, json, "OAuth")
    case .urlEncoded:
      var encoded = response
      let pairs = json.members.map { key, value in
        (name: key, value: value.string ?? value.description)
      }
      encoded.body = Array(PercentEncoding.form(pairs).utf8)
      encoded.contentType = "application/x-www-form-urlencoded;charset=UTF-8"
      return encoded
    }
  }

  /// A response of the identity service: in XML, with a version in its addresses, or as a call of a page's function.
  static func identity(_ response: OrgResponse, for request: OrgRequest) -> OrgResponse {
    guard response.status == 200 else { return response }
    var response = response
    if let version = request[query: "version"] {
      let number = version == "latest" ? "\(RESTVersions.known.upperBound).0" : version
      response.body = Array(
        String(decoding: response.body, as: UTF8.self)
          .replacing("{version}", with: number.filter { $0.isNumber || $0 == "." }).utf8)
    }
    if kind(request) == .xml, let json = try? JSONSlice(parsing: response.body) {
      return xml(response, json, "user")
    }
    if let callback = request[query: "callback"], isName(callback) {
      response.body = Array("\(callback)(".utf8) + response.body + Array(");".utf8)
      response.contentType = "application/javascript;charset=UTF-8"
    }
    return response
  }

  /// Only names: a page that loads the response as a script executes what stands there.
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_.$".contains($0)) }
  }

  private static func xml(
    _ response: OrgResponse, _ json: JSONSlice, _ root: String
  ) -> OrgResponse {
    var response = response
    response.body = Array(
      ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>" + ResponseXML.element(json, named: root)).utf8)
    response.contentType = "application/xml;charset=UTF-8"
    return response
  }
}
