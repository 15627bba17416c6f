import Foundation
import Subprocess
import Synchronization
import TestSupport
import Testing

@testable import PeerSocket

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// HT-95: who gets in at a socket, and with what?
@Suite(.ownThreads) struct PeerSocketTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.file("test.sock").path }

  private func failure(_ body: () async throws -> Void) async -> PeerSocketError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? PeerSocketError)?.code
    }
  }

  /// Sends raw bytes; what comes back until the other end closes, nil if it does not within ten seconds.
  private func raw(_ bytes: [UInt8], ends: Bool = false) -> [UInt8]? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(file) }
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { return nil }
    _ = bytes.withUnsafeBytes { send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if ends { shutdown(file, Int32(SHUT_WR)) }
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var received: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(file, &part, part.count, 0)
      if count == 0 { return received }
      guard count > 0 else { return errno == ECONNRESET ? received : nil }
      received += part[..<count]
    }
  }

  @Test(.covers("CO-167", "HT-95.5"))
  func `a message gets its response, and the peer is this process`() async throws {
    let peers = Mutex<[SocketPeer]>([])
    let listener = try await PeerListener.start(at: path) { message, peer in
      peers.withLock { $0.append(peer) }
      return message.reversed()
    }
    for message in [[], [1, 2, 3], [UInt8](repeating: 7, count: 65_536)] as [[UInt8]] {
      #expect(try await PeerSocket.exchange(message, at: path) == message.reversed())
    }
    let peer = try #require(peers.withLock { $0.first })
    #expect(peer.user == geteuid() && peer.process == getpid())
    #expect(
      peer.executable
        == (try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")))
    #expect(
      await failure { _ = try await PeerSocket.exchange([], at: path) { _ in false } }
        == .foreignPeer)
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    await listener.stop()
    #expect(lstat(path, &status) != 0)
    #expect(await failure { _ = try await PeerSocket.exchange([1], at: path) } == .absent)
  }

  @Test(.covers("HT-95.5"))
  func `too much, too slow, too many and unfinished messages get no response`() async throws {
    var limits = PeerSocketLimits()
    limits.maxMessageBytes = 8
    limits.maxConnections = 1
    limits.messageTimeout = .milliseconds(200)
    let calls = Mutex(0)
    let impatient = try await PeerListener.start(at: path, limits: limits) { message, _ in
      calls.withLock { $0 += 1 }
      return message
    }
    #expect(raw([0, 0, 0, 9] + [UInt8](repeating: 1, count: 9)) == [])
    // The length alone is enough to refuse it.
    #expect(raw([0xFF, 0xFF, 0xFF, 0xFF]) == [])
    #expect(raw([0, 0, 0, 2, 1]) == [], "slow")
    #expect(raw([0, 0, 0, 2, 1], ends: true) == [], "unfinished")
    #expect(raw([0, 0, 0, 1, 1, 2]) == [], "two messages")
    #expect(raw([]) == [], "silent")
    #expect(calls.withLock { $0 } == 0)
    await impatient.stop()
    // A busy machine may need more than that time, and the former connection counts until it is closed.
    limits.messageTimeout = .seconds(60)
    let listener = try await PeerListener.start(at: path, limits: limits) { message, _ in message }
    #expect(raw([0, 0, 0, 1, 5]) == [0, 0, 0, 1, 5])
    #expect(
      await failure {
        _ = try await PeerSocket.exchange([UInt8](repeating: 0, count: 9), at: path, limits: limits)
      } == .tooLong)
    await listener.stop()
  }

  @Test(.covers("HT-95.5"))
  func `one more connection than allowed is closed, and there is room again afterwards`()
    async throws
  {
    var limits = PeerSocketLimits()
    limits.maxConnections = 1
    let arrived = AsyncStream.makeStream(of: Void.self)
    let listener = try await PeerListener.start(at: path, limits: limits) { message, _ in
      if message == [1] {
        arrived.continuation.yield()
        try? await Task.sleep(for: .seconds(3600))
      }
      return message
    }
    let waiting = Task { try await PeerSocket.exchange([1], at: path) }
    _ = await arrived.stream.first { true }
    #expect(await failure { _ = try await PeerSocket.exchange([2], at: path) } != nil)
    waiting.cancel()
    _ = await waiting.result
    // The listener notices the cancelled exchange and cancels its response.
    try await poll { await failure { _ = try await PeerSocket.exchange([2], at: path) } == nil }
    await listener.stop()
  }

  @Test(.covers("HT-95.5", "HT-93.2"))
  func `a socket has one listener, and its folder is its user's alone`() async throws {
    let listener = try await PeerListener.start(at: path) { message, _ in message }
    #expect(await failure { _ = try await PeerListener.start(at: path) { _, _ in nil } } == .inUse)
    #expect(try await PeerSocket.exchange([1], at: path) == [1])
    await listener.stop()
    // A socket that a killed process left is replaced.
    try Data().write(to: folder.file("test.sock"))
    let next = try await PeerListener.start(at: path) { message, _ in message }
    #expect(try await PeerSocket.exchange([1], at: path) == [1])
    await next.stop()
    chmod(folder.url.path, 0o711)
    #expect(
      await failure { _ = try await PeerListener.start(at: path) { _, _ in nil } } == .unsafeFolder)
  }

  @Test(.covers("HT-95.5"))
  func `a missing folder is made for this user alone, and the socket's file is its own too`()
    async throws
  {
    let made = folder.file("made")
    let path = made.appending(path: "test.sock").path
    let listener = try await PeerListener.start(at: path) { message, _ in message }
    for (file, mode) in [(made.path, mode_t(0o700)), (path, 0o600)] {
      var status = stat()
      #expect(lstat(file, &status) == 0 && status.st_mode & 0o777 == mode, "\(file)")
    }
    await listener.stop()
  }

  @Test(
    .covers("CO-167", "HT-95.5"),
    .enabled(if: PeerSocketTests.canBeAnother, "only root can run a process of another user"))
  func `a process of another user gets nothing, even if it can reach the socket`() async throws {
    let calls = Mutex(0)
    let listener = try await PeerListener.start(at: path) { message, _ in
      calls.withLock { $0 += 1 }
      return message
    }
    func run(_ arguments: [String], asAnother: Bool = true) async throws -> String {
      let change = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
      let ended = try await Subprocess.run(
        .path("/usr/bin/env"), arguments: Arguments(asAnother ? change + arguments : arguments),
        output: .string(limit: 4096), error: .string(limit: 4096))
      return ended.standardOutput + ended.standardError
    }
    let text = "acmeidp://oauth2/v1.0/idpinit"
    let send = [try TwoApps.child().string, "send", path, text]
    // Without a check of its own, as a program that means harm.
    let script = """
      use IO::Socket::UNIX; $SIG{PIPE} = "IGNORE";
      my $s = IO::Socket::UNIX->new($ARGV[0]) or do { print "closed folder"; exit };
      print $s pack("N", 1), "x"; $s->flush; local $/; my $got = <$s>; print "got ", $got // "";
      """
    let harmful = ["perl", "-e", script, path]
    // The folder is what keeps it out first.
    #expect(try await run(send) == "error absent\n")
    #expect(try await run(harmful) == "closed folder")
    chmod(folder.url.path, 0o711)
    chmod(path, 0o666)
    #expect(try await run(harmful) == "got ")
    #expect(try await run(harmful, asAnother: false) == "got \0\0\0\u{1}x")
    #expect(calls.withLock { $0 } == 1)
    // The other way: a process of this user sends nothing to a listener of another one.
    #expect(try await run(send) == "error foreignPeer\n")
    #expect(try await run(send, asAnother: false) == "response \(text)\n")
    #expect(calls.withLock { $0 } == 2)
    await listener.stop()
  }

  /// Whether a process of another user can be started here.
  static var canBeAnother: Bool {
    geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
  }
}
