public import Foundation
import Synchronization

/// Small settings in a JSON file, in place of a system's user defaults (CA-28). Not for secrets.
///
/// A change is on disk when the call returns; a reader in another process sees either the old or
/// the new file. A damaged file is renamed, and the settings start empty.
public final class Preferences: Sendable {
  private let file: URL
  private let values: Mutex<JSONObject>
  private let source = EventSource<Set<String>>()
  private static let log = SalesforceLogger.logger(forComponent: "SalesforceSDKCommon")

  /// No file of settings is longer: 64 MiB.
  private static let maxBytes = 64 << 20

  /// The time that a change waits for another process.
  private static let patience: Duration = .seconds(5)

  /// Opens the settings in `file`, which need not exist.
  ///
  /// - Throws: ``PreferencesError`` `inputOutput` if the file exists and cannot be read.
  public init(_ file: URL) throws(PreferencesError) {
    self.file = file
    values = Mutex(try Self.read(file))
  }

  /// The value of a setting; `nil` if it has none.
  public subscript(key: String) -> JSONValue? { values.withLock { $0[key] } }

  /// All settings.
  public var all: JSONObject { values.withLock { $0 } }

  /// Sets a value, or with `nil` removes it.
  ///
  /// - Throws: ``PreferencesError``; then nothing is changed.
  public func set(_ value: JSONValue?, forKey key: String) throws(PreferencesError) {
    try update { $0[key] = value }
  }

  /// Removes all settings.
  ///
  /// - Throws: ``PreferencesError``; then nothing is changed.
  public func removeAll() throws(PreferencesError) {
    try update { $0 = [:] }
  }

  /// Changes settings in one step, on top of what other processes wrote.
  ///
  /// - Parameter change: Called once; it must not call these preferences.
  /// - Throws: ``PreferencesError``; then nothing is changed.
  public func update(_ change: (inout JSONObject) -> Void) throws(PreferencesError) {
    let (old, new) = try locked { () throws(PreferencesError) in
      let old = try Self.read(file)
      var new = old
      change(&new)
      if new != old { try Self.write(new, to: file) }
      return (old, new)
    }
    let before = values.withLock { values in
      defer { values = new }
      return values
    }
    let changed = Set(before.keys + old.keys + new.keys).filter { before[$0] != new[$0] }
    if !changed.isEmpty { source.send(changed) }
  }

  /// Reads the file again, to see what other processes changed.
  ///
  /// - Throws: ``PreferencesError`` `inputOutput`.
  public func synchronize() throws(PreferencesError) {
    try update { _ in }
  }

  /// Returns the keys of each later change by this process. Each call returns a separate stream,
  /// which buffers all changes until they are read.
  public func changes() -> some AsyncSequence<Set<String>, Never> & Sendable { source.stream() }

  /// Runs `body` while no other process or thread changes the file.
  private func locked<Result>(
    _ body: () throws(PreferencesError) -> Result
  ) throws(PreferencesError) -> Result {
    let lock: FileLock?
    do throws(FileFailure) {
      try DurableFile(file).makeFolder()
      lock = try FileLock.take(file.path + ".lock", patience: Self.patience)
    } catch {
      throw PreferencesError(.inputOutput, "\(error)", cause: error)
    }
    guard let lock else {
      throw PreferencesError(
        .busy, "\(file.path) has been changed by another process for \(Self.patience). Try again.")
    }
    let result = try body()
    // Held until here.
    withExtendedLifetime(lock) {}
    return result
  }

  private static func read(_ file: URL) throws(PreferencesError) -> JSONObject {
    do throws(FileFailure) {
      guard let bytes = try DurableFile(file).read(maxBytes: maxBytes) else { return [:] }
      if let json = try? JSONSlice(parsing: bytes), let object = json.value.object { return object }
      let aside = try DurableFile(file).setAside()
      log.error("\(file.lastPathComponent) is damaged; it is kept as \(aside.lastPathComponent)")
      return [:]
    } catch {
      throw PreferencesError(.inputOutput, "\(error)", cause: error)
    }
  }

  private static func write(_ object: JSONObject, to file: URL) throws(PreferencesError) {
    do {
      try DurableFile(file).replace(with: try JSONValue.object(object).serialized())
    } catch let error as JSONError {
      throw PreferencesError(.invalidValue, "A setting is not JSON: \(error.message)", cause: error)
    } catch {
      throw PreferencesError(.inputOutput, "\(error)", cause: error)
    }
  }
}

/// Settings that could not be read or written.
public struct PreferencesError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case inputOutput, busy, invalidValue }
    private let kind: Kind
    /// The system refused to read or write; the message has its reason. Retrying may help.
    public static let inputOutput = Code(kind: .inputOutput)
    /// Another process holds the file. Retrying may help.
    public static let busy = Code(kind: .busy)
    /// A value cannot be written, such as a number that is not finite. Correct it.
    public static let invalidValue = Code(kind: .invalidValue)

    /// The name of the code, such as `busy`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure, its file and the remedy; never a value.
  public let message: String
  /// The underlying error.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether another process may release the file later.
  public var isRetryable: Bool { code == .busy }
}
