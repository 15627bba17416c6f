public import Logging
import Synchronization

/// The log of one component of a program (CA-8 to CA-12).
///
/// Records go to swift-log under the component's name, with the tag, or else the source file's
/// name, as source. The program chooses the backend with `LoggingSystem.bootstrap` before it
/// creates the first logger; without a backend, records go to standard error, one line each. The
/// program can replace swift-log with its own implementation (``setImplementation(_:)``), add
/// receivers (``setReceivers(_:)``), and keep the last records in files
/// (``LogConfiguration/writeFiles(in:)``).
///
/// Every record passes ``Redaction`` first, and line breaks in it are escaped. A record below
/// ``level`` costs one atomic read; its message is never built.
///
/// ```swift
/// SalesforceLogger.logger(forComponent: "MyApp").info("\(count) records", tag: "Import")
/// ```
public final class SalesforceLogger: Sendable {
  /// The component's name.
  public let component: String
  private let threshold: Atomic<UInt8>
  private let implementation: any LogImplementation

  /// A logger outside of the registry, for a back end of the caller's own.
  ///
  /// - Parameter backend: Receives the records that pass `level`; its own level is ignored.
  public convenience init(component: String, level: LogLevel, backend: Logger) {
    self.init(component: component, level: level, implementation: Backend(component, backend))
  }

  /// A logger outside of the registry, for an implementation of the caller's own.
  public init(component: String, level: LogLevel, implementation: any LogImplementation) {
    self.component = component
    self.implementation = implementation
    threshold = Atomic(level.rawValue)
    implementation.level = level
  }

  /// The lowest severity that is written. A change takes effect at once, for this component only.
  /// Default: the level of ``LogConfiguration``.
  public var level: LogLevel {
    get { LogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .off }
    set {
      restore(newValue)
      LogRegistry.shared.levelChanged(of: self, to: newValue)
    }
  }

  /// Sets a level that was stored before, without storing it again.
  func restore(_ level: LogLevel) {
    threshold.store(level.rawValue, ordering: .relaxed)
    implementation.level = level
  }

  /// Whether a record of this level would be written.
  @inline(__always)
  public func isEnabled(_ level: LogLevel) -> Bool {
    level.rawValue >= threshold.load(ordering: .relaxed) && level != .off
  }

  /// Writes a record, if the level passes.
  ///
  /// - Parameters:
  ///   - tag: The subject of the record, such as a type's name; nil for none.
  ///   - error: An error to add to the message.
  ///   - message: Evaluated only if the record is written.
  public func log(
    _ level: LogLevel, tag: String? = nil, error: (any Error)? = nil, _ message: () -> String,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    guard isEnabled(level) else { return }
    func clean(_ text: String) -> String { Redaction.singleLine(Redaction.redact(text)) }
    let record = LogRecord(
      component: component, level: level, tag: tag.map(clean), message: clean(message()),
      errorText: error.map { clean("\($0)") }, error: error, file: file, function: function,
      line: line)
    implementation.log(record)
    LogRegistry.shared.file(of: component)?.add(record)
    guard !LogDelivery.isActive, let receiver = LogRegistry.shared.receiver(of: component) else {
      return
    }
    LogDelivery.$isActive.withValue(true) { receiver.receive(record) }
  }
}

// MARK: Components

extension SalesforceLogger {
  /// The component of ``default``.
  public static let defaultComponent = "SFSDK"

  /// Returns the logger of a component, which is created on first use.
  public static func logger(forComponent component: String) -> SalesforceLogger {
    LogRegistry.shared.logger(component)
  }

  /// The logger of the default component.
  public static var `default`: SalesforceLogger { logger(forComponent: defaultComponent) }

  /// Sets the factory of implementations, for components whose first logger is created from now on;
  /// existing loggers keep theirs. Call it when the program starts. Nil restores swift-log.
  ///
  /// - Parameter make: Makes the implementation of a component.
  public static func setImplementation(
    _ make: (@Sendable (_ component: String) -> any LogImplementation)?
  ) {
    LogRegistry.shared.setImplementation(make)
  }

  /// Sets the factory of receivers: each component gets one with its first record from now on.
  /// Earlier receivers get no more records. Nil ends all delivery.
  public static func setReceivers(
    _ make: (@Sendable (_ component: String) -> any LogReceiver)?
  ) {
    LogRegistry.shared.setReceivers(make)
  }

  /// The file that keeps this component's last records; nil unless
  /// ``LogConfiguration/writeFiles(in:)`` was called.
  public var file: LogFile? { LogRegistry.shared.file(of: component) }

  /// The components that have a logger, sorted.
  public static var components: [String] { LogRegistry.shared.components }

  /// Drops all loggers, so that the next use creates new ones with the backend of that time.
  /// Loggers that are still referenced keep working unchanged.
  public static func flushComponents() { LogRegistry.shared.flush() }
}

// MARK: Short forms

extension SalesforceLogger {
  /// Writes a record of level `verbose`.
  public func verbose(
    _ message: @autoclosure () -> String, tag: String? = nil, error: (any Error)? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(.verbose, tag: tag, error: error, message, file: file, function: function, line: line)
  }

  /// Writes a record of level `debug`.
  public func debug(
    _ message: @autoclosure () -> String, tag: String? = nil, error: (any Error)? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(.debug, tag: tag, error: error, message, file: file, function: function, line: line)
  }

  /// Writes a record of level `info`.
  public func info(
    _ message: @autoclosure () -> String, tag: String? = nil, error: (any Error)? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(.info, tag: tag, error: error, message, file: file, function: function, line: line)
  }

  /// Writes a record of level `default`.
  public func notice(
    _ message: @autoclosure () -> String, tag: String? = nil, error: (any Error)? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(.default, tag: tag, error: error, message, file: file, function: function, line: line)
  }

  /// Writes a record of level `warn`.
  public func warning(
    _ message: @autoclosure () -> String, tag: String? = nil, error: (any Error)? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(.warn, tag: tag, error: error, message, file: file, function: function, line: line)
  }

  /// Writes a record of level `error`.
  public func error(
    _ message: @autoclosure () -> String, tag: String? = nil, error: (any Error)? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(.error, tag: tag, error: error, message, file: file, function: function, line: line)
  }

  /// Writes a record of level `fault`.
  public func fault(
    _ message: @autoclosure () -> String, tag: String? = nil, error: (any Error)? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    log(.fault, tag: tag, error: error, message, file: file, function: function, line: line)
  }
}
