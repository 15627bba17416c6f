public import Foundation
import HeapSystem
import LocalServer
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import PeerSocket
public import SalesforceHybridSDK
public import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A server for an app's pages on this machine, which connects them to a `HybridBridge`.
///
/// It listens only on 127.0.0.1. The address contains a token that is new for each server: every
/// program that knows the address may use the bridge. Requests with another `Host`, and sockets
/// with the `Origin` of another page, are refused.
///
/// ```swift
/// let server = try await HybridServer.start(bridge: bridge, www: folder)
/// print(server.info)
/// ```
public final class HybridServer: Sendable {
  /// The address of the pages, with the token and a slash at its end.
  public let url: String
  /// The address of the start page; nil without a www folder.
  public let startURL: String?
  /// The address of the WebSocket.
  public let socketURL: String
  /// The port.
  public let port: Int

  private let bridge: HybridBridge
  private let task: Task<Void, Never>

  /// The time that ``stop()`` waits for running calls.
  private static let patience: Duration = .seconds(5)

  private enum Connection: Sendable {
    case files(FileConnection.Stream)
    case socket(SocketConnection.Stream, SocketBytes)
  }

  /// A window with a web engine, whose pages are at `https://localhost`.
  public struct Window: Sendable {
    let socket: URL
    let admits: @Sendable (_ origin: String) -> Bool
    /// Whether the process at the other end of a connection is admitted. Default: those of this user.
    var admitsPeer: @Sendable (SocketPeer) -> Bool = { $0.isThisUser }

    /// - Parameters:
    ///   - socket: The file of a Unix socket to listen on, in a folder that only this user can
    ///     enter. It gets the permissions 0600, and connections of other users are closed unread. The
    ///     window forwards the engine's connections to `https://localhost` to it.
    ///   - admits: Whether pages of an origin may call the bridge.
    public init(socket: URL, admits: @escaping @Sendable (_ origin: String) -> Bool) {
      self.socket = socket
      self.admits = admits
    }
  }

  private init(
    bridge: HybridBridge, port: Int, token: String, startPage: String?, task: Task<Void, Never>
  ) {
    self.bridge = bridge
    self.port = port
    self.task = task
    let host = AccessRules.host(port)
    url = "http://\(host)/\(token)/"
    socketURL = "ws://\(host)/\(token)/_bridge"
    startURL = startPage.map { "http://\(host)/\(token)/\($0)" }
  }

  /// Starts a server and returns once it listens; it runs until ``stop()``.
  ///
  /// - Parameters:
  ///   - bridge: Closed by ``stop()``.
  ///   - www: The folder of the app's pages. Without one, only the bridge's scripts and the socket
  ///     are served.
  ///   - startPage: The page at the address itself, relative to `www`. Default: `index.html`.
  ///   - port: 0 chooses a free port.
  ///   - window: A window to serve as well. Default: none.
  /// - Throws: ``HybridServerError``.
  public static func start(
    bridge: HybridBridge, www: URL? = nil, startPage: String = "index.html", port: Int = 0,
    window: Window? = nil
  ) async throws(HybridServerError) -> HybridServer {
    try await start(
      bridge: bridge, www: www, startPage: startPage, port: port, window: window,
      limits: defaultLimits)
  }

  /// The setting of the heap, made once in a process. A bulk upsert has its message, its entries and its response in
  /// memory, 30 MB together, which would stay in the process.
  private static let returnsLargeBuffers: Void = heap_return_large_buffers(1 << 20)

  /// Fewer connections than a process has file descriptors: the app needs some for its stores.
  private static var defaultLimits: ServerLimits {
    var limits = ServerLimits()
    limits.maxConnections = 256
    return limits
  }

