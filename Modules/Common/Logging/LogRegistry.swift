#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
import Logging
import Synchronization

/// Which levels components start with (CA-9, CA-10).
///
/// In falling order: what the environment variable `SALESFORCE_LOG` says, what was set before and
/// kept in the file of ``keepLevels(in:)``, `debug` in debug builds and `error` in release builds.
/// The variable holds `component:level` pairs separated by commas; a level without a component is
/// for all the others, as in `warn,SmartStore:debug`. What it cannot understand is passed over.
public struct LogConfiguration: Sendable, Hashable {
  /// The name of the environment variable.
  public static let variable = "SALESFORCE_LOG"

  /// The level without any configuration.
  public static var buildLevel: LogLevel {
    #if DEBUG
      .debug
    #else
      .error
    #endif
  }

  private var levels: [String: LogLevel] = [:]
  private var others: LogLevel?

  /// Reads the variable's text.
  public init(_ text: String) {
    for entry in text.split(separator: ",") {
      let parts = entry.split(separator: ":", maxSplits: 1).map { part in
        String(part.drop { $0 == " " }.prefix { $0 != " " })
      }
      if parts.count == 2, let level = LogLevel(parts[1]) {
        levels[parts[0]] = level
      } else if parts.count == 1, let level = LogLevel(parts[0]) {
        others = level
      }
    }
  }

  /// The level of a component; nil if the text says nothing about it.
  public func level(of component: String) -> LogLevel? { levels[component] ?? others }

  /// Restores the levels that a file holds, for the loggers that exist and those to come, and
  /// from now on keeps every level that is set in it. A missing file is an empty one.
  ///
  /// - Throws: ``JSONError`` if the file holds something else; then nothing changes.
  ///   ``SecretStoreError`` `inputOutput` if it cannot be read.
  public static func keepLevels(in file: URL) throws {
    try LogRegistry.shared.keepLevels(in: file)
  }
}

/// The loggers of this process by component.
final class LogRegistry: Sendable {
  static let shared = LogRegistry(
    environment: ProcessInfo.processInfo.environment[LogConfiguration.variable] ?? "")

  private struct State {
    var loggers: [String: SalesforceLogger] = [:]
    var kept: [String: LogLevel] = [:]
    var file: URL?
  }

  private let state = Mutex(State())
  /// Orders the writes of the file, apart from `state`, so that no logging waits for a disk.
  private let writing = Mutex(())
  private let environment: LogConfiguration

  init(environment: String) { self.environment = LogConfiguration(environment) }

  func logger(_ component: String) -> SalesforceLogger {
    if let known = state.withLock({ $0.loggers[component] }) { return known }
    // The back end's factory is the program's code, so it is not called under the lock.
    let backend = Logger(label: component)
    return state.withLock { state in
      if let known = state.loggers[component] { return known }
      let level =
        environment.level(of: component) ?? state.kept[component] ?? LogConfiguration.buildLevel
      let logger = SalesforceLogger(component: component, level: level, backend: backend)
      state.loggers[component] = logger
      return logger
    }
  }

  var components: [String] { state.withLock { $0.loggers.keys.sorted() } }

  func flush() { state.withLock { $0.loggers = [:] } }

  func keepLevels(in file: URL) throws {
    var kept: [String: LogLevel] = [:]
    if let bytes = try read(file) {
      for (component, level) in try JSONSlice(parsing: bytes).decode(as: [String: String].self) {
        kept[component] = LogLevel(level)
      }
    }
    let restored = state.withLock { [kept] state in
      state.kept = kept
      state.file = file
      return state.loggers.values.compactMap { logger in
        kept[logger.component].map { (logger, $0) }
      }
    }
    for (logger, level) in restored where environment.level(of: logger.component) == nil {
      logger.restore(level)
    }
  }

  private func read(_ file: URL) throws(SecretStoreError) -> [UInt8]? {
    do {
      return try DurableFile(file).read()
    } catch {
      throw SecretStoreError(error)
    }
  }

  /// Keeps a level that was set on a logger of this registry.
  func levelChanged(of logger: SalesforceLogger, to level: LogLevel) {
    let file = state.withLock { state -> URL? in
      guard state.loggers[logger.component] === logger else { return nil }
      state.kept[logger.component] = level
      return state.file
    }
    guard let file else { return }
    let failure = writing.withLock { _ -> FileFailure? in
      // Read inside, so that the last writer writes the last state.
      let kept = state.withLock { $0.kept }
      let members = kept.sorted { $0.key < $1.key }
        .map { (key: $0.key, value: JSONValue.string($0.value.description)) }
      do throws(FileFailure) {
        try DurableFile(file).replace(with: Array(JSONValue.object(JSONObject(members)).text.utf8))
        return nil
      } catch {
        return error
      }
    }
    if let failure {
      logger.warning("The level holds for this run only.", error: failure)
    }
  }
}
