import Foundation
import IdentityProviderURLs
import NIOCore
import NIOEmbedded
import NIOWebSocket
@testable import SalesforceSDKCommon

@testable import DBusClient
@testable import SalesforceHybridSDK
@testable import SalesforceSDKCore

/// Frames of WebSockets, pages and D-Bus, responses of servers, and URLs.
extension FuzzedParser {
  static let webSocket = FuzzedParser(name: "web-socket") { (bytes) throws(Finding) in
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish() }
    do {
      try channel.pipeline.syncOperations.addHandlers([
        ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 1 << 20)),
        WebSocketProtocolErrorHandler(isServer: true),
        NIOWebSocketFrameAggregator(
          minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 16,
          maxAccumulatedFrameSize: 1 << 20),
      ])
      try channel.writeInbound(ByteBuffer(bytes: bytes))
      while let frame: WebSocketFrame = try channel.readInbound() {
        _ = try? HybridFrame.parse(Array(frame.unmaskedData.readableBytesView), limits: .init())
      }
    } catch { return }
  }

  static let pageFrames = FuzzedParser(name: "page-frames") { (bytes) throws(Finding) in
    guard case .call(let frame)? = try? HybridFrame.parse(bytes, limits: .init()) else { return }
    try require(!frame.id.isEmpty, "a call has an id")
  }

  static let dbus = FuzzedParser(name: "dbus") { (bytes) throws(Finding) in
    if bytes.count >= 16 { _ = try? DBusMessage.length(Array(bytes.prefix(16))) }
    guard let message = try? DBusMessage(bytes) else { return }
    guard let again = try? DBusMessage(message.bytes) else {
      throw Finding(description: "a message that is read can be written and read again")
    }
    try require(again.body == message.body, "a body that is written and read is the same")
  }

  static let responses = FuzzedParser(name: "responses") { (bytes) throws(Finding) in
    let (form, bytes) = choice(bytes, of: 4)
    switch form {
    case 0: _ = try? TokenResponse(RestResponse(status: 200, body: bytes), during: "the login")
    case 1: _ = try? TokenResponse(RestResponse(status: 400, body: bytes), during: "the login")
    case 2:
      if let stored = StoredResponse(bytes) {
        try require(
          StoredResponse(stored.bytes)?.body == stored.body,
          "a response that is stored and read is the same")
      }
    default:
      let index = CacheIndex(bytes)
      try require(index.totalBytes >= 0, "the sizes of a cache have a sum")
      try require(CacheIndex(index.bytes) == index, "an index that is written and read is the same")
    }
  }

  static let urls = FuzzedParser(name: "urls") { (bytes) throws(Finding) in
    let text = text(bytes)
    _ = try? IdentityURL(parsing: text)
    if let server = try? LoginServer(text) {
      try require(
        (try? LoginServer(server.url.absoluteString)) == server,
        "a login server that is written and read is the same")
    }
    if let identity = UserAccountIdentity(identityURL: text) {
      try require(
        !identity.userId.isEmpty && !identity.organizationId.isEmpty, "an identity has both ids")
    }
    let request = RestRequest(path: text)
    _ = request.target()
    _ = try? request.url(base: nil, apiVersion: RestRequest.defaultAPIVersion)
    _ = PercentEncoding.decode(text)
    try require(
      PercentEncoding.decode(PercentEncoding.encode(text)) == text,
      "a text that is encoded and decoded is the same")
  }
}
