import MobileSync
import SalesforceSDKCommon

extension SyncReport {
  /// The report as lines of text.
  var lines: [String] {
    var lines = [state.line]
    if let pace { lines.append("  \(pace)") }
    if state.type == .syncUp { lines.append("  \(counts.line)") }
    if let ranges { lines.append("  \(ranges)") }
    lines.append("  \(dirty) dirty, \(conflicts.count) in conflict")
    lines += unsent.map { "  \($0.line)" }
    lines += conflicts.flatMap(\.lines).map { "  \($0)" }
    return lines
  }

  /// The division of the first download; nil if it is unknown.
  private var ranges: String? {
    if let partitions = state.partitions {
      let done = partitions.ranges.count { $0.isDone }
      return "first download in \(partitions.ranges.count) ranges, \(done) of them done"
    }
    return serialReason.map { "first download in one range: \($0)" }
  }

  /// The rate and the remaining time; nil if they are not known.
  var pace: String? {
    guard let recordsPerSecond, let elapsed else { return nil }
    let speed = "\(Int(recordsPerSecond.rounded())) records/s"
    guard let remaining else { return "\(speed), \(elapsed.short)" }
    return "\(speed), \(remaining.short) to go"
  }
}

extension SyncOutcomeCounts {
  /// The counts as a line of text.
  var line: String {
    let rest = nothingToDo == 0 ? "" : ", \(nothingToDo) with nothing to upload"
    return "\(succeeded) succeeded, \(skipped) skipped, \(failed) failed\(rest)"
  }
}

extension SyncRecordOutcome {
  /// The record and its outcome, with the reason, in one line.
  var line: String {
    let why = error.map { ": \($0["message"]?.string ?? $0.text)" } ?? ""
    let place = conflict.map { " (\($0))" } ?? ""
    return "\(recordId ?? "entry \(entryId)") \(kind)\(place)\(why)"
  }
}

extension Table {
  /// Syncs with their progress.
  static func of(_ syncs: [SyncState]) -> Table {
    Table(
      ["ID", "NAME", "TYPE", "SOUP", "STATUS", "PROGRESS", "RECORDS"],
      syncs.map { sync in
        [
          "\(sync.id)", sync.name ?? "", sync.type.rawValue, sync.soupName, sync.status.rawValue,
          "\(sync.progress) %", sync.totalSize < 0 ? "" : "\(sync.moved) of \(sync.totalSize)",
        ]
      })
  }

  /// A table of outcomes.
  static func of(_ outcomes: [SyncRecordOutcome]) -> Table {
    Table(
      ["RECORD", "ENTRY", "ACTION", "OUTCOME", "REASON"],
      outcomes.map { outcome in
        [
          outcome.recordId ?? "", "\(outcome.soupName)/\(outcome.entryId)",
          outcome.action?.rawValue ?? "", "\(outcome.kind)",
          outcome.error.map { $0["message"]?.string ?? $0.text } ?? "",
        ]
      })
  }
}
