package import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes
import ServiceLifecycle

/// An HTTP server for this machine's own programs, from its first moment to its last.
///
/// It runs apart from its starter's task. One that is cancelled in the midst of accepting a connection
/// ends the process, so a graceful shutdown comes first, and a cancellation only if that does not end it.
package struct LocalServer: Sendable {
  /// The port that it took.
  package let port: Int
  private let services: ServiceGroup
  private let task: Task<Void, any Error>

  /// The time that connections may take to end before they are closed.
  private static let patience: Duration = .seconds(2)

  /// Starts a server and returns once it listens, cancelled or not; it serves until ``stop()``.
  ///
  /// It logs nothing: its lines would hold the addresses called, and with them codes and tokens.
  ///
  /// - Parameter port: 0 takes a free port.
  /// - Parameter limits: The limits of connections.
  /// - Parameter date: The `Date` header of a response that is sent now, as HTTP has it. Default: the machine's time.
  /// - Parameter onListening: Is called with the port before the first request can come.
  /// - Throws: The system's error, as when the port is taken; `CancellationError` if the server ended
  ///   before it listened.
  package static func start<Responder: HTTPResponder>(
    _ responder: Responder, host: String, port: Int, limits: ServerLimits = ServerLimits(),
    date: (@Sendable () -> String)? = nil,
    onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
  ) async throws -> LocalServer
  where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    let logger = Logger(label: "LocalServer") { _ in SwiftLogNoOpLogHandler() }
    let (events, sink) = AsyncStream<Result<Int, any Error>>.makeStream()
    let registry = ConnectionRegistry()
    let application = Application(
      responder: responder,
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: Self.handlers(limits, registry, date))),
      configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? port
        onListening(port)
        sink.yield(.success(port))
      },
      logger: logger)
    let services = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: [application], logger: logger))
    let task = Task {
      do {
        try await services.run()
        sink.finish()
      } catch {
        sink.yield(.failure(error))
        sink.finish()
        throw error
      }
    }
    guard let first = await Task(operation: { await events.first { _ in true } }).value else {
      throw CancellationError()
    }
    return LocalServer(port: try first.get(), services: services, task: task)
  }

  /// The handlers of a connection's requests and responses.
  private static func handlers(
    _ limits: ServerLimits, _ registry: ConnectionRegistry, _ date: (@Sendable () -> String)?
  ) -> [any RemovableChannelHandler] {
    let dates = date.map { [ResponseDates($0)] } ?? []
    return dates + [ConnectionGuard<HTTPRequestPart, HTTPResponsePart>(limits, registry)]
  }

  /// Stops listening, lets what is in flight end, and returns when all is closed, or after a few
  /// seconds if a connection does not end; in a cancelled task too.
  package func stop() async {
    await services.triggerGracefulShutdown()
    if await hasEnded(within: Self.patience) { return }
    task.cancel()
    _ = await hasEnded(within: Self.patience)
  }

  /// Waits for the server's end, but no longer than `limit`.
  private func hasEnded(within limit: Duration) async -> Bool {
    let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self)
    let watch = Task { [task] in
      _ = await task.result
      outcome.yield(true)
    }
    let fuse = Task {
      try await Task.sleep(for: limit)
      outcome.yield(false)
    }
    defer {
      watch.cancel()
      fuse.cancel()
    }
    return await Task { await outcomes.first { _ in true } }.value ?? true
  }
}
