import Crypto
import Foundation
import PeerSocket
import SalesforceHybridSDK
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import HybridServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Does a window get the app's files as https://localhost, and do only pages of allowed origins reach the bridge?
struct WindowTests {
  private static func with(
    mode: mode_t = 0o700,
    admitsPeer: @escaping @Sendable (SocketPeer) -> Bool = { $0.isThisUser },
    _ body: (_ socket: String, _ bridge: HybridBridge) async throws -> Void
  ) async throws {
    // A path of a Unix socket has at most 107 bytes.
    let folder = URL(filePath: "/tmp").appending(path: "ff-\(UUID().uuidString.prefix(8))")
    let www = folder.appending(path: "www")
    try FileManager.default.createDirectory(at: www, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try #require(chmod(folder.path, mode) == 0)
    try Data("<p>start</p>".utf8).write(to: www.appending(path: "index.html"))
    let socket = folder.appending(path: "s")
    let bridge = try HybridBridge(plugins: [EchoPlugin()])
    let origins = AllowedOrigins.standard
    var window = HybridServer.Window(socket: socket) { origins.admits(origin: $0) }
    window.admitsPeer = admitsPeer
    let server = try await HybridServer.start(bridge: bridge, www: www, window: window)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(socket.path, bridge))
    } catch {
      result = .failure(error)
    }
    await server.stop()
    try result.get()
  }

  private static func get(
    _ socket: String, _ path: String, host: String = "localhost", headers: [String] = []
  ) async throws -> RawConnection.Response {
    try await RawConnection.with(unixSocket: socket) {
      try await $0.request(path, host: host, headers: headers)
    }
  }

  @Test(.covers("HT-93.3"), arguments: [mode_t(0o755), 0o711, 0o750, 0o1777])
  func `a socket in a folder that other users may enter is refused`(mode: mode_t) async throws {
    let error = await #expect(throws: HybridServerError.self) {
      try await Self.with(mode: mode) { _, _ in }
    }
    #expect(error?.code == .cannotListen)
  }

  @Test(.covers("HT-93.3"))
  func `the socket's file is this user's alone, whatever its folder admits later`() async throws {
    try await Self.with { socket, _ in
      let attributes = try FileManager.default.attributesOfItem(atPath: socket)
      #expect(attributes[.type] as? FileAttributeType == .typeSocket)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test(.covers("HT-93.3"))
  func `a connection of another user is closed unread, and the next one of this user is served`()
    async throws
  {
    let peers = Mutex<[SocketPeer]>([])
    // The first process at the socket counts as one of another user.
    try await Self.with(admitsPeer: { peer in
      peers.withLock { peers in
        peers.append(peer)
        return peers.count > 1
      }
    }) { socket, _ in
      try await RawConnection.with(unixSocket: socket) { connection in
        // The server may have closed it before that.
        try? await connection.send("GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let received = (try? await connection.read(1)) ?? nil
        #expect(received == nil)
      }
      #expect(try await Self.get(socket, "/index.html").status == 200)
      #expect(
        peers.withLock { $0.map(\.process) } == [getpid(), getpid()]
          && peers.withLock { $0.allSatisfy(\.isThisUser) })
    }
  }

  @Test(.covers("HT-3", "HT-84"))
  func `a window gets files without a token, for pages of other origins too`() async throws {
    try await Self.with { socket, _ in
      let page = try await Self.get(socket, "/index.html?a=b")
      #expect(page.status == 200)
      #expect(page.body == "<p>start</p>")
      #expect(page.headers["content-security-policy"]?.contains("wss://localhost;") == true)
      #expect(page.headers["cross-origin-resource-policy"] == "cross-origin")
      #expect(page.headers["access-control-allow-origin"] == nil)
      #expect(try await Self.get(socket, "/").body == "<p>start</p>")
      #expect(try await Self.get(socket, "/cordova.js").status == 200)
      #expect(try await Self.get(socket, "/_error").body.contains("Try again"))
      for path in ["/../secret", "/%2e%2e/s", "/none", "/_start"] {
        let missing = try await Self.get(socket, path)
        #expect(missing.status == 404, "\(path)")
        #expect(missing.headers["content-type"]?.hasPrefix("text/plain") == true)
        #expect(missing.body.isEmpty)
      }
      for host in ["127.0.0.1", "localhost:80", "evil.example"] {
        #expect(try await Self.get(socket, "/index.html", host: host).status == 403, "\(host)")
      }
      for (origin, allowed) in [
        ("https://acme.my.salesforce.com", "https://acme.my.salesforce.com"),
        ("https://evil.example", nil),
      ] {
        let response = try await Self.get(
          socket, "/cordova.js", headers: ["Origin: \(origin)"])
        #expect(response.headers["access-control-allow-origin"] == allowed)
      }
    }
  }

  @Test(.covers("HT-4"))
  func `the bridge accepts sockets of allowed origins alone`() async throws {
    try await Self.with { socket, bridge in
      for origin in ["https://localhost", "https://acme.my.salesforce.com"] {
        try await RawConnection.with(unixSocket: socket) { connection in
          let answer = try await connection.request(
            "/_bridge", host: "localhost", headers: RawConnection.upgrade + ["Origin: \(origin)"])
          #expect(answer.status == 101)
          try await connection.send(call: SocketTests.call(1, "1"))
          #expect(
            try await connection.frame()?.text == #"{"id":1,"status":"ok","value":[1]}"#)
        }
      }
      let refused: [[String]] = [
        [], ["Origin: https://evil.example"], ["Origin: null"], ["Origin: http://localhost"],
        ["Origin: https://localhost", "Origin: https://evil.example"],
      ]
      for headers in refused {
        let answer = try await Self.get(
          socket, "/_bridge", headers: RawConnection.upgrade + headers)
        #expect(answer.status == 403, "\(headers)")
      }
      try await poll { bridge.sessionCount == 0 }
    }
  }

  @Test(.covers("HT-4"))
  func `an app's configuration adds origins, and no entry admits every page`() throws {
    let folder = try TemporaryFolder()
    let www = folder.file("www")
    try FileManager.default.createDirectory(at: www, withIntermediateDirectories: true)
    let config =
      #"<widget><access origin="*"/><allow-navigation href="https://app.example/*"/><access launch-external="yes" origin="https://*.cdn.example"/></widget>"#
    try Data(config.utf8).write(to: folder.file("config.xml"))
    try Data(#"{"allowedOrigins":["own.example", 7, "*"]}"#.utf8)
      .write(to: www.appending(path: "bootconfig.json"))
    let origins = AllowedOrigins(www: www)
    for (origin, isAllowed) in [
      ("https://app.example", true), ("https://x.cdn.example", true),
      ("https://own.example", true), ("https://localhost", true),
      ("https://other.example", false),
    ] {
      #expect(origins.admits(origin: origin) == isAllowed, "\(origin)")
    }
  }

  @Test func `the certificate is for localhost, new each time, and its key signs`() throws {
    let one = try LocalCertificate().pem
    #expect(one != (try LocalCertificate().pem))
    let parts = one.components(separatedBy: "-----END CERTIFICATE-----\n")
    #expect(parts.count == 2)
    #expect((try? P256.Signing.PrivateKey(pemRepresentation: parts[1])) != nil)
    let base64 = parts[0].split(separator: "\n").dropFirst().joined()
    let der = try #require(Data(base64Encoded: base64))
    #expect(der.range(of: Data("localhost".utf8)) != nil)
    let key = try P256.Signing.PrivateKey(pemRepresentation: parts[1])
    #expect(der.range(of: key.publicKey.derRepresentation) != nil)
  }
}
