import ArgumentParser
import Foundation

/// Each subcommand times one contender once and prints one JSON object; the table's driver takes turns.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Times one contender of the benchmark table.",
    subcommands: [
      PageCommand.self, JSONCommand.self, StoreCommand.self, ServeCommand.self,
      SyncCommand.self, SmartStoreCommand.self, MockOrgCommand.self, CoreCommand.self,
      HybridCommand.self,
    ])
}

/// One contender's measurement, as the driver reads it.
struct Measurement: Encodable {
  var seconds: Double?
  var bytes: Int?
  var records: Int?
  var peakMegabytes: Double?
  var url: String?

  func print() throws {
    let text = try JSONEncoder().encode(self)
    FileHandle.standardOutput.write(text + Data("\n".utf8))
  }
}

/// The median of `rounds` runs of `body`, in seconds, after one that is not counted.
func medianSeconds(rounds: Int, _ body: () throws -> Void) rethrows -> Double {
  try body()
  let clock = ContinuousClock()
  var seconds: [Double] = []
  for _ in 0..<rounds { seconds.append(try clock.measure(body) / .seconds(1)) }
  return seconds.sorted()[rounds / 2]
}

/// The greatest resident set that this process had so far, in megabytes.
func peakMegabytes() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  #if os(Linux)
    return Double(usage.ru_maxrss) / 1024
  #else
    return Double(usage.ru_maxrss) / 1_048_576
  #endif
}
