import NIOCore
import NIOHTTP1

/// A connection over which a browser requests files.
struct FileConnection: Sendable {
  typealias ResponsePart = HTTPPart<HTTPResponseHead, ByteBuffer>
  typealias Stream = NIOAsyncChannel<HTTPServerRequestPart, ResponsePart>

  let rules: AccessRules
  let files: PageFiles

  /// The longest body of a request that is read before the connection is closed. No request needs one.
  private static let maxBodyBytes = 64 << 10
  /// The bytes of a file that are written at once.
  private static let pieceBytes = 256 << 10

  private struct Response {
    let head: HTTPResponseHead
    let body: [UInt8]
  }

  /// Serves requests until the browser closes the connection or the task is cancelled.
  func serve(_ stream: Stream) async throws {
    let port = stream.channel.localAddress?.port ?? 0
    try await stream.executeThenClose { inbound, outbound in
      var request: HTTPRequestHead?
      var bodyBytes = 0
      for try await part in inbound {
        switch part {
        case .head(let head):
          request = head
          bodyBytes = 0
        case .body(let buffer):
          bodyBytes += buffer.readableBytes
          guard bodyBytes <= Self.maxBodyBytes else { return }
        case .end:
          guard let head = request else { return }
          request = nil
          let response = await response(to: head, port: port)
          try await outbound.write(.head(response.head))
          if head.method != .HEAD {
            // In pieces: the connection copies what it writes.
            for start in stride(from: 0, to: response.body.count, by: Self.pieceBytes) {
              let piece = response.body[start...].prefix(Self.pieceBytes)
              try await outbound.write(.body(ByteBuffer(bytes: piece)))
            }
          }
          try await outbound.write(.end(nil))
          guard head.isKeepAlive else { return }
        }
      }
    }
  }

  private func response(to head: HTTPRequestHead, port: Int) async -> Response {
    guard let path = rules.path(of: head, port: port) else { return refusal(.forbidden, to: head) }
    guard [.GET, .HEAD].contains(head.method) else {
      return refusal(.methodNotAllowed, to: head)
    }
    // The socket's address, without an upgrade or with a foreign origin.
    guard path != "_bridge" else { return refusal(.forbidden, to: head) }
    guard let file = await files.content(path) else { return refusal(.notFound, to: head) }
    return response(.ok, to: head, file.type, file.bytes, port: port)
  }

  private func refusal(_ status: HTTPResponseStatus, to head: HTTPRequestHead) -> Response {
    response(status, to: head, "text/plain; charset=utf-8", [], port: nil)
  }

  private func response(
    _ status: HTTPResponseStatus, to head: HTTPRequestHead, _ type: String, _ body: [UInt8],
    port: Int?
  ) -> Response {
    var headers: HTTPHeaders = [
      "Content-Type": type, "Content-Length": String(body.count), "Cache-Control": "no-cache",
      "X-Content-Type-Options": "nosniff",
      // The address may hold the token.
      "Referrer-Policy": "no-referrer",
    ]
    if let port {
      for (name, value) in rules.headers(for: head, port: port) {
        headers.add(name: name, value: value)
      }
    }
    if !head.isKeepAlive { headers.add(name: "Connection", value: "close") }
    return Response(
      head: HTTPResponseHead(version: head.version, status: status, headers: headers), body: body)
  }
}