  static func start(
    bridge: HybridBridge, www: URL? = nil, startPage: String = "index.html", port: Int = 0,
    window: Window? = nil, limits: ServerLimits
  ) async throws(HybridServerError) -> HybridServer {
    Self.returnsLargeBuffers
    let files = try PageFiles(www: www, startPage: startPage)
    let token = AccessRules.randomToken()
    let socket = SocketConnection(bridge: bridge)
    let doors = Doors(
      registry: ConnectionRegistry(), limits: limits,
      budget: SocketBudget(maxFrameBytes: bridge.limits.maxFrameBytes))
    let listener = try await listen(at: .port(port), .token(token), bridge, doors)
    let bound = listener.channel.localAddress?.port ?? port
    let pages = FileConnection(rules: .token(token), files: files)
    var servings = [Task { await accept(listener, pages, socket) }]
    if let window {
      let rules = AccessRules.window(admits: window.admits)
      do throws(HybridServerError) {
        let listener = try await listen(at: .socket(window), rules, bridge, doors)
        let pages = FileConnection(rules: rules, files: files)
        servings.append(Task { await accept(listener, pages, socket) })
      } catch {
        for serving in servings {
          serving.cancel()
          await serving.value
        }
        throw error
      }
    }
    let task = Task { [servings] in
      await withTaskCancellationHandler {
        for serving in servings { await serving.value }
      } onCancel: {
        for serving in servings { serving.cancel() }
      }
    }
    return HybridServer(
      bridge: bridge, port: bound, token: token, startPage: www == nil ? nil : startPage,
      task: task)
  }

  /// The three addresses, as `fieldforce hybrid serve` prints them.
  public var info: JSONValue {
    [
      "url": .string(url), "startUrl": startURL.map { .string($0) } ?? .null,
      "socket": .string(socketURL),
    ]
  }

  /// Stops listening, closes all connections and waits for running calls, for a few seconds at
  /// most. Accepted calls are still executed.
  public func stop() async {
    task.cancel()
    await task.value
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let closing = Task { [bridge] in
      await bridge.close()
      end.yield()
    }
    let fuse = Task {
      try? await Task.sleep(for: Self.patience)
      end.yield()
    }
    // Also in a cancelled task.
    await Task { await ends.first { true } }.value
    fuse.cancel()
    closing.cancel()
  }

  // MARK: Connections

  private typealias Listener = NIOAsyncChannel<EventLoopFuture<Connection>, Never>

  /// The address of a server.
  private enum Place {
    case port(Int)
    case socket(Window)

    /// Whether a connection may be read; one of a socket only if the system names an admitted process.
    func admits(_ channel: any Channel) -> Bool {
      guard case .socket(let window) = self else { return true }
      return SocketPeer(of: channel).map(window.admitsPeer) ?? false
    }
  }

  /// The state that all connections of a server share.
  private struct Doors: Sendable {
    let registry: ConnectionRegistry
    let limits: ServerLimits
    let budget: SocketBudget
  }

  private static func listen(
    at place: Place, _ rules: AccessRules, _ bridge: HybridBridge, _ doors: Doors
  ) async throws(HybridServerError) -> Listener {
    let maxFrameBytes = bridge.limits.maxFrameBytes
    let initialize: @Sendable (any Channel) -> EventLoopFuture<EventLoopFuture<Connection>> = {
      channel in
      guard place.admits(channel) else {
        // Fails this connection alone: an error of the setup would end the listener.
        channel.close(promise: nil)
        return channel.eventLoop.makeSucceededFuture(
          channel.eventLoop.makeFailedFuture(ChannelError.inputClosed))
      }
      return channel.eventLoop.makeCompletedFuture {
        try addHandlers(to: channel, rules, doors, maxFrameBytes: maxFrameBytes)
      }
    }
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    if case .socket(let window) = place { try checkFolder(of: window.socket) }
    do {
      switch place {
      case .port(let port):
        return
          try await bootstrap
          .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
          .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
          .bind(host: "127.0.0.1", port: port, childChannelInitializer: initialize)
      case .socket(let window):
        let path = window.socket.path(percentEncoded: false)
        let listener = try await bootstrap.bind(
          unixDomainSocketPath: path, cleanupExistingSocketFile: true,
          childChannelInitializer: initialize)
        // Whatever the mask of the process is. Until here the folder alone kept other users out.
        guard chmod(path, 0o600) == 0 else {
          let failure = FileFailure("kept from other users", path, errno: errno)
          try? await listener.channel.close()
          throw failure
        }
        return listener
      }
    } catch {
      let (place, remedy) =
        switch place {
        case .port(let port): ("port \(port)", "Choose another port, or 0 for any.")
        case .socket(let window):
          (window.socket.path(percentEncoded: false), "Choose another file.")
        }
      throw HybridServerError(
        .cannotListen, "Cannot listen on \(place). \(remedy)", cause: error)
    }
  }

