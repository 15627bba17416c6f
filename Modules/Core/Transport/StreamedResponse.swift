import Foundation
import HTTPTypes
import Synchronization

/// A response that is read while it arrives. Its unread part is kept in a ``DiskBuffer``: a slow
/// reader does not delay the server, because on Linux that would delay every connection of the
/// process.
final class StreamedResponse: ResponseSink {
  typealias Head = (status: Int, headers: HTTPFields)
  typealias Receiver = @Sendable ([UInt8]) throws -> Void
  private typealias HeadWaiter = CheckedContinuation<Head, any Error>
  private typealias PieceWaiter = CheckedContinuation<[UInt8]?, any Error>
  private typealias DrainWaiter = CheckedContinuation<DrainStep, any Error>

  /// The state of the reader.
  private enum Reader {
    case absent
    /// It waits for the next piece.
    case waiting(PieceWaiter)
    /// It receives pieces as they arrive, and waits for the end.
    case receiving(Receiver, DrainWaiter)

    /// Ends the wait of the reader with the outcome of the response.
    func resume(with outcome: Result<Void, any Error>) {
      switch self {
      case .absent: break
      case .waiting(let waiter): waiter.resume(with: outcome.map { nil })
      case .receiving(_, let waiter): waiter.resume(with: outcome.map { .ended })
      }
    }
  }

  /// The reason why a reader that receives pieces as they arrive continues.
  private enum DrainStep {
    /// Pieces arrived before the outcome could be delivered; they go first.
    case waiting
    case ended
  }

  private struct State {
    var head: Result<Head, any Error>?
    var headWaiter: HeadWaiter?
    var diskBuffer: DiskBuffer
    var reader = Reader.absent
    /// Whether the receiver is being called.
    var isReceiving = false
    /// The result that the reader gets when its receiver has returned.
    var news: Result<DrainStep, any Error>?
    var end: Result<Void, any Error>?

    /// The reader that receives `outcome`; if its receiver is being called, the outcome has to wait.
    mutating func releaseReader(with outcome: Result<Void, any Error>) -> Reader {
      if isReceiving {
        news = news ?? outcome.map { .ended }
        return .absent
      }
      defer { reader = .absent }
      return reader
    }
  }

  private let state: Mutex<State>

  init(diskBuffer: DiskBuffer) { state = Mutex(State(diskBuffer: diskBuffer)) }

  /// Status and header fields, when they are there.
  func head() async throws -> Head {
    try await withCheckedThrowingContinuation { waiter in
      let head = state.withLock { state in
        if state.head == nil { state.headWaiter = waiter }
        return state.head
      }
      if let head { waiter.resume(with: head) }
    }
  }

  /// The data that arrived since the last call, or the next piece; `nil` at the end.
  ///
  /// - Throws: The error that ended the response; `CancellationError` if the calling task was
  ///   cancelled, after which other tasks can still read the response.
  func next() async throws -> [UInt8]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let known = state.withLock { state -> Result<[UInt8]?, any Error>? in
          guard case .absent = state.reader else {
            preconditionFailure("a body is read by one task at a time")
          }
          // If the handler came first, it found no waiter to wake.
          if Task.isCancelled { return .failure(CancellationError()) }
          do throws(TransportError) {
            if let piece = try state.diskBuffer.next() { return .success(piece) }
          } catch {
            return .failure(error)
          }
          if let end = state.end { return end.map { nil } }
          state.reader = .waiting(waiter)
          return nil
        }
        if let known { waiter.resume(with: known) }
      }
    } onCancel: {
      dismissReader()
    }
  }

  /// Passes each piece to `receiver` as it arrives, without buffering. Returns at the end of the
  /// response, when `receiver` is no longer running.
  ///
  /// - Throws: The error that ended the response; the error of `receiver`, which ends it;
  ///   `CancellationError` as ``next()``.
  func drain(into receiver: @escaping Receiver) async throws {
    repeat {
      while let piece = try state.withLock({ state throws(TransportError) in
        try state.diskBuffer.next()
      }) {
        try receiver(piece)
      }
    } while try await receive(with: receiver) == .waiting
  }

  private func receive(with receiver: @escaping Receiver) async throws -> DrainStep {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let known = state.withLock { state -> Result<DrainStep, any Error>? in
          guard case .absent = state.reader else {
            preconditionFailure("a body is read by one task at a time")
          }
          if Task.isCancelled { return .failure(CancellationError()) }
          guard state.diskBuffer.isEmpty else { return .success(.waiting) }
          if let end = state.end { return end.map { .ended } }
          state.reader = .receiving(receiver, waiter)
          return nil
        }
        if let known { waiter.resume(with: known) }
      }
    } onCancel: {
      dismissReader()
    }
  }

  /// The reader was cancelled: it continues, as soon as its receiver is not running.
  private func dismissReader() {
    let reader = state.withLock { $0.releaseReader(with: .failure(CancellationError())) }
    reader.resume(with: .failure(CancellationError()))
  }

  // MARK: ResponseSink

  func begin(status: Int, headers: HTTPFields, expectedBytes: Int64) {
    let waiter = state.withLock { state in
      state.head = .success((status, headers))
      defer { state.headWaiter = nil }
      return state.headWaiter
    }
    waiter?.resume(returning: (status, headers))
  }

  func take(_ piece: Data) throws {
    let reader = try state.withLock { state throws(TransportError) -> Reader in
      guard state.end == nil else { return .absent }
      let reader = state.reader
      switch reader {
      case .absent: try state.diskBuffer.append(piece)
      case .waiting: state.reader = .absent
      case .receiving: state.isReceiving = true
      }
      return reader
    }
    switch reader {
    case .absent: break
    case .waiting(let waiter): waiter.resume(returning: Array(piece))
    case .receiving(let receiver, let waiter):
      defer { endReceiving(waiter) }
      try receiver(Array(piece))
    }
  }

  /// Delivers an outcome that arrived while the receiver was running.
  private func endReceiving(_ waiter: DrainWaiter) {
    let news = state.withLock { state in
      state.isReceiving = false
      defer { state.news = nil }
      if state.news != nil { state.reader = .absent }
      return state.news
    }
    if let news { waiter.resume(with: news) }
  }

  func end(_ outcome: Result<Void, any Error>) {
    let (headWaiter, reader) = state.withLock { state in
      state.end = outcome
      if case .failure(let error) = outcome {
        // A reader that cancelled wants no more. What came of a response that broke can be resumed.
        if error is CancellationError { state.diskBuffer.clear() }
        if state.head == nil { state.head = .failure(error) }
      }
      let reader = state.releaseReader(with: outcome)
      defer { state.headWaiter = nil }
      return (state.headWaiter, reader)
    }
    if case .failure(let error) = outcome { headWaiter?.resume(throwing: error) }
    reader.resume(with: outcome)
  }
}
