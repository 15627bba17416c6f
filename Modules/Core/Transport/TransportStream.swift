public import HTTPTypes
import Synchronization

/// A response whose body is still arriving.
public struct TransportStream: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header fields.
  public let headers: HTTPFields
  /// The body.
  public let body: TransportBody

  /// Makes a response; for transports.
  public init(status: Int, headers: HTTPFields, body: TransportBody) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// The pieces of a body in the order of arrival, decompressed. One task reads them, once.
///
/// The transport keeps the part that the task has not read yet; ``URLSessionTransport`` keeps 1 MB in memory
/// and the rest, up to the longest body that the request allows, in an encrypted temporary file.
public struct TransportBody: AsyncSequence, Sendable {
  public typealias Element = [UInt8]
  typealias Receiver = @Sendable ([UInt8]) throws -> Void
  private let next: @Sendable () async throws -> [UInt8]?
  private let drain: (@Sendable (@escaping Receiver) async throws -> Void)?

  /// Makes a body of what `next` brings, until that is `nil`; for transports.
  ///
  /// - Parameter next: Throws ``TransportError`` or `CancellationError`.
  public init(_ next: @escaping @Sendable () async throws -> [UInt8]?) {
    self.next = next
    self.drain = nil
  }

  /// Makes a body of what arrives in `response`.
  init(_ response: StreamedResponse) {
    next = { try await response.next() }
    drain = { try await response.drain(into: $0) }
  }

  /// Makes a body of bytes that are there already.
  public init(_ bytes: [UInt8]) {
    let rest = OnePiece(bytes)
    self.init { rest.take() }
  }

  /// Brings the pieces one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let body: TransportBody

    /// The next piece; `nil` at the end of the body.
    ///
    /// - Throws: ``TransportError`` `truncated`, `timedOut`, `tooLarge` or `malformed`;
    ///   `CancellationError`.
    public func next() async throws -> [UInt8]? { try await body.next() }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

  /// Hands the rest of the pieces to `receiver`, if the transport can do that, where they arrive and
  /// without keeping any. So `receiver` returns soon; it is not called any more when this returns.
  ///
  /// - Throws: As the iterator; what `receiver` throws passes through and ends the response.
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
