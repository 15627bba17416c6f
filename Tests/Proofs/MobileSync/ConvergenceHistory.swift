import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Synchronization
import TestSupport
@testable import MobileSyncTests

/// Devices and an org that live through a story, with a ledger of every value that is written.
final class ConvergenceHistory: Sendable {
  /// What a test of the proof spoils after a step, to see that it is noticed.
  enum Sabotage: Sendable, CaseIterable {
    /// A value that is written nowhere.
    case loseValue
    /// A second entry with the id of another.
    case repeatEntry
    /// A second record with the values of another.
    case repeatRecord
    /// An entry that a device loses, that is old, or that the server never had.
    case loseEntry, ageEntry, inventEntry
  }

  let world: ConvergenceWorld
  let org: InMemoryOrg
  let ledger = ConvergenceLedger()
  let devices: [ConvergenceDevice]
  /// The ids of records that were deleted on the server at some time.
  let deletedIds = Mutex(Set<String>())

  /// Creates that the server has received and not completed, with the time at which it does.
  let underWay = Mutex<[LateCreate]>([])

  private init(_ world: ConvergenceWorld) async throws {
    let org = InMemoryOrg()
    var devices: [ConvergenceDevice] = []
    for number in world.modes.indices {
      devices.append(try await ConvergenceDevice.open(world, org, number: number))
    }
    self.world = world
    self.org = org
    self.devices = devices
    prepareOrg()
    completeLateCreates()
    for device in devices {
      for sync in world.downs { try await device.run(sync) }
    }
  }

  /// Lives through a story.
  ///
  /// - Parameter sabotage: What is spoilt after a step; nil for nothing.
  /// - Returns: What is wrong; nil if everything is right.
  static func live(
    _ drawn: ConvergenceCase,
    sabotaging sabotage: (ConvergenceStory.Step) -> Sabotage? = { _ in nil }
  ) async throws -> String? {
    let history = try await ConvergenceHistory(drawn.world)
    var fault: String?
    do {
      for (number, step) in drawn.story.steps.enumerated() where fault == nil {
        try await history.perform(step)
        if let sabotage = sabotage(step) {
          try await history.spoil(sabotage)
          fault = try await history.faultNow(on: history.devices[0])
        } else {
          fault = try await history.faultNow(after: step).map { "\($0), after step \(number + 1)" }
        }
      }
      if fault == nil { fault = try await history.calmDown() }
    } catch {
      fault = "\(error)"
    }
    for device in history.devices { try await device.stop() }
    history.org.intervene(nil)
    return fault
  }

  // MARK: Steps

  private func perform(_ step: ConvergenceStory.Step) async throws {
    switch step {
    case .edit(.server, let pick, let field): try await editOnServer(pick, field)
    case .edit(.device(let number), let pick, let field):
      if let device = device(number) { try await edit(device, pick, field) }
    case .create(.server, let pick): createOnServer(pick)
    case .create(.device(let number), let pick):
      if let device = device(number) { try await create(device, pick) }
    case .createEqual(let number):
      if let device = device(number) { try await createEqual(device) }
    case .misdirect(let number, let pick):
      if let device = device(number) { try await misdirect(device, pick) }
    case .relate(let number, let pick, let other):
      if let device = device(number) { try await relate(device, pick, other) }
    case .delete(.server, let pick): try await deleteOnServer(pick)
    case .delete(.device(let number), let pick):
      if let device = device(number) { try await delete(device, pick) }
    case .undelete(let pick): try await undelete(pick)
    case .replace(let pick): try await replace(pick)
    case .move(let pick, let isKind): try await move(pick, byKind: isKind)
    case .lateEdit(let pick, let field):
      if world.commitsLate { try await editOnServer(pick, field, isLate: true) }
    case .lateCreate(let pick):
      if world.commitsLate { org.committingLate(by: 10_000) { createOnServer(pick) } }
    case .sync(let number, let sync, let fault):
      if let device = device(number) { try await self.sync(device, sync, fault) }
    case .resolve(let number, let decision):
      if let device = device(number) { try await resolve(device, decision) }
    case .undo(let number, let pick):
      if let device = device(number) { try await undo(device, pick) }
    case .rescue(let number, let other):
      if let device = device(number) {
        try await rescue(device, into: self.device(other) ?? device)
      }
    case .addField(let number): try await device(number)?.addField()
    case .restart(let number): try await device(number)?.restart()
    }
  }

  private func device(_ number: Int) -> ConvergenceDevice? {
    devices.indices.contains(number) ? devices[number] : nil
  }

  // MARK: Syncs

