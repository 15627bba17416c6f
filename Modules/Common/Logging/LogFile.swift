import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A file with the last records of one component: when it is full, the oldest are removed (CA-15).
///
/// The file is `<component>_log` in its folder, UTF-8, a line for a record:
/// `TIME: 11-21 09:58:34.120, LEVEL: ERROR, TAG: Sync, MESSAGE: no response, EXCEPTION: timed out`.
/// The time is local. A record without a tag has the component as its tag. `EXCEPTION` is present
/// only if there is an error.
///
/// Lines are written in the order of ``SalesforceLogger/log(_:tag:error:_:file:function:line:)`` on
/// the file's own queue, so callers that log never wait for the disk. A line that cannot be written
/// is lost without an error. Calls that read or change the file wait for the lines before them. One
/// process at a time may use a folder.
public final class LogFile: Sendable {
  /// The number of lines that a file keeps by default.
  public static let defaultMaxLines = 10_000

  /// The location of the file. The first line creates it.
  public let url: URL
  private let component: String
  private let limitFile: DurableFile
  private let limit: Mutex<Int>
  private let queue = DispatchQueue(label: "com.salesforce.logfile", qos: .utility)
  /// Touched on the queue alone.
  private let lines: LogLines

  init(component: String, in folder: URL) {
    let name = "\(PercentEncoding.encode(component))_log"
    url = folder.appendingPathComponent(name)
    self.component = component
    limitFile = DurableFile(folder.appendingPathComponent("\(name).limit"))
    let kept = (try? limitFile.read()).flatMap { $0 }
      .flatMap { Int(String(decoding: $0, as: UTF8.self).trimmed) }
    limit = Mutex(max(kept ?? Self.defaultMaxLines, 0))
    lines = LogLines(url)
  }

  // MARK: Limit

  /// The number of lines to keep; 0 if no records are written.
  public var maxLines: Int { limit.withLock { $0 } }

  /// Whether records of this component are written.
  public var isEnabled: Bool { maxLines > 0 }

  /// Writes records from now on and keeps the last `maxLines` of them. The limit is stored for
  /// later processes. A lower limit takes effect with the next line. A limit below 1 counts as 0:
  /// nothing is written, and the file stays as it is.
  public func enable(maxLines: Int = LogFile.defaultMaxLines) {
    let new = max(maxLines, 0)
    limit.withLock { $0 = new }
    queue.async { [limitFile] in
      // Without it the limit holds for this process only.
      try? limitFile.replace(with: Array("\(new)\n".utf8))
    }
  }

  /// Stops writing. The file keeps its lines.
  public func disable() { enable(maxLines: 0) }

  // MARK: Writing

  /// Adds a record, soon.
  func add(_ record: LogRecord) {
    let limit = maxLines
    guard limit > 0 else { return }
    let line = Self.line(of: record, at: LocalTime.now)
    queue.async { [lines] in lines.add(line, limit: limit) }
  }

  static func line(of record: LogRecord, at time: LocalTime) -> String {
    let level = record.level.description.uppercased()
    let line =
      "TIME: \(time.text), LEVEL: \(level), TAG: \(record.tag ?? record.component), "
      + "MESSAGE: \(record.message)"
    return record.errorText.map { "\(line), EXCEPTION: \($0)" } ?? line
  }

  // MARK: Reading

  /// Returns the number of lines in the file.
  public func size() async -> Int { await onQueue { $0.count } }

  /// Returns the oldest line; nil if there is none.
  public func peek() async -> String? { await onQueue { $0.first(1).first } }

  /// Returns all lines, the oldest first.
  public func readAll() async -> [String] { await onQueue { $0.first(.max) } }

  /// Removes up to `count` lines, the oldest first, and returns them. If the file cannot be
  /// changed, returns none, so no line is returned twice.
  public func readAndRemove(_ count: Int) async -> [String] {
    await onQueue { lines in
      let taken = lines.first(max(count, 0))
      return lines.remove(taken.count) ? taken : []
    }
  }

  /// Removes all lines and returns them.
  public func readAndRemoveAll() async -> [String] { await readAndRemove(.max) }

  /// Removes up to `count` lines, the oldest first.
  ///
  /// - Returns: Whether the file could be changed.
  @discardableResult
  public func remove(_ count: Int) async -> Bool {
    await onQueue { $0.remove(min(max(count, 0), $0.count)) }
  }

  /// Removes all lines.
  ///
  /// - Returns: Whether the file could be changed.
  @discardableResult
  public func flush() async -> Bool { await remove(.max) }

  private func onQueue<Result: Sendable>(
    _ body: @escaping @Sendable (LogLines) -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      queue.async { [lines] in continuation.resume(returning: body(lines)) }
    }
  }
}
