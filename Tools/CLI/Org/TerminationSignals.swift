import Dispatch
import Foundation

/// Turns the first SIGINT or SIGTERM into an event instead of a sudden end.
struct TerminationSignals: Sendable {
  private let arrivals: AsyncStream<Void>
  /// Unsafe because Dispatch does not say that its sources may cross tasks; these are held and no more.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  /// Takes over both signals from now on.
  init() {
    let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    self.arrivals = arrivals
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { arrival.yield() }
      source.resume()
      return source
    }
  }

  /// Waits for the first of them.
  func first() async {
    for await _ in arrivals { return }
  }
}
