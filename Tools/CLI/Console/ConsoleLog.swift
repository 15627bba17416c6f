import Foundation
import SalesforceSDKCommon

/// The log of the libraries in a command. It is empty unless requested, since a command reports
/// its errors itself, in one place.
enum ConsoleLog {
  /// Installs the log. Must be called before anything is logged.
  ///
  /// - Parameter arguments: The command line. `--verbose` anywhere in it enables the log, as does
  ///   the environment variable of ``LogConfiguration``.
  static func install(for arguments: [String]) {
    let isWanted =
      arguments.contains("--verbose")
      || ProcessInfo.processInfo.environment[LogConfiguration.variable] != nil
    SalesforceLogger.setImplementation { component in
      ConsoleLogger(component, isSilent: !isWanted)
    }
    if arguments.contains("--verbose") {
      // Release builds begin with errors alone.
      for component in ["SalesforceSDKCore", "SmartStore", "MobileSync"] {
        let logger = SalesforceLogger.logger(forComponent: component)
        if !logger.isEnabled(.debug) { logger.level = .debug }
      }
    }
  }
}

/// A logger that writes the records of a component as `level component tag: text`, one per line.
private final class ConsoleLogger: LogImplementation {
  let componentName: String
  private let isSilent: Bool

  init(_ component: String, isSilent: Bool) {
    componentName = component
    self.isSilent = isSilent
  }

  /// Not used: everything that comes is written.
  var level: LogLevel {
    get { .verbose }
    set {}
  }

  func log(_ record: LogRecord) {
    if isSilent { return }
    let tag = record.tag.map { " \($0)" } ?? ""
    Console.say("\(record.level) \(componentName)\(tag): \(record.text)")
  }
}