  /// Refuses a socket in a folder that other users may enter: its file alone decides who may use the server.
  private static func checkFolder(of socket: URL) throws(HybridServerError) {
    do throws(FileFailure) {
      let folder = socket.deletingLastPathComponent().path(percentEncoded: false)
      try DurableFile.checkFolder(folder, .owner)
    } catch {
      throw HybridServerError(
        .cannotListen,
        "Cannot listen on \(socket.path(percentEncoded: false)): other users may enter its folder. "
          + "Choose a folder that is yours alone.", cause: error)
    }
  }

  /// Adds what serves files, or a socket where the rules admit one.
  private static func addHandlers(
    to channel: any Channel, _ rules: AccessRules, _ doors: Doors, maxFrameBytes: Int
  ) throws -> EventLoopFuture<Connection> {
    let upgrader = NIOTypedWebSocketServerUpgrader<Connection>(
      maxFrameSize: maxFrameBytes,
      // The gate has let it pass.
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          let bytes = doors.budget.open()
          do {
            try channel.pipeline.syncOperations.handler(type: ConnectionGauge.self).upgrade(channel)
            {
              bytes.arrived($0)
            } onClose: {
              bytes.close()
            }
          } catch {
            bytes.close()
            throw error
          }
          return Connection.socket(
            try SocketConnection.Stream(wrappingChannelSynchronously: channel), bytes)
        }
      })
    let configuration = NIOTypedHTTPServerUpgradeConfiguration(
      upgraders: [upgrader],
      notUpgradingCompletionHandler: { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ResponsePartHandler())
          return .files(try FileConnection.Stream(wrappingChannelSynchronously: channel))
        }
      })
    return try addHandlers(to: channel, SocketGate(rules, doors.budget), doors, configuration)
  }

  /// Adds what reads requests and opens sockets, as NIO does it, with the gate in front of the upgrade.
  ///
  /// - Returns: The kind of the connection, once its first request has arrived.
  private static func addHandlers(
    to channel: any Channel, _ gate: SocketGate, _ doors: Doors,
    _ configuration: NIOTypedHTTPServerUpgradeConfiguration<Connection>
  ) throws -> EventLoopFuture<Connection> {
    let encoder = HTTPResponseEncoder()
    let handlers: [any ChannelInboundHandler & RemovableChannelHandler] = [
      ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes)),
      ConnectionGuard<HTTPServerRequestPart, HTTPServerResponsePart>(
        doors.limits, doors.registry, refusesUpgrades: false),
      HTTPServerPipelineHandler(), HTTPServerProtocolErrorHandler(), gate,
    ]
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(encoder)
    try pipeline.addHandlers(handlers)
    let upgrade = NIOTypedHTTPServerUpgradeHandler(
      httpEncoder: encoder, extraHTTPHandlers: handlers, upgradeConfiguration: configuration)
    try pipeline.addHandler(upgrade)
    return upgrade.upgradeResultFuture
  }

  /// Serves connections until the task is cancelled, then waits until all are closed. What fails on one
  /// connection ends that connection alone.
  private static func accept(
    _ listener: NIOAsyncChannel<EventLoopFuture<Connection>, Never>, _ files: FileConnection,
    _ socket: SocketConnection
  ) async {
    await withDiscardingTaskGroup { group in
      try? await listener.executeThenClose { inbound in
        for try await connection in inbound {
          group.addTask {
            switch try? await connection.get() {
            case .files(let stream)?: try? await files.serve(stream)
            case .socket(let stream, let bytes)?:
              try? await socket.serve(stream, counting: bytes)
            case nil: break
            }
          }
        }
      }
      group.cancelAll()
    }
  }
}
