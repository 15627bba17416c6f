import SalesforceSDKCommon
public import Foundation
public import HTTPTypes

/// A request to the REST API, without a server and an account.
///
/// It is a plain value; ``RestClient`` adds host, token and user agent when it sends it. The static
/// functions of this type create the requests of the platform's API.
///
/// ```swift
/// let request = RestRequest.query("SELECT Id, Name FROM Account", batchSize: 500)
/// let page = try await client.send(request).json()
/// ```
public struct RestRequest: Sendable, Equatable {
  /// The server of the account that receives a request.
  public struct Host: Sendable, Hashable {
    enum Kind: Hashable { case instance, login, base(URL) }
    let kind: Kind

    /// The server with the data: the community's if the user belongs to one, otherwise the instance.
    public static let instance = Host(kind: .instance)
    /// The server where the user logged in; the community's if the user belongs to one.
    public static let login = Host(kind: .login)
    /// A server of the caller's choice. It receives the token only if it belongs to the account or
    /// to the platform.
    public static func base(_ url: URL) -> Host { Host(kind: .base(url)) }
  }

  /// The HTTP method.
  public var method: HTTPRequest.Method
  /// The server. Default: the account's instance.
  public var host: Host
  /// The path, percent-encoded.
  ///
  /// `/{v}` at its start becomes the client's API version. A path that starts with `/services/` or
  /// with ``endpoint`` is complete; a text that starts with `https://` is an absolute URL. Every other path is sent
  /// below ``endpoint``: `/helpdesk/v1/changes` becomes `/services/data/helpdesk/v1/changes`. For a path of another
  /// service, set `endpoint` to `""`.
  public var path: String
  /// The prefix of a path that is not complete. Default: `/services/data`.
  public var endpoint: String
  /// The query's parts, unencoded.
  public var query: [RestQueryItem]
  /// Header fields; they override those that the client would set, `Authorization` and `User-Agent`
  /// included.
  public var headers: HTTPFields
  /// The body as it is sent.
  public var body: [UInt8]?
  /// A body that is read while it is sent, such as a file; it takes the place of ``body``.
  public var upload: UploadBody?
  /// Whether the request may be sent again if there was no response, because executing it twice has
  /// the same effect and the same result for the caller.
  ///
  /// Default: true for `GET`, `HEAD` and `PUT`. Not for `DELETE`: a retry after a
  /// lost response gets a 404, so a success would look like a failure.
  public var isRepeatable: Bool
  /// The minimum API version of the request; with an earlier version it is not sent.
  public var minimumVersion: APIVersion?
  /// Whether the account's token is sent, and refreshed if it has expired. Default: true.
  public var requiresAuthentication: Bool
  /// The maximum time without data from the server. Default: 60 seconds.
  public var timeout: Duration
  /// The maximum size of the response's body in bytes. Default:
  /// ``TransportRequest/defaultMaxResponseBytes``.
  public var maxResponseBytes: Int
  /// A word added to the application type in the user agent, such as `MobileSync` for the requests
  /// of a sync.
  public var userAgentQualifier: String?

  /// Creates a custom request, by default a GET to the account's instance. Each property documents
  /// its default.
  ///
  /// - Parameter path: Percent-encoded, such as `"/{v}/limits"` or
  ///   `"/services/apexrest/Orders/"`.
  public init(
    method: HTTPRequest.Method = .get, path: String, query: [RestQueryItem] = [],
    headers: HTTPFields = [:], body: [UInt8]? = nil, upload: UploadBody? = nil,
    host: Host = .instance,
    endpoint: String = RestRequest.defaultEndpoint, requiresAuthentication: Bool = true,
    timeout: Duration = .seconds(60),
    maxResponseBytes: Int = TransportRequest.defaultMaxResponseBytes,
    userAgentQualifier: String? = nil
  ) {
    self.method = method
    self.isRepeatable = [.get, .head, .put].contains(method)
    self.host = host
    self.path = path
    self.endpoint = endpoint
    self.query = query
    self.headers = headers
    self.body = body
    self.upload = upload
    self.requiresAuthentication = requiresAuthentication
    self.timeout = timeout
    self.maxResponseBytes = maxResponseBytes
    self.userAgentQualifier = userAgentQualifier
  }

  /// Creates a request to an address that belongs to no account: no token is sent.
  public init(method: HTTPRequest.Method = .get, url: URL) {
    self.init(
      method: method, path: url.absoluteString, host: .base(url), endpoint: "",
      requiresAuthentication: false)
  }

  /// The path of the REST API on every instance.
  public static let defaultEndpoint = "/services/data"
  /// The API version of requests whose client names none.
  public static let defaultAPIVersion = "v66.0"
  /// The placeholder of the client's API version at the start of a path.
  static let versionPlaceholder = "/{v}"

  /// The start of a factory's path: the version given, or the client's.
  static func root(_ apiVersion: String?) -> String {
    apiVersion.map { "/\(PercentEncoding.encode($0))" } ?? versionPlaceholder
  }

  /// The same request with a JSON body.
  func with(json: [UInt8]) -> RestRequest {
    var request = self
    request.body = json
    request.headers[.contentType] = "application/json"
    return request
  }

  /// The same request with a form as its body.
  func with(form items: [(name: String, value: String)]) -> RestRequest {
    var request = self
    request.body = Array(PercentEncoding.form(items).utf8)
    request.headers[.contentType] = "application/x-www-form-urlencoded"
    return request
  }
}

/// One part of a query, unencoded.
public struct RestQueryItem: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The value as text.
  public var value: String

  /// Creates a part; the value is converted to text (CO-116).
  public init(_ name: String, _ value: some CustomStringConvertible) {
    self.name = name
    self.value = value.description
  }
}

/// Method and path, without the query and with `…` for external ids and the like: no record data.
extension RestRequest: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String {
    let start = path.hasPrefix(Self.versionPlaceholder) ? Self.versionPlaceholder.count : 0
    let path = path.dropFirst(start)
    let host = isAbsolute ? URL(string: String(path)).flatMap { $0.host() } : nil
    return "\(method) \(host ?? "")\(RequestLine.safePath(path))"
  }
  public var debugDescription: String { description }
}
