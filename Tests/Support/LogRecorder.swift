import Logging
public import SalesforceSDKCommon
import Synchronization

/// Keeps what loggers write, for a test to look at.
public final class LogRecorder: Sendable {
  private let kept = Mutex<[String]>([])

  /// Begins empty.
  public init() {}

  /// The records in order, each as `level component [source] message`.
  public var lines: [String] { kept.withLock { $0 } }

  /// A logger that writes here what reaches `level`.
  public func logger(forComponent component: String, level: LogLevel) -> SalesforceLogger {
    let handler = Handler(recorder: self, component: component)
    return SalesforceLogger(
      component: component, level: level,
      backend: Logger(label: component, factory: { _ in handler }))
  }

  private struct Handler: LogHandler {
    let recorder: LogRecorder
    let component: String
    var metadata: Logger.Metadata = [:]
    // A level of its own is not asked.
    var logLevel = Logger.Level.critical

    init(recorder: LogRecorder, component: String) {
      self.recorder = recorder
      self.component = component
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let line = "\(event.level) \(component) [\(event.source)] \(event.message)"
      recorder.kept.withLock { $0.append(line) }
    }
  }
}
