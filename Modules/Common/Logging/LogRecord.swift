import Logging

/// One record of a log that passed the level of its logger, without secrets (CA-12, CA-20).
public struct LogRecord: Sendable {
  /// The component that wrote the record.
  public let component: String
  /// The severity.
  public let level: LogLevel
  /// The subject, such as a type's name; nil for none.
  public let tag: String?
  /// The text: redacted, line breaks escaped, the error not included.
  public let message: String
  /// The text of ``error``, redacted, line breaks escaped; nil if there is none.
  public let errorText: String?
  /// The error that the record reports. Its own texts are not redacted.
  public let error: (any Error)?
  /// The source file, as `module/file`.
  public let file: String
  /// The function.
  public let function: String
  /// The line in the source file.
  public let line: UInt

  /// The message, then a colon and the error if there is one.
  public var text: String { errorText.map { "\(message): \($0)" } ?? message }
}

/// A writer of the records of one component in place of swift-log (CA-13).
///
/// The component's ``SalesforceLogger`` filters records by level and passes on the rest; it sets
/// `level` for implementations that show it or pass it on. Calls come from any thread and must
/// return quickly, because the caller that logs waits for them.
public protocol LogImplementation: AnyObject, Sendable {
  /// The component that it was created for.
  var componentName: String { get }
  /// The lowest severity that is written. The logger sets it, for the first time before any record.
  var level: LogLevel { get set }
  /// Writes a record.
  func log(_ record: LogRecord)
}

/// A receiver of the records of one component, in addition to the implementation that writes them (CA-14).
///
/// Calls come from any thread and must return quickly. Records that a receiver logs itself, in its
/// call or in tasks that it starts there, are written but not delivered to receivers, which
/// prevents endless loops.
public protocol LogReceiver: Sendable {
  /// Receives a record that passed the level of its logger.
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

  /// Not used: every record is written.
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
