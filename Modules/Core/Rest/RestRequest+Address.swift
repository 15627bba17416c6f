import SalesforceSDKCommon
package import Foundation

extension RestRequest {
  /// The complete path and query on the server: `/services/data/v66.0/query?q=...` (CO-116).
  ///
  /// - Parameter apiVersion: The version that replaces `/{v}`.
  public func target(apiVersion: String = RestRequest.defaultAPIVersion) -> String {
    appendingQuery(to: completePath(apiVersion: apiVersion))
  }

  /// Whether the path is a whole address.
  package var isAbsolute: Bool {
    let start = path.prefix(8).lowercased()
    return start == "https://" || start.hasPrefix("http://")
  }

  /// The whole address on `base`.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if that is no URL.
  package func url(base: URL?, apiVersion: String) throws(RestError) -> URL {
    let text: String
    if isAbsolute {
      text = appendingQuery(to: path)
    } else {
      guard let base else {
        throw RestError(
          .invalidRequest,
          "\(self) has a relative path and this client no server. Give a whole address.")
      }
      text = base.absoluteString.trimmingSlashes(atEnd: true) + target(apiVersion: apiVersion)
    }
    guard let url = URL(string: text), url.host() != nil else {
      throw RestError(.invalidRequest, "The path of \(self) makes no address. Percent-encode it.")
    }
    return url
  }

  private func completePath(apiVersion: String) -> String {
    var path = path
    if path.hasPrefix(Self.versionPlaceholder) {
      path =
        "/" + PercentEncoding.encode(apiVersion) + path.dropFirst(Self.versionPlaceholder.count)
    }
    path = "/" + path.trimmingSlashes(atEnd: false)
    let endpoint = endpoint.trimmingSlashes(atEnd: false).trimmingSlashes(atEnd: true)
    guard !endpoint.isEmpty, !path.hasPrefix("/services/") else { return path }
    if let rest = path.dropping(prefix: "/" + endpoint),
      rest.isEmpty || "/?".contains(rest.first ?? "/")
    {
      return path
    }
    return "/\(endpoint)\(path)"
  }

  private func appendingQuery(to path: String) -> String {
    guard !query.isEmpty else { return path }
    let parts = PercentEncoding.form(query.lazy.map { ($0.name, $0.value) })
    return path + (path.contains("?") ? "&" : "?") + parts
  }
}

extension String {
  /// Without the slashes at one end.
  func trimmingSlashes(atEnd: Bool) -> String {
    var rest = self[...]
    while atEnd ? rest.last == "/" : rest.first == "/" {
      rest = atEnd ? rest.dropLast() : rest.dropFirst()
    }
    return String(rest)
  }

  /// The part after `prefix`, or `nil` if the text does not start with it.
  func dropping(prefix: String) -> Substring? {
    hasPrefix(prefix) ? dropFirst(prefix.count) : nil
  }
}
