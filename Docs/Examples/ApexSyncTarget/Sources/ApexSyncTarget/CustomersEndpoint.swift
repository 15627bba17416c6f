import HTTPTypes
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// The endpoint that both targets talk to.
///
/// | request | response |
/// | --- | --- |
/// | `GET /Customers?since=<date>` | `{"customers": […], "total": n, "next": {"date": "…", "id": "…"} or null}` |
/// | `GET /Customers?afterDate=<date>&afterId=<id>` | the same, behind this place in the order of dates and ids |
/// | `GET /Customers/ids` | `["001…"]` |
/// | `POST /Customers` `{"changes": […]}` | `{"results": [{"status": "done", "id": "001…"}]}` |
/// | `POST /Customers/dates` `{"ids": […]}` | `{"001…": "2026-01-01T…"}`; what is gone is missing |
/// | `POST /Customers/made` `{"keys": […]}` | `{"local_1": "001…"}`; what was never made is missing |
///
/// Both questions for customers take `region=<text>`, too.
enum CustomersEndpoint {
  static let path = "/services/apexrest/Customers"

  /// A request that asks.
  static func get(_ place: String = "", query: [RestQueryItem] = []) -> RestRequest {
    RestRequest(path: path + place, query: query)
  }

  /// A request with a JSON body.
  static func post(_ place: String = "", _ body: [UInt8]) -> RestRequest {
    var request = RestRequest(method: .post, path: path + place, body: body)
    request.headers[.contentType] = "application/json"
    return request
  }

  /// `{"<key>": ["…"]}`.
  static func list(_ key: String, _ texts: [String]) -> [UInt8] {
    Array(JSONValue.object([key: .array(texts.map { .string($0) })]).text.utf8)
  }
}
