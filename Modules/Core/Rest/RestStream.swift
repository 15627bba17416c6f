public import HTTPTypes
import Synchronization

/// A response whose body is still arriving.
public struct RestStream: Sendable {
  /// The HTTP status; one of 200...299 in the receiver of ``RestClient/withStream(to:progress:_:)``.
  public let status: Int
  /// The header fields.
  public let headers: HTTPFields
  /// The body.
  public let body: RestBody

  /// Creates a response, for transports.
  public init(status: Int, headers: HTTPFields, body: RestBody) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The length of the body in bytes, if the server sent it.
  public var expectedBytes: Int64? { headers[.contentLength].flatMap { Int64($0) } }
}

/// The pieces of a response's body in the order of arrival, decompressed. One task reads them, once.
///
/// The part that the task has not read yet does not stay in memory: ``URLSessionTransport`` keeps 1 MB there
/// and the rest, up to the longest body that the request allows, in an encrypted temporary file.
public struct RestBody: AsyncSequence, Sendable {
  public typealias Element = [UInt8]
  typealias Receiver = @Sendable ([UInt8]) throws -> Void
  private let next: @Sendable () async throws -> [UInt8]?
  private let drain: (@Sendable (@escaping Receiver) async throws -> Void)?

  private init(
    next: @escaping @Sendable () async throws -> [UInt8]?,
    drain: (@Sendable (@escaping Receiver) async throws -> Void)?
  ) {
    self.next = next
    self.drain = drain
  }

  /// Creates a body from the pieces that `next` returns, up to the first `nil`; for transports.
  ///
  /// - Parameter next: Throws ``TransportError`` or `CancellationError`.
  public init(_ next: @escaping @Sendable () async throws -> [UInt8]?) {
    self.init(next: next, drain: nil)
  }

  /// Creates a body of what arrives in `response`.
  init(_ response: StreamedResponse) {
    self.init(next: { try await response.next() }, drain: { try await response.drain(into: $0) })
  }

  /// Creates a body from bytes.
  public init(_ bytes: [UInt8]) {
    let rest = OnePiece(bytes)
    self.init { rest.take() }
  }

  /// Returns the pieces one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let body: RestBody

    /// Returns the next piece; `nil` at the end of the body.
    ///
    /// - Throws: In a receiver of a ``RestClient``: ``RestError`` `truncated`, `timedOut`, `tooLarge`,
    ///   `malformedResponse`, or `unwritableFile` if unread pieces cannot be buffered on disk. From a
    ///   transport: ``TransportError``. `CancellationError`.
    public func next() async throws -> [UInt8]? { try await body.next() }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

  /// Passes the remaining pieces to `receiver`, without buffering and on the thread on which they
  /// arrive, if the transport supports it. So `receiver` must return soon. It is not called after
  /// this function has returned.
  ///
  /// - Throws: As the iterator; an error of `receiver` is thrown unchanged and ends the response.
  func drain(into receiver: @escaping Receiver) async throws {
    if let drain { return try await drain(receiver) }
    while let piece = try await next() { try receiver(piece) }
  }

  /// The first `limit` bytes; what follows is not read.
  func prefix(upTo limit: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < limit, let piece = try await next() {
      bytes.append(contentsOf: piece.prefix(limit - bytes.count))
    }
    return bytes
  }

  /// The same body, with each error of the transport in the form of a client's errors.
  var forReceivers: RestBody {
    RestBody(
      next: { try await withRestErrors { try await self.next() } },
      drain: { receiver in
        try await withRestErrors { try await self.drain(into: receiver) }
      })
  }
}

/// Throws an error of the transport as a ``RestError``.
func withRestErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
  do {
    return try await body()
  } catch let error as TransportError {
    throw RestError(error)
  }
}

/// A body that came in one piece.
private final class OnePiece: Sendable {
  private let bytes: Mutex<[UInt8]>

  init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

  func take() -> [UInt8]? {
    bytes.withLock { bytes in
      defer { bytes = [] }
      return bytes.isEmpty ? nil : bytes
    }
  }
}
