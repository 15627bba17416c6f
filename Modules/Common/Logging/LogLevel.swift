import Logging

/// The severity of a log record, from `verbose` to `off` (CA-9).
public enum LogLevel: UInt8, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
  case verbose, debug, info, `default`, warn, error, fault
  /// A level that silences a logger. No record has it.
  case off

  /// Orders by severity.
  public static func < (left: LogLevel, right: LogLevel) -> Bool {
    left.rawValue < right.rawValue
  }

  /// Reads a level's name in any case. The names `notice`, `warning`, `critical` and `trace` of
  /// other logging systems are accepted, too.
  public init?(_ name: String) {
    switch name.lowercased() {
    case "verbose", "trace": self = .verbose
    case "debug": self = .debug
    case "info": self = .info
    case "default", "notice": self = .default
    case "warn", "warning": self = .warn
    case "error": self = .error
    case "fault", "critical": self = .fault
    case "off", "none": self = .off
    default: return nil
    }
  }

  /// The level of an OS log type of the iOS library (0, 1, 2, 16, 17); nil for another number.
  public init?(osLogType: Int) {
    switch osLogType {
    case 0: self = .default
    case 1: self = .info
    case 2: self = .debug
    case 16: self = .error
    case 17: self = .fault
    default: return nil
    }
  }

  /// The level of a number of the Android library (1 verbose to 6 off); nil for another number.
  public init?(androidLevel: Int) {
    switch androidLevel {
    case 1: self = .verbose
    case 2: self = .debug
    case 3: self = .info
    case 4: self = .warn
    case 5: self = .error
    case 6: self = .off
    default: return nil
    }
  }

  /// The name in lower case.
  public var description: String {
    switch self {
    case .verbose: "verbose"
    case .debug: "debug"
    case .info: "info"
    case .default: "default"
    case .warn: "warn"
    case .error: "error"
    case .fault: "fault"
    case .off: "off"
    }
  }

  /// The level of the logging library underneath.
  var backendLevel: Logger.Level {
    switch self {
    case .verbose: .trace
    case .debug: .debug
    case .info: .info
    case .default: .notice
    case .warn: .warning
    case .error: .error
    case .fault, .off: .critical
    }
  }
}
