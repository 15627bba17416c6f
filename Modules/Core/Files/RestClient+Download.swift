public import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization

/// The result of a download.
public struct RestDownload: Sendable, Hashable {
  /// The location of the file.
  public let url: URL
  /// The size of the file in bytes.
  public let bytes: Int64
  /// The number of these bytes that an earlier, interrupted download had stored.
  public let resumedFrom: Int64
  /// The content type that the server sent.
  public let contentType: String?
}

extension RestClient {
  /// 16 GB: more than any file of the platform.
  public static let defaultMaxDownloadBytes: Int64 = 16 << 30

  /// Downloads the response to `request` into a file. The file is created or replaced when the
  /// download is complete; only a small part is in memory at a time.
  ///
  /// An interrupted download leaves `NAME.part` and `NAME.part.json` in the same folder. The next
  /// download to the same path resumes there if the server supports `Range` and still has the same
  /// version; otherwise it starts over. Within one call, retries by the client's policy resume in
  /// the same way. If a server sends less of the rest than was requested, the rest is requested
  /// again. The file is not encrypted.
  ///
  /// - Parameter resumes: Whether to resume an interrupted download. Default: true.
  /// - Parameter maxBytes: A longer response is refused as soon as that is known. Default: 16 GB.
  /// - Parameter progress: Receives the progress of the download.
  /// - Throws: As ``send(_:)``; ``RestError`` `busyFile`, `unwritableFile`, `tooLarge`, and
  ///   `invalidRequest` if the request names a range of its own.
  @discardableResult
  public func download(
    _ request: RestRequest, to destination: URL, resumes: Bool = true,
    maxBytes: Int64 = RestClient.defaultMaxDownloadBytes, progress: TransferProgress? = nil
  ) async throws -> RestDownload {
    guard request.headers[.range] == nil else {
      throw RestError(
        .invalidRequest, "\(request) asks for a range. A download chooses its ranges itself.")
    }
    defer { progress?.finish() }
    return try await inFlight.run(request) {
      try await self.download(
        request, into: PartialDownload(to: destination), resumes, maxBytes, progress)
    }
  }

  private func download(
    _ request: RestRequest, into partial: PartialDownload, _ resumes: Bool, _ maxBytes: Int64,
    _ progress: TransferProgress?
  ) async throws -> RestDownload {
    let resource = Digests.sha256Hex(
      "\(identity.map { "\($0)" } ?? "") \(request.target(apiVersion: apiVersion))")
    var machine = RetryMachine(policy: options.retries, isRepeatable: request.isRepeatable)
    defer { partial.dropIfEmpty() }
    var state = resumes ? try partial.state(of: resource) : nil
    while true {
      let step = DownloadStep(
        partial: partial, resource: resource, start: state?.bytes ?? 0, maxBytes: maxBytes,
        progress: progress)
      do {
        let arrival = try await stream(step.ranged(request, validator: state?.validator), nil) {
          try await step.receive($0)
        }
        switch arrival {
        case .whole(let download): return download
        case .part: state = try partial.state(of: resource)
        case .other: state = nil
        }
      } catch let error as RestError where error.code == .server(416) && state != nil {
        // The stored part does not belong to the server's version.
        state = nil
      } catch let error as RestError where error.code.isInterruption {
        // Another attempt is made only if this one has received new bytes: `stream` has already
        // retried an attempt without any.
        let now = try partial.state(of: resource)
        guard let now, now.bytes > (state?.bytes ?? 0) else { throw error }
        state = now
        guard
          let wait = machine.wait(after: .failure(.truncated), chance: options.chance()),
          budget.spend()
        else { throw error }
        try await options.clock.sleep(for: wait)
      }
    }
  }
}

extension RestError.Code {
  /// Whether a connection ended inside a response.
  fileprivate var isInterruption: Bool { self == .truncated || self == .timedOut }
}

/// One attempt of a download.
private struct DownloadStep: Sendable {
  let partial: PartialDownload
  let resource: String
  /// The number of stored bytes.
  let start: Int64
  let maxBytes: Int64
  let progress: TransferProgress?

