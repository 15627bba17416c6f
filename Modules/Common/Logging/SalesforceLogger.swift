public import Logging
import Synchronization

/// The log of one component of a program (CA-8 to CA-12).
///
/// Records go to swift-log under the component's name, with the tag, or else the source file's name,
/// as source. The program chooses the back end with `LoggingSystem.bootstrap` before the first logger
/// is made; without one they go to standard error, a line each. An implementation of the program's
/// own takes the place of all that (``setImplementation(_:)``), receivers hear records besides
/// (``setReceivers(_:)``), and files keep the last ones (``LogConfiguration/writeFiles(in:)``).
///
/// Every record passes ``Redaction`` first, and line breaks in it are escaped. A record below
/// ``level`` costs one atomic read, and its message is never made.
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
  /// - Parameter backend: Receives what passes `level`; a level of its own is not asked.
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

  /// The least grave level that is written. Changing it takes effect at once, for this component
  /// alone. Default: what ``LogConfiguration`` says.
  public var level: LogLevel {
    get { LogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .off }
    set {
      restore(newValue)
      LogRegistry.shared.levelChanged(of: self, to: newValue)
    }
  }

  /// Sets a level that was kept before, without keeping it again.
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
  ///   - tag: What the record is about, such as a type's name; nil for nothing in particular.
  ///   - error: An error to add to the message.
  ///   - message: Made only if the record is written.
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

  /// The logger of a component: made on first use, the same one afterwards.
  public static func logger(forComponent component: String) -> SalesforceLogger {
    LogRegistry.shared.logger(component)
  }

  /// The logger of the default component.
  public static var `default`: SalesforceLogger { logger(forComponent: defaultComponent) }

  /// Makes the implementation of components whose first logger is made from now on; loggers that exist
  /// keep theirs. To be called when the program starts. Nil means swift-log again.
  ///
  /// - Parameter make: Makes the implementation of a component.
  public static func setImplementation(
    _ make: (@Sendable (_ component: String) -> any LogImplementation)?
  ) {
    LogRegistry.shared.setImplementation(make)
  }

  /// Makes one receiver for each component, with its first record from now on; those made before hear
  /// nothing any more. Nil ends all delivery.
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

  /// Forgets all loggers, so that the next use makes new ones with a back end of its day. Those in
  /// use elsewhere keep working as they are.
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
