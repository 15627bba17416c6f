import SalesforceSDKCommon

/// The direction of a sync.
public enum SyncType: String, Sendable, Hashable, Codable {
  /// From the server into a soup.
  case syncDown
  /// From a soup to the server.
  case syncUp
}

/// The status of a sync.
///
/// A new sync is ``new``; while it runs, it is ``running``, and then exactly one of ``done``,
/// ``failed`` and ``stopped``. From each of these, it can be run again.
public enum SyncStatus: String, Sendable, Hashable, Codable {
  /// Created and never run.
  case new = "NEW"
  /// Ended early because the manager was stopped, or because the process died.
  case stopped = "STOPPED"
  /// Queued or running.
  case running = "RUNNING"
  /// The run is complete; the server may have rejected single records.
  case done = "DONE"
  /// Ended by an error that concerns the whole run.
  case failed = "FAILED"

  /// Whether the run has ended.
  public var isTerminal: Bool { self == .done || self == .failed || self == .stopped }
}

/// The handling of a record that was changed on both sides.
public struct SyncMergeMode: Sendable, Hashable, CustomStringConvertible {
  /// The text in stored options.
  public let rawValue: String

  private init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// The sending side wins: a sync down replaces local edits that were made before it started, a
  /// sync up replaces changes of other users. An edit that is made *during* a sync down is always
  /// kept.
  public static let overwrite = SyncMergeMode("OVERWRITE")
  /// The receiving side keeps its change, and the record is skipped.
  public static let leaveIfChanged = SyncMergeMode("LEAVE_IF_CHANGED")
  /// Changes of both sides are merged field by field, against the base version. Fields that both
  /// sides changed to different values become a ``SyncConflict``; the record is not sent before the
  /// app has resolved it. A sync up sends only the changed fields.
  ///
  /// The store keeps a second copy of each record of the soup, the base version. This mode is an
  /// extension of this package.
  public static let mergeFields = SyncMergeMode("MERGE_FIELDS")

  /// Reads the mode of options in JSON, nil if they name none.
  ///
  /// - Throws: ``SyncError`` `invalidOptions` if the value is not the text of a known mode.
  init?(json: JSONValue?) throws(SyncError) {
    guard let json, json != .null else { return nil }
    guard let mode = json.string.flatMap(SyncMergeMode.init(rawValue:)) else {
      throw SyncError(
        .invalidOptions,
        "Unknown merge mode '\(json.string ?? json.text)'. Write OVERWRITE, LEAVE_IF_CHANGED or "
          + "MERGE_FIELDS.")
    }
    self = mode
  }

  /// The mode with the given text, nil if there is none.
  public init?(rawValue: String) {
    switch rawValue {
    case Self.overwrite.rawValue: self = .overwrite
    case Self.leaveIfChanged.rawValue: self = .leaveIfChanged
    case Self.mergeFields.rawValue: self = .mergeFields
    default: return nil
    }
  }

  /// The text in stored options.
  public var description: String { rawValue }
}
