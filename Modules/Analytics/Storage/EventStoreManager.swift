public import Foundation
import SalesforceSDKCommon

/// The events that wait to be published, each in an encrypted file of its own, named by its id (CA-38).
///
/// An event must not fail the work that it reports: failures are logged, and no call throws.
/// Processes that share the folder share the events.
public actor EventStoreManager {
  /// Encrypts or decrypts the content of one event's file, whose id binds the content to the event.
  public typealias Coding = @Sendable (_ bytes: [UInt8], _ eventId: String) throws -> [UInt8]

  /// The number of events that are stored at most unless another limit is given.
  public static let defaultMaxEvents = 1_000
  /// The key in a boot configuration, a managed configuration or the environment that switches analytics off for
  /// an app.
  public static let disabledKey = "SFDCAnalyticsDisabled"

  /// The folder of the files. It need not exist.
  public nonisolated let directory: URL
  /// Whether events are stored. Default: true.
  public private(set) var isLoggingEnabled: Bool
  /// The number of events that are stored at most; 0 stores none. Default: 1,000.
  public private(set) var maxEvents: Int

  private let isAppDisabled: Bool
  private let encrypt: Coding
  private let decrypt: Coding
  private var isClosed = false

  /// Names the folder; nothing is read or created.
  ///
  /// - Parameters:
  ///   - isAppDisabled: Whether the app switches analytics off. Default: the value of
  ///     ``disabledKey`` in the environment.
  ///   - encrypt: Encrypts the content of a file. Default: not at all.
  ///   - decrypt: Decrypts what `encrypt` returned. Default: not at all.
  public init(
    directory: URL, maxEvents: Int = EventStoreManager.defaultMaxEvents,
    isLoggingEnabled: Bool = true, isAppDisabled: Bool = EventStoreManager.isDisabledByEnvironment,
    encrypt: Coding? = nil, decrypt: Coding? = nil
  ) {
    self.directory = directory
    self.maxEvents = maxEvents
    self.isLoggingEnabled = isLoggingEnabled
    self.isAppDisabled = isAppDisabled
    self.encrypt = encrypt ?? { bytes, _ in bytes }
    self.decrypt = decrypt ?? { bytes, _ in bytes }
  }

  /// Whether the environment switches analytics off: ``disabledKey`` is `true` or `1`.
  public static var isDisabledByEnvironment: Bool {
    ["true", "1"].contains(ProcessInfo.processInfo.environment[disabledKey]?.lowercased())
  }

  /// Switches storing on or off. Events that are stored stay.
  public func setLoggingEnabled(_ isEnabled: Bool) { isLoggingEnabled = isEnabled }

  /// Sets the number of events that are stored at most. Events beyond it stay.
  public func setMaxEvents(_ count: Int) { maxEvents = count }

  /// Refuses all calls from now on, because the user of the events logs out.
  package func close() { isClosed = true }

  // MARK: Storing

  /// Stores an event, unless storing is off or the limit is reached. One with an id that is stored already
  /// replaces that one.
  public func store(_ event: InstrumentationEvent) { store([event]) }

  /// Stores events in order, as far as the limit allows.
  public func store(_ events: [InstrumentationEvent]) {
    guard isLoggingEnabled, !isAppDisabled, !isClosed else { return }
    var stored = Set(eventFiles)
    for event in events where stored.contains(event.eventId) || stored.count < maxEvents {
      guard Self.isValid(event.eventId) else {
        AnalyticsLogger.log.warning("An event is not stored: its id cannot name a file.")
        continue
      }
      do {
        let bytes = try encrypt(JSONValue.object(event.json).serialized(), event.eventId)
        try file(event.eventId).replace(with: bytes)
        stored.insert(event.eventId)
      } catch {
        AnalyticsLogger.log.warning("Event '\(event.name)' could not be stored.", error: error)
      }
    }
  }

  // MARK: Reading

  /// The ids of the stored events, sorted; none if there is no folder.
  public var eventFiles: [String] {
    guard !isClosed, DurableFile(directory).exists else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory.path)
        .filter(Self.isValid).sorted()
    } catch {
      AnalyticsLogger.log.warning("The folder of events cannot be read.", error: error)
      return []
    }
  }

  /// The number of stored events.
  public var numStoredEvents: Int { eventFiles.count }

  /// Returns the event with this id; nil if there is none, or its file cannot be read.
  ///
  /// A file that is damaged, or was encrypted with another key, is removed, so that it does not count towards the
  /// limit for ever. One that the system does not let this process read stays.
  public func fetch(_ eventId: String) -> InstrumentationEvent? {
    guard !isClosed, Self.isValid(eventId) else { return nil }
    let sealed: [UInt8]
    do throws(FileFailure) {
      guard let bytes = try file(eventId).read() else { return nil }
      sealed = bytes
    } catch {
      AnalyticsLogger.log.warning("An event cannot be read.", error: error)
      return nil
    }
    do {
      let json = try JSONSlice(parsing: try decrypt(sealed, eventId))
      if let event = json.value.object.flatMap(InstrumentationEvent.init(json:)),
        event.eventId == eventId
      {
        return event
      }
      AnalyticsLogger.log.warning("A file in the folder of events holds no event; it is removed.")
    } catch {
      AnalyticsLogger.log.warning("A damaged event is removed.", error: error)
    }
    delete(eventId)
    return nil
  }

  /// Returns all readable events, ordered by start time, then by number.
  public func fetchAll() -> [InstrumentationEvent] {
    eventFiles.compactMap { fetch($0) }
      .sorted { ($0.startTime, $0.sequenceId) < ($1.startTime, $1.sequenceId) }
  }

  // MARK: Deleting

  /// Deletes an event. Returns whether an event was deleted.
  @discardableResult
  public func delete(_ eventId: String) -> Bool {
    guard !isClosed, Self.isValid(eventId), file(eventId).exists else { return false }
    do throws(FileFailure) {
      try file(eventId).remove()
      return true
    } catch {
      AnalyticsLogger.log.warning("An event could not be deleted.", error: error)
      return false
    }
  }

  /// Deletes events.
  public func delete(_ eventIds: some Sequence<String>) {
    for id in eventIds { delete(id) }
  }

  /// Deletes all events.
  public func deleteAll() { delete(eventFiles) }

  private func file(_ eventId: String) -> DurableFile {
    DurableFile(directory.appending(path: eventId))
  }

  /// Whether an id can name a file: letters, digits, `-` and `_`. Files that are being written have a dot.
  private static func isValid(_ id: String) -> Bool {
    (1...128).contains(id.utf8.count)
      && id.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == 0x2d
          || byte == 0x5f
      }
  }
}
