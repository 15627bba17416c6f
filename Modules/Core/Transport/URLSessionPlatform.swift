import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// Where URLSession of Apple's systems and the one of swift-corelibs-foundation differ, the
// difference stands in this file.

extension URLSession {
  /// A day: the timeout of each request is watched by its exchange, since not every version of
  /// URLSession heeds the one of a request.
  static let noTimeout: TimeInterval = 86_400

  /// A session that keeps nothing between requests but its connections.
  static func makeBare(
    maxConnectionsPerHost: Int, delegate: any URLSessionDataDelegate
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.timeoutIntervalForRequest = noTimeout
    configuration.httpMaximumConnectionsPerHost = maxConnectionsPerHost
    #if !canImport(FoundationNetworking)
      configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
      configuration.waitsForConnectivity = false
    #endif
    return URLSession(
      configuration: configuration, delegate: delegate, delegateQueue: CallbackQueue())
  }
}

/// Runs the callbacks of a session one at a time: the pieces of a body arrive in order.
///
/// On Linux, URLSession reads all connections of the process from one queue and hands each piece to the
/// session's queue without ever looking whether the pieces are dealt with: an endless answer would fill
/// the memory if it comes faster than it is dealt with. So there a callback runs where URLSession hands it
/// over, before it reads on; no callback may wait for URLSession or for a reader, and none does.
private final class CallbackQueue: OperationQueue, @unchecked Sendable {
  // `@unchecked Sendable` because it has no variables of its own.

  override init() {
    super.init()
    maxConcurrentOperationCount = 1
    name = "com.salesforce.network.ephemeralSession"
  }

  #if canImport(FoundationNetworking)
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  #endif
}

extension URLAuthenticationChallenge {
  /// Whether a user name and password is asked for, and not, say, trust in a certificate.
  var isForPassword: Bool {
    #if canImport(FoundationNetworking)
      true
    #else
      [
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
        NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodNTLM,
        NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodHTMLForm,
      ].contains(protectionSpace.authenticationMethod)
    #endif
  }
}

extension HTTPFields {
  /// The header fields of a response; fields whose names are no HTTP tokens are left out.
  init(_ response: HTTPURLResponse) {
    self.init()
    for (name, value) in response.allHeaderFields {
      guard let name = name as? String, let field = HTTPField.Name(name) else { continue }
      append(HTTPField(name: field, value: "\(value)"))
    }
  }
}

extension TransportError {
  /// Sorts an error of URLSession; `answerBegan` tells a cut answer from none.
  ///
  /// A connection that is closed before an answer is `badServerResponse` on Linux and
  /// `networkConnectionLost` elsewhere; both mean that no answer came.
  init(urlError error: any Error, _ request: TransportRequest, answerBegan: Bool) {
    guard let code = (error as? URLError)?.code else {
      self.init(.unreachable, "\(request) failed below URLSession", cause: error)
      return
    }
    switch code {
    case .timedOut:
      self.init(
        .timedOut, "\(request): the server was silent for \(request.timeout)", cause: error)
    case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
      self.init(
        answerBegan ? .truncated : .malformed,
        "the answer to \(request) cannot be read", cause: error)
    case _ where answerBegan:
      self.init(
        .truncated, "the connection ended inside the answer to \(request)", cause: error)
    default:
      self.init(
        .unreachable,
        "\(request) did not reach the server or got no answer (URL error \(code.rawValue)); "
          + "check the network and the address", cause: error)
    }
  }
}
