import Hummingbird
import Logging
import NIOCore
import SalesforceSDKCore
import ServiceLifecycle

/// The server that hears the redirect, from its first moment to its last.
final class Listener: Sendable {
  /// The port that it took.
  let port: Int
  private let services: ServiceGroup
  private let task: Task<Void, any Error>

  /// How long connections may take to end before they are cut.
  private static let patience: Duration = .seconds(2)

  private init(port: Int, services: ServiceGroup, task: Task<Void, any Error>) {
    self.port = port
    self.services = services
    self.task = task
  }

  /// Opens a listener; it answers until ``close()``, which must be called.
  ///
  /// - Throws: `OAuthError` `browserLaunchFailed` if the port is taken.
  static func open(at place: RedirectPlace, _ callback: Callback) async throws(OAuthError)
    -> Listener
  {
    var logger = Logger(label: "LoopbackLogin")
    // Its lines would hold the address called, and with it the code.
    logger.logLevel = .critical
    let (events, sink) = AsyncStream<Result<Int, any Error>>.makeStream()
    let server = Application(
      responder: CallbackResponder(callback: callback, place: place),
      configuration: ApplicationConfiguration(
        address: .hostname(place.bindAddress, port: place.port), serverName: nil),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? place.port
        callback.didListen(on: port)
        sink.yield(.success(port))
      },
      logger: logger)
    let services = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: [server], logger: logger))
    // Apart from the caller's task: a server that is cancelled in the midst of accepting a
    // connection ends the process, so it is asked to end, and cancelled only if it does not.
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
    let first = await Task { await events.first { _ in true } }.value
    switch first {
    case .success(let port)?:
      return Listener(port: port, services: services, task: task)
    case .failure(let error)?:
      throw failure(place, error)
    case nil:
      throw failure(place, nil)
    }
  }

  /// Stops listening, lets what is under way end, and returns when all is closed, or after a few
  /// seconds if a connection does not end.
  func close() async {
    await services.triggerGracefulShutdown()
    if await hasEnded(within: Self.patience) { return }
    task.cancel()
    _ = await hasEnded(within: Self.patience)
  }

  /// Waits for the server's end, but no longer than `limit`; the caller's cancellation changes
  /// nothing.
  private func hasEnded(within limit: Duration) async -> Bool {
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    let watch = Task { [task] in
      _ = await task.result
      answer.yield(true)
    }
    let fuse = Task {
      try await Task.sleep(for: limit)
      answer.yield(false)
    }
    defer {
      watch.cancel()
      fuse.cancel()
    }
    return await Task { await answers.first { _ in true } }.value ?? true
  }

  private static func failure(_ place: RedirectPlace, _ cause: (any Error)?) -> OAuthError {
    OAuthError(
      .browserLaunchFailed,
      "no listener could be opened at \(place.bindAddress) port \(place.port); free the port, "
        + "or let the connected app use port 0", cause: cause)
  }
}
