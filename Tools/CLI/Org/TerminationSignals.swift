import Dispatch
import Foundation

/// Turns the first SIGINT or SIGTERM into an event instead of a sudden end.
struct TerminationSignals {
  private let arrivals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

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
