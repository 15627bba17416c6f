public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The response of a web server.
public struct WebPage: Sendable {
  public let response: HTTPURLResponse
  public let body: Data
  public var status: Int { response.statusCode }
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// Loads a page on a connection of its own, following redirects, as a browser does.
  ///
  /// It runs to its end even if the task is cancelled: on Linux, `URLSession.data(for:)` may lock the
  /// whole process when it is cancelled at the instant at which its response comes.
  public static func load(_ request: URLRequest) async throws -> WebPage {
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    return try await withCheckedThrowingContinuation { continuation in
      session.dataTask(with: request) { body, response, error in
        if let response = response as? HTTPURLResponse, error == nil {
          continuation.resume(returning: WebPage(response: response, body: body ?? Data()))
        } else {
          continuation.resume(throwing: error ?? URLError(.badServerResponse))
        }
      }.resume()
    }
  }
}
