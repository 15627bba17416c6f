#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
import Synchronization

/// The initial log levels of components (CA-9, CA-10).
///
/// By precedence: the environment variable `SALESFORCE_LOG`; the levels that were set before and
/// stored in the file of ``keepLevels(in:)``; `debug` in debug builds and `error` in release
/// builds. The variable has `component:level` pairs separated by commas; a level without a
/// component applies to all others, as in `warn,SmartStore:debug`. Invalid parts are ignored.
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

  /// Returns the level of a component; nil if the text says nothing about it.
  public func level(of component: String) -> LogLevel? { levels[component] ?? others }

  /// Restores the levels in a file, for existing and future loggers, and from now on stores every
  /// level that is set in this file. A missing file counts as empty.
  ///
  /// - Throws: ``LogError`` `damaged` if the file has other content, `inputOutput` if it cannot be
  ///   read; then nothing changes.
  public static func keepLevels(in file: URL) throws(LogError) {
    try LogRegistry.shared.keepLevels(in: file)
  }

  /// Makes each component also write to its own file in `folder` from now on, up to the component's
  /// limit, by default ``LogFile/defaultMaxLines`` (CA-15). The first line creates the folder.
  public static func writeFiles(in folder: URL) {
    LogRegistry.shared.writeFiles(in: folder)
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
    var makeImplementation: (@Sendable (String) -> any LogImplementation)?
    var makeReceiver: (@Sendable (String) -> any LogReceiver)?
    var receivers: [String: any LogReceiver] = [:]
    var folder: URL?
    var files: [String: LogFile] = [:]
  }

  private let state = Mutex(State())
  /// Orders the writes of the file, apart from `state`, so that no logging waits for a disk.
  private let writing = Mutex(())
  private let environment: LogConfiguration

  init(environment: String) { self.environment = LogConfiguration(environment) }

  func logger(_ component: String) -> SalesforceLogger {
    if let known = state.withLock({ $0.loggers[component] }) { return known }
    // The factories are the program's code, so they are not called under the lock.
    let backend = state.withLock({ $0.makeImplementation })?(component) ?? Backend(component)
    return state.withLock { state in
      if let known = state.loggers[component] { return known }
      let level =
        environment.level(of: component) ?? state.kept[component] ?? LogConfiguration.buildLevel
      let logger = SalesforceLogger(component: component, level: level, implementation: backend)
      state.loggers[component] = logger
      return logger
    }
  }

  var components: [String] { state.withLock { $0.loggers.keys.sorted() } }

  func flush() { state.withLock { $0.loggers = [:] } }

  func setImplementation(_ make: (@Sendable (String) -> any LogImplementation)?) {
    state.withLock { $0.makeImplementation = make }
  }

  func setReceivers(_ make: (@Sendable (String) -> any LogReceiver)?) {
    state.withLock { state in
      state.makeReceiver = make
      state.receivers = [:]
    }
  }

  /// Writes files from now on, or none any more if `folder` is nil.
  func writeFiles(in folder: URL?) {
    state.withLock { state in
      state.folder = folder
      state.files = [:]
    }
  }

  /// The receiver of a component, made for its first record; nil if there are none.
  func receiver(of component: String) -> (any LogReceiver)? {
    let (known, make) = state.withLock { ($0.receivers[component], $0.makeReceiver) }
    if let known { return known }
    guard let made = make?(component) else { return nil }
    return state.withLock { state in
      if let known = state.receivers[component] { return known }
      state.receivers[component] = made
      return made
    }
  }

  /// The file of a component; nil if files are not written.
  func file(of component: String) -> LogFile? {
    let (known, folder) = state.withLock { ($0.files[component], $0.folder) }
    if let known { return known }
    guard let folder else { return nil }
    // It reads its limit, so it is made outside of the lock.
    let made = LogFile(component: component, in: folder)
    return state.withLock { state in
      if let known = state.files[component] { return known }
      guard state.folder == folder else { return nil }
      state.files[component] = made
      return made
    }
  }

  func keepLevels(in file: URL) throws(LogError) {
    var kept: [String: LogLevel] = [:]
    if let bytes = try read(file) {
      do {
        for (component, level) in try JSONSlice(parsing: bytes).decode(as: [String: String].self) {
          kept[component] = LogLevel(level)
        }
      } catch {
        throw LogError(
          .damaged,
          "\(file.path) is not a JSON object of components and their levels. Correct or remove it.",
          cause: error)
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

  private func read(_ file: URL) throws(LogError) -> [UInt8]? {
    do {
      return try DurableFile(file).read()
    } catch {
      throw LogError(.inputOutput, "\(error).", cause: error)
    }
  }

  /// Records a level that was set on a logger of this registry.
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
