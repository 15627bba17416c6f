import HTTPTypes

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension RestRequest {
  /// Creates a request from one of Foundation: method, URL, header fields, body and timeout (CO-192, BX-47).
  /// The client adds token and user agent, unless the request has its own; the token is sent only to servers
  /// of the account and of the platform.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if it has no address, an invalid method or header
  ///   field, or a body that is a stream, which could be read only once.
  public init(_ urlRequest: URLRequest) throws(RestError) {
    guard let url = urlRequest.url, url.host() != nil else {
      throw RestError(.invalidRequest, "A request without an address cannot be sent.")
    }
    guard let method = HTTPRequest.Method(rawValue: urlRequest.httpMethod ?? "GET") else {
      throw RestError(.invalidRequest, "The method of a request to \(url.withoutQuery) is none.")
    }
    guard urlRequest.httpBodyStream == nil else {
      throw RestError(
        .invalidRequest,
        "The body of a request to \(url.withoutQuery) is a stream. Use a file or bytes.")
    }
    self.init(method: method, path: url.absoluteString, host: .base(url), endpoint: "")
    body = urlRequest.httpBody.map { Array($0) }
    // Infinity and the greatest number, for "no timeout", do not fit into a `Duration`; 30 years do.
    timeout = .seconds(min(max(0, urlRequest.timeoutInterval), 1e9))
    let fields = (urlRequest.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
    for (name, value) in fields {
      guard let field = HTTPField.Name(name) else {
        throw RestError(
          .invalidRequest, "A header field of a request to \(url.withoutQuery) is none.")
      }
      headers.append(HTTPField(name: field, value: value))
    }
  }
}
