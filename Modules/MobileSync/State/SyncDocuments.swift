package import SalesforceSDKCommon

// The documents of syncs that the command line prints and the inspector serves.

extension SyncReport {
  /// The sync as stored, with what else there is to tell. Conflicts and unsent records are listed by
  /// ``document`` alone.
  private var progressDocument: JSONObject {
    var document = state.json
    document["moved"] = moved.map { .integer(Int64($0)) } ?? .null
    document["elapsedSeconds"] = elapsed.map { .double($0 / .seconds(1)) } ?? .null
    document["recordsPerSecond"] = recordsPerSecond.map { .double($0) } ?? .null
    document["remainingSeconds"] = remaining.map { .double($0 / .seconds(1)) } ?? .null
    document["dirty"] = .integer(Int64(dirty))
    if let serialReason { document["serialReason"] = .string(serialReason) }
    if state.type == .syncUp { document["outcomes"] = counts.document }
    return document
  }

  /// The sync as stored, with what else there is to tell.
  package var document: JSONValue {
    var document = progressDocument
    document["conflicts"] = .array(conflicts.map { .object($0.json) })
    if state.type == .syncUp { document["unsent"] = .array(unsent.map(\.document)) }
    return .object(document)
  }

  /// The sync for a list: with numbers in place of its conflicts and unsent records, with its id, and with the
  /// error as an object, null if the last run did not fail.
  package var summary: JSONValue {
    var document = progressDocument
    document["id"] = .integer(state.id)
    document["name"] = state.name.map { .string($0) } ?? .null
    document["conflictCount"] = .integer(Int64(conflicts.count))
    if state.type == .syncUp { document["unsentCount"] = .integer(Int64(unsent.count)) }
    let error = (try? JSONSlice(parsing: state.error))?.value
    document["error"] =
      if error?.object != nil { error ?? .null } else {
        state.error.isEmpty ? .null : ["message": .string(state.error)]
      }
    return .object(document)
  }
}

extension SyncOutcomeCounts {
  /// `{"succeeded": n, "skipped": n, "failed": n, "nothingToDo": n}`, the last only if it is not 0.
  package var document: JSONValue {
    var document: JSONObject = [
      "succeeded": .integer(Int64(succeeded)), "skipped": .integer(Int64(skipped)),
      "failed": .integer(Int64(failed)),
    ]
    if nothingToDo > 0 { document["nothingToDo"] = .integer(Int64(nothingToDo)) }
    return .object(document)
  }
}

extension SyncRecordOutcome {
  /// The record and its outcome.
  package var document: JSONValue {
    [
      "soup": .string(soupName), "entryId": .integer(entryId),
      "recordId": recordId.map { .string($0) } ?? .null,
      "action": action.map { .string($0.rawValue) } ?? .null,
      "outcome": .string(kind.rawValue), "error": error ?? .null,
      "conflict": conflict.map { .string($0) } ?? .null,
    ]
  }

  /// The record's own conflict, as 'sync conflicts' lists it; nil for a record whose tree is in
  /// conflict.
  package var conflict: String? {
    kind == .conflict && error == nil ? "\(soupName)/\(entryId)" : nil
  }
}
