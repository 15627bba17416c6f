import Logging

/// One record of a log that passed the level of its logger, without secrets (CA-12, CA-20).
public struct LogRecord: Sendable {
  /// The component that speaks.
  public let component: String
  /// How grave it is.
  public let level: LogLevel
  /// What it is about, such as a type's name; nil for nothing in particular.
  public let tag: String?
  /// The text: redacted, line breaks escaped, the error not included.
  public let message: String
  /// The text of ``error``, redacted, line breaks escaped; nil if there is none.
  public let errorText: String?
  /// The error that the record tells of. Its own texts have not been redacted.
  public let error: (any Error)?
  /// The source file, as `module/file`.
  public let file: String
  /// The function.
  public let function: String
  /// The line in the source file.
  public let line: UInt

  /// The message, and the error behind a colon.
  public var text: String { errorText.map { "\(message): \($0)" } ?? message }
}

/// A writer of the records of one component in place of swift-log (CA-13).
///
/// Its ``SalesforceLogger`` decides what is written and hands on what passes; `level` is set for
/// implementations that show it or pass it on. Called from any thread, and to return soon: who logs
/// waits for it.
public protocol LogImplementation: AnyObject, Sendable {
  /// The component that it was made for.
  var componentName: String { get }
  /// The least grave level that is written; set by the logger, at first before any record.
  var level: LogLevel { get set }
  /// Writes a record.
  func log(_ record: LogRecord)
}

/// A receiver of the records of one component, in addition to the implementation that writes them (CA-14).
///
/// Called from any thread, and to return soon. What it logs itself, in its call or in tasks that it
/// starts there, is written and not delivered to receivers, so it cannot go round in circles.
public protocol LogReceiver: Sendable {
  /// Takes a record that passed the level of its logger.
  func receive(_ record: LogRecord)
}

/// Marks the work of receivers.
enum LogDelivery {
  @TaskLocal static var isActive = false
}

/// The implementation unless the program brings its own: swift-log under the component's name.
final class Backend: LogImplementation {
  let componentName: String
  private let logger: Logger

  init(_ component: String, _ logger: Logger? = nil) {
    componentName = component
    var logger = logger ?? Logger(label: component)
    // The level is decided before.
    logger.logLevel = .trace
    self.logger = logger
  }

  /// Not used: everything that comes is written.
  var level: LogLevel {
    get { .verbose }
    set {}
  }

  func log(_ record: LogRecord) {
    logger.log(
      level: record.level.backendLevel, "\(record.text)", source: record.tag ?? record.place,
      file: record.file, function: record.function, line: record.line)
  }
}

extension LogRecord {
  /// The name of the source file without module and ending.
  fileprivate var place: String {
    let name = file.split(separator: "/").last ?? ""
    return String(name.prefix { $0 != "." })
  }
}
