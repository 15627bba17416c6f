import Foundation
import SalesforceSDKCommon
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Reads an inspector's event stream.
final class EventReader: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // Because the buffer is used under its lock alone, and the rest is set before the session starts.
  private let frames: AsyncThrowingStream<(String, JSONSlice), any Error>
  private let sink: AsyncThrowingStream<(String, JSONSlice), any Error>.Continuation
  private let unread = Mutex("")
  private var session: URLSession?

  init(_ client: InspectorClient, topics: String, lastEventId: String? = nil) {
    (frames, sink) = AsyncThrowingStream.makeStream(of: (String, JSONSlice).self)
    super.init()
    let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
    self.session = session
    guard let url = URL(string: "\(client.page)api/events?topics=\(topics)") else { return }
    var request = URLRequest(url: url)
    request.setValue("Bearer \(client.token)", forHTTPHeaderField: "Authorization")
    if let lastEventId { request.setValue(lastEventId, forHTTPHeaderField: "Last-Event-ID") }
    session.dataTask(with: request).resume()
  }

  /// The data of the next event with this name; others are passed over.
  func next(_ name: String) async throws -> JSONSlice {
    for try await (found, data) in frames where found == name { return data }
    throw StreamEnded()
  }

  struct StreamEnded: Error {}

  func stop() { session?.invalidateAndCancel() }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let parts = unread.withLock { unread in
      var parts = (unread + String(decoding: data, as: UTF8.self)).components(separatedBy: "\n\n")
      unread = parts.removeLast()
      return parts
    }
    for part in parts {
      var (name, text) = ("", "")
      for line in part.split(separator: "\n") {
        if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
        if line.hasPrefix("data: ") { text = String(line.dropFirst(6)) }
      }
      if let data = try? JSONSlice(parsing: text) { sink.yield((name, data)) }
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) { sink.finish(throwing: error) }
}
