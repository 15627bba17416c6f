public import SalesforceSDKCommon

/// A REST request without a usable response.
///
/// ``RestClient/send(_:)`` also throws it for a response with a status outside 200...299; then ``status``,
/// ``body`` and ``serverErrors`` have the server's response. If a session could not be refreshed, the error
/// is an ``OAuthError`` instead.
public struct RestError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable {
      case unreachable, timedOut, truncated, tooLarge, insecureURL, malformedResponse
      case emptyResponse, invalidRequest, tooManyRecords, notAuthenticated
      case unreadableFile, unwritableFile, busyFile, untrustedServer
      case server(Int)
    }
    private let kind: Kind

    /// The server was not reached. Trying again may help.
    public static let unreachable = Code(kind: .unreachable)
    /// The server sent nothing for too long. Trying again may help.
    public static let timedOut = Code(kind: .timedOut)
    /// The connection ended inside the response. Trying again may help if the request changes
    /// nothing.
    public static let truncated = Code(kind: .truncated)
    /// The response is longer than the request allows. Request less, or allow more.
    public static let tooLarge = Code(kind: .tooLarge)
    /// The address is neither https nor on this machine. Correct it.
    public static let insecureURL = Code(kind: .insecureURL)
    /// The response is not JSON, or JSON of an unexpected shape. Trying again seldom helps.
    public static let malformedResponse = Code(kind: .malformedResponse)
    /// The response has no body where one is needed.
    public static let emptyResponse = Code(kind: .emptyResponse)
    /// The request is invalid and was not sent. Correct it.
    public static let invalidRequest = Code(kind: .invalidRequest)
    /// The request has more records than the server accepts at once. Split it.
    public static let tooManyRecords = Code(kind: .tooManyRecords)
    /// The account has no session, or was logged out. Log in.
    public static let notAuthenticated = Code(kind: .notAuthenticated)
    /// A file to upload cannot be read, or became shorter.
    public static let unreadableFile = Code(kind: .unreadableFile)
    /// The file for the response cannot be written. Free space, or use another file.
    public static let unwritableFile = Code(kind: .unwritableFile)
    /// Another download, in this process or another, writes the same file. Wait for its end.
    public static let busyFile = Code(kind: .busyFile)
    /// The server's certificate is not trusted, so nothing was sent. Check the address and the system's
    /// certificate authorities.
    public static let untrustedServer = Code(kind: .untrustedServer)
    /// The server responded with this status; 503 and 429 may pass.
    public static func server(_ status: Int) -> Code { Code(kind: .server(status)) }
    /// 401: the token was refused, also after a refresh. Log in.
    public static let unauthorized = server(401)
    /// 404: no such record, object or resource.
    public static let notFound = server(404)
    /// 412: the record changed since the time named in the request.
    public static let preconditionFailed = server(412)

    /// The status, if the server responded.
    public var status: Int? {
      if case .server(let status) = kind { status } else { nil }
    }

    /// The name, or the status.
    public var description: String {
      if case .server(let status) = kind { "server(\(status))" } else { "\(kind)" }
    }

    /// Whether the network failed, not the request or the server (CO-125).
    public var isNetworkFailure: Bool {
      switch kind {
      case .unreachable, .timedOut, .truncated, .untrustedServer: true
      default: false
      }
    }

    /// Whether the same request may succeed later.
    public var isRetryable: Bool {
      switch kind {
      case .unreachable, .timedOut, .truncated: true
      case .server(let status): status == 429 || status == 502 || status == 503 || status == 504
      default: false
      }
    }
  }

  /// One error of the server's response.
  public struct ServerError: Sendable, Hashable {
    /// The server's code, such as `INVALID_FIELD`.
    public let errorCode: String
    /// The server's message.
    public let message: String
    /// The fields concerned.
    public let fields: [String]

    /// Creates a server error, without the secrets that the server repeats.
    public init(errorCode: String, message: String, fields: [String] = []) {
      self.errorCode = Redaction.redact(errorCode)
      self.message = Redaction.redact(message)
      self.fields = fields
    }
  }

  /// The kind of the error.
  public let code: Code
  /// The failure, its subject and the remedy; without query, token or record data.
  public let message: String
  /// The body of the response without the secrets that it repeats; empty if there was none. It may contain record data.
  public let body: [UInt8]
  /// The errors in the server's response, in its order.
  public let serverErrors: [ServerError]
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The line that detected the failure.
  public let location: SourceLocation

  /// Whether the same call may succeed later, by the code.
  public var isRetryable: Bool { code.isRetryable }

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, body: [UInt8] = [], serverErrors: [ServerError] = [],
    cause: (any Error)? = nil, fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = Redaction.redact(message)
    self.body = Redaction.redact(body)
    self.serverErrors = serverErrors
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// The HTTP status, if the server responded.
  public var status: Int? { code.status }

  /// The domain of such errors in the platform's libraries (CO-125).
  public static let domain = "com.salesforce.RestAPI.ErrorDomain"

  /// The number in that domain: the HTTP status, else 999.
  public var number: Int { code.status ?? 999 }
}

extension RestError: CustomDebugStringConvertible {
  /// The description with the server's errors, which may quote values of the record.
  public var debugDescription: String {
    let faults = serverErrors.map { "\($0.errorCode): \($0.message)" }
    return ([description] + faults).joined(separator: "; ")
  }
}
