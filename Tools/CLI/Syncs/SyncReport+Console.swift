import MobileSync
import SalesforceSDKCommon

extension SyncReport {
  /// The sync as stored, with what else there is to tell.
  var document: JSONValue {
    var document = state.json
    document["moved"] = moved.map { .integer(Int64($0)) } ?? .null
    document["elapsedSeconds"] = elapsed.map { .double($0 / .seconds(1)) } ?? .null
    document["recordsPerSecond"] = recordsPerSecond.map { .double($0) } ?? .null
    document["remainingSeconds"] = remaining.map { .double($0 / .seconds(1)) } ?? .null
    document["dirty"] = .integer(Int64(dirty))
    document["conflicts"] = .array(conflicts.map { .object($0.json) })
    if state.type == .syncUp {
      document["outcomes"] = counts.document
      document["unsent"] = .array(unsent.map(\.document))
    }
    return .object(document)
  }

  /// The same for people.
  var lines: [String] {
    var lines = [state.line]
    if let pace { lines.append("  \(pace)") }
    if state.type == .syncUp { lines.append("  \(counts.line)") }
    lines.append("  \(dirty) dirty, \(conflicts.count) in conflict")
    lines += unsent.map { "  \($0.line)" }
    lines += conflicts.flatMap(\.lines).map { "  \($0)" }
    return lines
  }

  /// How fast it goes and how long it takes; nil if nothing can be said.
  var pace: String? {
    guard let recordsPerSecond, let elapsed else { return nil }
    let speed = "\(Int(recordsPerSecond.rounded())) records/s"
    guard let remaining else { return "\(speed), \(elapsed.short)" }
    return "\(speed), \(remaining.short) to go"
  }
}

extension SyncOutcomeCounts {
  /// `{"succeeded": n, "skipped": n, "failed": n}`.
  var document: JSONValue {
    [
      "succeeded": .integer(Int64(succeeded)), "skipped": .integer(Int64(skipped)),
      "failed": .integer(Int64(failed)),
    ]
  }

  /// The same for people.
  var line: String { "\(succeeded) succeeded, \(skipped) skipped, \(failed) failed" }
}

extension SyncRecordOutcome {
  /// The record and what became of it.
  var document: JSONValue {
    [
      "soup": .string(soupName), "entryId": .integer(entryId),
      "recordId": recordId.map { .string($0) } ?? .null,
      "action": action.map { .string($0.rawValue) } ?? .null,
      "outcome": .string(kind.rawValue), "error": error ?? .null,
      "conflict": conflict.map { .string($0) } ?? .null,
    ]
  }

  /// The record's own conflict, as 'sync conflicts' lists it; of a record whose tree is in conflict nil.
  private var conflict: String? {
    kind == .conflict && error == nil ? "\(soupName)/\(entryId)" : nil
  }

  /// The record and what became of it, with the reason, in one line.
  var line: String {
    let why = error.map { ": \($0["message"]?.string ?? $0.text)" } ?? ""
    let place = conflict.map { " (\($0))" } ?? ""
    return "\(recordId ?? "entry \(entryId)") \(kind)\(place)\(why)"
  }
}

extension Duration {
  /// Whole minutes and seconds, or tenths of a second if it is short.
  fileprivate var short: String {
    let seconds = self / .seconds(1)
    if seconds < 10 { return "\((seconds * 10).rounded() / 10) s" }
    if seconds < 60 { return "\(Int(seconds)) s" }
    return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s"
  }
}
