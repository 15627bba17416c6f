import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// The records of one object that the demo changes; nil if the object has too few records.
struct DemoEdits {
  let object: DemoObject
  let field: DemoObject.EditedField
  /// Edited locally.
  var updated: JSONSlice?
  /// Edited locally and changed on the server.
  var conflicting: JSONSlice?
  /// Deleted locally.
  var deleted: JSONSlice?
  /// Deleted on the server.
  var ghost: JSONSlice?

  /// Selects a different record for each change.
  ///
  /// - Parameter maySpare: Whether records may be deleted, because no record refers to them.
  init?(_ object: DemoObject, _ records: [JSONSlice], maySpare: Bool) {
    guard let field = object.edited else { return nil }
    self.object = object
    self.field = field
    var rest = records[...]
    conflicting = rest.popFirst()
    updated = rest.popFirst()
    if maySpare {
      deleted = rest.popLast()
      ghost = rest.popLast()
    }
  }
}

// The middle steps: both sides change and are synced.
extension DemoStory {
  /// Creates, updates and deletes records as a user without a network does.
  func editOffline(
    _ device: Device, _ plan: DemoPlan, _ counts: inout [DemoCounts]
  ) async throws -> [DemoEdits] {
    var all: [DemoEdits] = []
    for object in device.objects {
      let records = try await records(inStore: object, device)
        .sorted { $0.key < $1.key }.map(\.value)
      guard
        let edits = DemoEdits(
          object, records, maySpare: !plan.isReferredTo.contains(object.name))
      else {
        say("Nothing to edit offline in \(object.name): no field accepts a text or a number")
        continue
      }
      all.append(edits)
      let entries = offlineEntries(edits, model: records.first, device)
      try await step("Edited offline \(object.name)") {
        _ = try await device.store.upsert(entries: entries, forSoupNamed: object.soup)
        let created = entries.count { $0[SyncKeys.locallyCreated]?.bool == true }
        let deleted = entries.count { $0[SyncKeys.locallyDeleted]?.bool == true }
        let updated = entries.count - created - deleted
        counts.change(object.name) {
          ($0.created, $0.updated, $0.deleted) = (created, updated, deleted)
        }
        return ("\(created) created, \(updated) updated, \(deleted) deleted", ())
      }
    }
    return all
  }

  /// The entries as an app writes them (MS-74).
  private func offlineEntries(
    _ edits: DemoEdits, model: JSONSlice?, _ device: Device
  ) -> [JSONValue] {
    let field = edits.field
    var entries: [JSONValue] = []
    for record in [edits.updated, edits.conflicting] {
      guard var entry = record?.value else { continue }
      entry[field.name] = field.changed(entry[field.name], "edited in the field", by: 1)
      entries.append(entry.flagged(SyncKeys.locallyUpdated))
    }
    if let model {
      var entry: JSONValue = [
        "attributes": ["type": .string(edits.object.name)],
        "Id": .string(device.manager.createLocalId()),
      ]
      for name in edits.object.writable {
        if let value = model[name] { entry[name] = value.value }
      }
      entry[field.name] = field.changed(entry[field.name], "new", by: 10)
      entries.append(entry.flagged(SyncKeys.locallyCreated))
    }
    if let deleted = edits.deleted {
      entries.append(deleted.value.flagged(SyncKeys.locallyDeleted))
    }
    return entries
  }

  /// A colleague changes the same records on the server, and deletes one.
  func editOnServer(_ device: Device, _ edits: [DemoEdits]) async throws {
    for edit in edits {
      let object = edit.object.name
      try await step("Changed on the server at the same time \(object)") {
        var done: [String] = []
        if let record = edit.conflicting, let id = record["Id"]?.string {
          let value = edit.field.changed(
            record[edit.field.name]?.value, "changed at the office", by: 2)
          _ = try await device.client.send(
            .update(
              object: object, id: id, fields: RestFields(JSONValue.object([edit.field.name: value]))
            ))
          done.append("1 updated that was edited here too")
        }
        if let id = edit.ghost?["Id"]?.string {
          _ = try await device.client.send(.delete(object: object, id: id))
          done.append("1 deleted")
        }
        return (done.joined(separator: ", "), ())
      }
    }
  }

  /// Uploads the local changes.
  func syncUp(
    _ device: Device, _ mode: SyncMergeMode, _ counts: inout [DemoCounts]
  ) async throws {
    for object in device.objects {
      let outcome = try await step("Synced up \(object.name), \(mode)") {
        let run = try await device.manager.syncUp(
          options: SyncOptions(mergeMode: mode, fieldlist: object.writable),
          soupName: object.soup, syncName: "\(object.upName) \(mode)")
        let state = try await run.finished()
        let outcome = try await device.manager.outcomeCounts(forId: state.id)
        for refused in try await device.manager.outcomes(forId: state.id)
        where refused.kind == .rejected {
          say("  refused: \(refused.error?.text ?? "without a reason")")
        }
        return (
          "\(outcome.succeeded) sent, \(outcome.skipped) left alone, \(outcome.failed) failed",
          outcome
        )
      }
      counts.change(object.name) {
        $0.syncedUp += outcome.succeeded
        if mode == .leaveIfChanged { $0.conflicts = outcome.skipped }
      }
    }
  }

  /// Shows the records that were not uploaded because the server's version is newer.
  func showConflicts(_ device: Device, _ edits: [DemoEdits]) async throws {
    for edit in edits {
      guard let id = edit.conflicting?["Id"]?.string else { continue }
      let field = edit.field.name
      let here = try await records(inStore: edit.object, device)[id]
      let there = try await device.client.send(
        .retrieve(object: edit.object.name, id: id, fields: [field])
      ).json()
      say("  conflict, \(edit.object.name) \(id): the edit is kept and not uploaded yet")
      say("    \(field) here:      \(here?[field]?.value.text ?? "nothing")")
      say("    \(field) on server: \(there[field]?.value.text ?? "nothing")")
    }
  }

  /// Resolves the conflicts with the local edits, uploads them and downloads the result.
  func resolve(
    _ device: Device, _ edits: [DemoEdits], _ counts: inout [DemoCounts]
  ) async throws {
    say("Resolved: the edits made in the field win")
    try await syncUp(device, .overwrite, &counts)
    for object in device.objects {
      try await step("Synced down again \(object.name)") {
        let state = try await device.manager.reSync(named: object.downName).finished()
        return ("\(state.totalSize) changed records", ())
      }
    }
  }
}

extension JSONValue {
  /// The entry with the flags of a local change.
  func flagged(_ flag: String) -> JSONValue {
    var entry = self
    for name in [SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted] {
      entry[name] = .bool(name == flag)
    }
    entry[SyncKeys.local] = true
    return entry
  }
}
