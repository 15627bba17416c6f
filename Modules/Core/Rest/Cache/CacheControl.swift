import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// The directives of `Cache-Control` that a private cache follows, and the freshness that follows from them (RFC 9111).
struct CacheControl: Equatable {
  private(set) var maxAge: Int64?
  private(set) var isNoStore = false
  private(set) var isNoCache = false

  /// Reads all fields of that name. Unknown directives are ignored; a `max-age` that is no number counts as 0.
  init(_ headers: HTTPFields) {
    for directive in headers[values: .cacheControl].flatMap({ $0.split(separator: ",") }) {
      let parts = directive.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
      switch parts.first?.lowercased() {
      case "no-store": isNoStore = true
      // A list of fields requires as much as no list: the response is revalidated.
      case "no-cache": isNoCache = true
      case "max-age":
        let text = parts.count > 1 ? parts[1].filter { $0 != "\"" } : ""
        maxAge = max(0, Int64(text) ?? 0)
      default: break
      }
    }
  }

  /// The time for which a response may be used without a request, in seconds from its receipt; 0 if it has to be revalidated.
  ///
  /// Without `max-age` and `Expires` nothing is assumed: the API's data changes at any time.
  static func freshness(of headers: HTTPFields) -> Int64 {
    let control = CacheControl(headers)
    if control.isNoStore || control.isNoCache { return 0 }
    let age = max(0, headers[.age].flatMap { Int64($0.trimmed) } ?? 0)
    if let maxAge = control.maxAge { return max(0, maxAge - age) }
    guard let text = headers[.expires], let expires = SalesforceDate.parseHTTP(text),
      let date = headers[.date].flatMap(SalesforceDate.parseHTTP)
    else { return 0 }
    return max(0, (expires.milliseconds - date.milliseconds) / 1_000 - age)
  }

  /// Whether a response may be stored at all, and would be of use.
  static func isStorable(_ headers: HTTPFields) -> Bool {
    guard !CacheControl(headers).isNoStore, headers[.vary]?.trimmed != "*" else { return false }
    return freshness(of: headers) > 0 || headers[.eTag] != nil || headers[.lastModified] != nil
  }
}
