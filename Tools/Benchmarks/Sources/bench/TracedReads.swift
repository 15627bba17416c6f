import ArgumentParser
import Crypto
import Foundation
import Metrics
import SmartStore
import Tracing

/// The shortest call that is traced and measured: a read of a store that looks at nothing.
struct TracedReads: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "reads")

  @Argument(help: "plain: without a tracer and metrics; traced: with some that drop everything.")
  var contender: String
  @Option var count = 100_000

  func run() async throws {
    if contender == "traced" {
      InstrumentationSystem.bootstrap(NoOpTracer())
      MetricsSystem.bootstrap(MultiplexMetricsHandler(factories: []))
    }
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "fieldforce-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let stores = SmartStoreManager(
      root: folder, encryption: .encrypted(FixedKeyProvider(SymmetricKey(size: .bits256))))
    let store = try await stores.sharedGlobal()
    for _ in 0..<1_000 { try await store.read { _ in } }
    let start = ContinuousClock.now
    for _ in 0..<count { try await store.read { _ in } }
    try Measurement(seconds: (ContinuousClock.now - start) / .seconds(1)).print()
    try await stores.close()
  }
}
