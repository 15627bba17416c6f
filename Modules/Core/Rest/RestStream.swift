public import HTTPTypes

/// A successful response whose body is still arriving.
public struct RestStream: Sendable {
  /// The HTTP status, one of 200...299.
  public let status: Int
  /// The header fields.
  public let headers: HTTPFields
  /// The body.
  public let body: RestBody

  /// The length of the body in bytes, if the server sent it.
  public var expectedBytes: Int64? { headers[.contentLength].flatMap { Int64($0) } }
}

/// The pieces of a response's body in the order of arrival. One task reads them, once.
///
/// The part that the task has not read yet does not stay in memory: the transport keeps it in an encrypted
/// temporary file, up to the longest body that the request allows.
public struct RestBody: AsyncSequence, Sendable {
  public typealias Element = [UInt8]
  let body: TransportBody

  /// Brings the pieces one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let body: TransportBody.AsyncIterator

    /// The next piece; `nil` at the end of the body.
    ///
    /// - Throws: ``RestError`` `truncated`, `timedOut`, `tooLarge`, `malformedResponse` or
    ///   `unwritableFile`, if there is no room for what was not read yet; `CancellationError`.
    public func next() async throws -> [UInt8]? {
      do {
        return try await body.next()
      } catch let error as TransportError {
        throw RestError(error)
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(body: body.makeAsyncIterator())
  }

  /// Hands the rest of the pieces to `receiver` where they arrive, without keeping any. So it returns
  /// soon; it is not called any more when this returns.
  ///
  /// - Throws: As the iterator; what `receiver` throws passes through and ends the response.
  func drain(into receiver: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
    do {
      try await body.drain(into: receiver)
    } catch let error as TransportError {
      throw RestError(error)
    }
  }
}
