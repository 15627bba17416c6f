import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif
#endif

// Where URLSession of Apple's systems and the one of swift-corelibs-foundation differ, the
// difference stands in this file.

extension URLSession {
  /// A timeout of one day, which never fires in practice: the exchange checks the timeout of its
  /// request, because some versions of URLSession ignore it.
  static let noTimeout: TimeInterval = 86_400

  /// A session that keeps nothing between requests but its connections.
  static func makeBare(
    maxConnectionsPerHost: Int, delegate: any URLSessionDataDelegate
  ) -> URLSession {
    #if canImport(FoundationNetworking)
      _ = LoopbackProxies.areExcluded
      _ = LowestTLS.isDemanded
    #endif
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
/// session's queue without ever looking whether the pieces are dealt with: an endless response would fill
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

#if canImport(FoundationNetworking)
  /// The environment's proxies and this machine.
  ///
  /// Plain http is for this machine alone, so a request to it never goes to a proxy, which would see its
  /// token. On Linux URLSession takes proxies from the environment and has no setting of its own for them.
  enum LoopbackProxies {
    /// Adds the names of this machine to `no_proxy`, once for the process.
    static let areExcluded: Bool = {
      let environment = ProcessInfo.processInfo.environment
      let names = exclusions(
        besides: environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
      return setenv("no_proxy", names, 1) == 0
    }()

    /// The value of `no_proxy` that excludes this machine besides what `names` excludes.
    static func exclusions(besides names: String) -> String {
      // Only alone it stands for every host.
      if names.trimmingCharacters(in: .whitespaces) == "*" { return "*" }
      let own = "localhost,127.0.0.1,127.0.0.0/8,::1,[::1]"
      return names.isEmpty ? own : "\(names),\(own)"
    }
  }

  /// The queue on which URLSession reads the connections of one session, stopped.
  ///
  /// That queue lies within the queue on which tasks are cancelled. While a server sends without a pause it
  /// always holds the next read, and a cancellation never gets its turn. Stopped, it lets the cancellation
  /// pass; what the server sends stays in the socket. The queue is known by its label: another one, of
  /// another version of URLSession, is left alone, and then only the cancellation itself ends the reading.
  ///
  /// `@unchecked Sendable` because queues may be used from any thread.
  struct PausedReading: @unchecked Sendable {
    private typealias Queue = UnsafeMutableRawPointer
    private typealias QueueCall = @convention(c) (Queue) -> Void
    /// The C functions of libdispatch. Its Swift interface does not return the queue on which a
    /// callback runs.
    private static let calls: Calls? = Calls()
    private static let label = "MultiHandle.isolation"

    private struct Calls: Sendable {
      let current: @convention(c) () -> Queue?
      let label: @convention(c) (Queue?) -> UnsafePointer<CChar>?
      let retain, release, suspend, resume: QueueCall

      init?() {
        guard let current = dlsym(nil, "dispatch_get_current_queue"),
          let label = dlsym(nil, "dispatch_queue_get_label"),
          let retain = dlsym(nil, "dispatch_retain"), let release = dlsym(nil, "dispatch_release"),
          let suspend = dlsym(nil, "dispatch_suspend"), let resume = dlsym(nil, "dispatch_resume")
        else { return nil }
        self.current = unsafeBitCast(current, to: (@convention(c) () -> Queue?).self)
        self.label = unsafeBitCast(
          label, to: (@convention(c) (Queue?) -> UnsafePointer<CChar>?).self)
        self.retain = unsafeBitCast(retain, to: QueueCall.self)
        self.release = unsafeBitCast(release, to: QueueCall.self)
        self.suspend = unsafeBitCast(suspend, to: QueueCall.self)
        self.resume = unsafeBitCast(resume, to: QueueCall.self)
      }
    }

    private let calls: Calls
    private let queue: Queue

    /// Stops the queue on which the caller runs, once the caller has returned; `nil` if it is another one.
    init?() {
      guard let calls = Self.calls, let queue = calls.current(),
        let label = calls.label(queue), String(cString: label) == Self.label
      else { return nil }
      self.calls = calls
      self.queue = queue
      calls.retain(queue)
      calls.suspend(queue)
    }

    /// Resumes the queue. Must be called once.
    func resume() {
      calls.resume(queue)
      calls.release(queue)
    }
  }
#else
  /// On other systems URLSession reads only data that its delegate can process, and cancels without
  /// delay.
  struct PausedReading: Sendable {
    init?() { return nil }
    func resume() {}
  }
#endif

extension URLAuthenticationChallenge {
  /// Whether the challenge requests a user name and password, and not, say, trust in a certificate.
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
  /// Sorts an error of URLSession; `responseBegan` distinguishes a truncated response from none.
  ///
  /// A connection that is closed before a response is `badServerResponse` on Linux and
  /// `networkConnectionLost` elsewhere; both mean that no response came.
  init(urlError error: any Error, _ request: TransportRequest, responseBegan: Bool) {
    guard let code = (error as? URLError)?.code else {
      self.init(.unreachable, "\(request) failed below URLSession.", cause: error)
      return
    }
    if let reason = Self.distrust(error, code) {
      self.init(
        .untrustedServer,
        "\(request) was not sent: the certificate of the server is not trusted (\(reason)). Check the address; "
          + "if the server is yours, add its certificate authority to those that the system trusts.",
        cause: error)
      return
    }
    switch code {
    case .timedOut:
      self.init(
        .timedOut, "\(request): the server was silent for \(request.timeout).", cause: error)
    case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
      self.init(
        responseBegan ? .truncated : .malformed,
        "The response to \(request) cannot be read.", cause: error)
    case _ where responseBegan:
      self.init(
        .truncated, "The connection ended inside the response to \(request).", cause: error)
    default:
      self.init(
        .unreachable,
        "\(request) did not reach the server or got no response (URL error \(code.rawValue)). "
          + "Check the network and the address.", cause: error)
    }
  }

  /// The reason why the server's certificate was refused; nil if something else failed.
  private static func distrust(_ error: any Error, _ code: URLError.Code) -> String? {
    let words = error.localizedDescription
    switch code {
    case .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      return words
    #if canImport(FoundationNetworking)
      // libcurl has no code of URLSession for it; its sentence is the only sign.
      case .unknown where words.lowercased().contains("certificate"): return words
    #endif
    default: return nil
    }
  }
}
