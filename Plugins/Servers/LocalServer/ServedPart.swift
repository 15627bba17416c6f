import HTTPTypes
package import NIOCore
package import NIOHTTP1
package import NIOHTTPTypes

/// A part of a request or of a response, in the types of either HTTP library.
package protocol ServedPart {
  /// The kind of the part.
  var kind: ServedPartKind { get }
  /// A head with `Connection: close`; another part as it is.
  var closing: Self { get }
}

/// The kind of a part of a request or a response.
package enum ServedPartKind {
  /// - Parameter isUpgrade: Whether what follows the request is in another protocol, if the server agrees.
  case head(isUpgrade: Bool)
  case body(bytes: Int)
  case end
}

extension HTTPRequestPart: ServedPart {
  package var kind: ServedPartKind {
    switch self {
    case .head(let head):
      .head(isUpgrade: head.method == .connect || head.headerFields[.upgrade] != nil)
    case .body(let bytes): .body(bytes: bytes.readableBytes)
    case .end: .end
    }
  }

  package var closing: Self {
    guard case .head(var head) = self else { return self }
    head.headerFields[.connection] = "close"
    return .head(head)
  }
}

extension HTTPResponsePart: ServedPart {
  package var kind: ServedPartKind {
    switch self {
    case .head: .head(isUpgrade: false)
    case .body(let bytes): .body(bytes: bytes.readableBytes)
    case .end: .end
    }
  }

  package var closing: Self {
    guard case .head(var head) = self else { return self }
    head.headerFields[.connection] = "close"
    return .head(head)
  }
}

/// The head of a request or of a response of NIO.
package protocol ServedHead {
  var headers: HTTPHeaders { get set }
  var isConnect: Bool { get }
}

extension HTTPRequestHead: ServedHead {
  package var isConnect: Bool { method == .CONNECT }
}

extension HTTPResponseHead: ServedHead {
  package var isConnect: Bool { false }
}

/// The bytes of a body in a type of NIO.
package protocol ServedBody {
  var readableBytes: Int { get }
}

extension ByteBuffer: ServedBody {}
extension IOData: ServedBody {}

extension HTTPPart: ServedPart where HeadT: ServedHead, BodyT: ServedBody {
  package var kind: ServedPartKind {
    switch self {
    case .head(let head): .head(isUpgrade: head.isConnect || head.headers.contains(name: "upgrade"))
    case .body(let body): .body(bytes: body.readableBytes)
    case .end: .end
    }
  }

  package var closing: Self {
    guard case .head(var head) = self else { return self }
    head.headers.replaceOrAdd(name: "connection", value: "close")
    return .head(head)
  }
}