  /// The request for what is missing.
  func ranged(_ request: RestRequest, validator: String?) -> RestRequest {
    var request = request
    // A compressed body has no bytes to count from.
    if request.headers[.acceptEncoding] == nil { request.headers[.acceptEncoding] = "identity" }
    request.maxResponseBytes = Int(clamping: maxBytes)
    if start > 0, let validator {
      request.headers[.range] = "bytes=\(start)-"
      request.headers[.ifRange] = validator
    }
    return request
  }

  /// The result of one response.
  enum Arrival: Sendable {
    case whole(RestDownload)
    /// A part of the missing bytes.
    case part
    /// The response cannot be appended to the stored bytes.
    case other
  }

  func receive(_ stream: RestStream) async throws -> Arrival {
    var range: ContentRange?
    if stream.status == 206 {
      guard start > 0 else {
        throw RestError(
          .malformedResponse,
          "The server sent a part of the file in response to a request for all of it.")
      }
      range = stream.range
      // Without a length, nothing shows when the file is complete.
      guard let range, range.first == start, range.last >= start, range.last < range.total else {
        return .other
      }
    }
    let offset = range?.first ?? 0
    let file =
      range != nil ? try partial.goOn() : try partial.restart(as: stream.origin(of: resource))
    let total = range?.total ?? stream.expectedBytes
    if let total, total > maxBytes { throw tooLarge }
    let size = Mutex(offset)
    // A file takes its bytes where they arrive, so that none of them waits for a task. The receiver may
    // live a moment longer than this call, so it must not keep the lock on the file, which `self` holds.
    try await stream.body.drain { [maxBytes, progress, tooLarge] piece in
      let now = size.withLock { size in
        size += Int64(piece.count)
        return size
      }
      guard now <= maxBytes else { throw tooLarge }
      do throws(FileFailure) {
        try file.write(piece)
      } catch {
        throw RestError(download: error)
      }
      progress?.update { amounts in
        amounts.received = now
        amounts.toReceive = total
      }
    }
    let bytes = size.withLock { $0 }
    if let range, bytes != range.total {
      guard bytes > offset, bytes <= range.last + 1 else {
        partial.drop()
        throw RestError(
          .malformedResponse, "The server sent another part of the file than it says.")
      }
      return .part
    }
    try partial.finish(file)
    return .whole(
      RestDownload(
        url: partial.destination, bytes: bytes, resumedFrom: offset,
        contentType: stream.headers[.contentType]))
  }

  private var tooLarge: RestError {
    RestError(.tooLarge, "The file has more than \(maxBytes) bytes. Allow more, or leave it.")
  }
}

/// The range of a partial response, and the total number of bytes.
private struct ContentRange {
  let first: Int64
  let last: Int64
  let total: Int64

  /// Reads `bytes 100-199/5000`; `nil` if it is something else, or the length is not told.
  init?(_ text: String) {
    guard let range = text.trimmed.dropping(prefix: "bytes ") else { return nil }
    let parts = range.split(separator: "/", maxSplits: 1)
    guard parts.count == 2, let total = Int64(parts[1]) else { return nil }
    let ends = parts[0].split(separator: "-", maxSplits: 1).compactMap { Int64($0) }
    guard ends.count == 2 else { return nil }
    (first, last, self.total) = (ends[0], ends[1], total)
  }
}

extension RestStream {
  /// The range of bytes in a partial response.
  fileprivate var range: ContentRange? { headers[.contentRange].flatMap { ContentRange($0) } }

  /// The version of the file that the bytes belong to; `nil` if the server cannot resume them
  /// later.
  fileprivate func origin(of resource: String) -> PartialDownload.Origin? {
    guard headers[.acceptRanges]?.lowercased() == "bytes",
      (headers[.contentEncoding] ?? "identity").lowercased() == "identity"
    else { return nil }
    // A weak tag does not promise the same bytes.
    if let tag = headers[.eTag], !tag.hasPrefix("W/") {
      return .init(resource: resource, validator: tag)
    }
    return headers[.lastModified].map { .init(resource: resource, validator: $0) }
  }
}