  /// A sync, which may fail: a later one does what it could not do.
  private func sync(
    _ device: ConvergenceDevice, _ sync: ConvergenceStory.Sync, _ fault: ConvergenceStory.Fault?
  ) async throws {
    let first = org.requests.count
    let isDead = Mutex(false)
    let underWay = Mutex(Set<Int>())
    if let fault {
      org.intervene { number, request in
        await self.completeDueCreates()
        guard number == first + fault.request else { return .none }
        switch fault.kind {
        case .unreachable: return .unreachable
        case .dropResponse: return .dropResponse
        case .busy: return .response(status: 503, body: "[]")
        case .expired: return .response(status: 401, body: "[]")
        case .cutBody: return .cutBody
        case .late:
          if self.delay(request, by: 3_000) { return .unreachable }
        case .killLate:
          guard self.delay(request, by: 30_000) else { return .none }
          isDead.withLock { $0 = true }
          try? await device.kill()
          await awaitCancellation()
          return .unreachable
        case .edit: try? await self.edit(device, number, number % 3)
        case .create: try? await self.create(device, number)
        case .delete: try? await self.delete(device, number)
        case .serverEdit:
          if let written = try? await self.editOnServer(number, number % 3) {
            _ = underWay.withLock { $0.insert(written) }
          }
        case .killBefore, .killAfter:
          isDead.withLock { $0 = true }
          try? await device.kill()
          await awaitCancellation()
          return fault.kind == .killAfter ? .dropResponse : .unreachable
        }
        try? await self.allowReplacement(device, sync)
        try? await self.allowRepetition(device)
        return .none
      }
    }
    do {
      try await run(sync, device)
    } catch is SyncError {
      // What could not be done is done later.
    }
    completeLateCreates()
    if isDead.withLock({ $0 }) { try await device.restart() }
    // Between the request that looks at the server's records and the one that sends, the platform has
    // no guard: what this run itself replaced is the price, what it left must stay.
    let kept = numbersOnServer()
    ledger.allowReplacing(underWay.withLock { $0 }.filter { !kept.contains($0) })
  }

  /// Runs a sync without a fault.
  func run(_ sync: ConvergenceStory.Sync, _ device: ConvergenceDevice) async throws {
    try await allowReplacement(device, sync)
    try await allowRepetition(device)
    switch sync {
    case .down(let index): try await device.run(world.downs[index % world.downs.count])
    case .up(let index): try await device.run(world.ups[index % world.ups.count])
    case .related:
      if world.ups.count > 1 {
        try await device.runRelated()
      } else {
        try await device.run(world.ups[0])
      }
    case .ghosts(let index):
      try await device.cleanGhosts(of: world.downs[index % world.downs.count])
    }
  }

  /// Allows what the merge mode of a sync allows to replace.
  private func allowReplacement(
    _ device: ConvergenceDevice, _ sync: ConvergenceStory.Sync
  ) async throws {
    switch sync {
    case .down(let index):
      let down = world.downs[index % world.downs.count]
      if world.downMode(of: down, device: device.number) == .overwrite {
        try await allowReplacementByServer(device, down.levels)
      }
    case .up(let index):
      try await allowReplacementOnServer(device, world.ups[index % world.ups.count].levels)
    case .related: try await allowReplacementOnServer(device, Array(world.levels.indices))
    case .ghosts: break
    }
  }

  /// A download in mode OVERWRITE replaces edits of records that the server has.
  private func allowReplacementByServer(
    _ device: ConvergenceDevice, _ levels: [Int]
  ) async throws {
    for row in try await device.allRows()
    where levels.contains(row.level) && row.isDirty && !SyncKeys.isLocalId(row.id) {
      ledger.allowReplacing(ConvergenceLedger.numbers(in: row.record))
    }
  }

  /// An upload in mode OVERWRITE replaces what the server has of each record that it sends, and what it
  /// deletes. In the other modes it replaces nothing.
  private func allowReplacementOnServer(
    _ device: ConvergenceDevice, _ levels: [Int]
  ) async throws {
    guard world.modes[device.number].up == .overwrite else { return }
    for row in try await device.allRows() where levels.contains(row.level) && row.isDirty {
      let object = world.levels[row.level].object
      for record in org.records(object) where isSame(record, row) {
        ledger.allowReplacing(ConvergenceLedger.numbers(in: record))
        if row.isDeleted { allowReplacingChildren(of: record, row.level) }
      }
    }
  }

  /// A record that was renamed before its device has found it counts as another one: the device sends it again. So does
  /// one that was changed in the second of its creation, since it looks as if it never had what was sent.
  private func allowRepetition(_ device: ConvergenceDevice) async throws {
    for row in try await device.allRows() where row.isDirty {
      for record in org.records(world.levels[row.level].object)
      where record["Id"]?.string != row.id
        && record[ConvergenceFields.tag] == row.record[ConvergenceFields.tag]
      {
        let original = org.original(record["Id"]?.string ?? "") ?? [:]
        let names = [record, original].map {
          ConvergenceLedger.number(of: $0[ConvergenceFields.name])
        }
        let isUntouched = record["CreatedDate"] == record["LastModifiedDate"]
        if names[0] != names[1] || isUntouched && isOther(record, than: original) {
          ledger.allowRepeating(record)
        }
      }
    }
  }

  /// Whether a record has other values than those with which it was created, apart from their forms.
  private func isOther(_ record: JSONObject, than original: JSONObject) -> Bool {
    original.contains { field, value in
      if field == "Id" || field == "attributes" { return false }
      guard ConvergenceFields.written.contains(field) else { return record[field] != value }
      let typed = ConvergenceLedger.typed(value, in: field)
      return record[field] != typed
        && record[field] != ConvergenceLedger.normalized(typed, in: field)
    }
  }

  /// Whether the server may take a row for a record.
  private func isSame(_ record: JSONObject, _ row: ConvergenceDevice.Row) -> Bool {
    let names = ["Id", ConvergenceFields.externalId, ConvergenceFields.tag]
    return names.contains { name in
      record[name]?.string.map { $0 == row.record[name]?.string } ?? false
    }
  }

  /// Allows the values of records to be replaced that the server deletes with their parent.
  func allowReplacingChildren(of parent: JSONObject, _ level: Int) {
    guard world.shape == .masterDetail, level == 0 else { return }
    for child in org.records(world.levels[1].object)
    where child[world.levels[1].lookup ?? ""]?.string == parent["Id"]?.string {
      ledger.allowReplacing(ConvergenceLedger.numbers(in: child))
    }
  }
}
