import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Synchronization

/// Three devices and an org that live through a story, and a ledger of every value that was ever
/// written.
final class ConvergenceWorld: Sendable {
  private static let fields = ["Name", "Phone"]

  /// Every value is written once, so that it can be told what became of it.
  private struct Ledger {
    var last = 0
    var written: [String] = []
    /// Values that somebody replaced or deleted who saw them, or who was shown a conflict.
    var settled: Set<String> = []
    var tags: [String] = []
    /// How many records each device has made that equal each other, by their tag.
    var equals: [String: Int] = [:]
    /// The tags of records that were changed on the server before the device that made them had an answer: it
    /// does not know them again, and makes them once more. That is the limit of decision 2.
    var unrecognisable: Set<String> = []
  }

  private let org = InMemoryOrg()
  private let devices: [ConvergenceDevice]
  private let ledger = Mutex(Ledger())

  private init(hoursAhead: [Int]) async throws {
    ConvergenceDevice.prepare(org)
    var devices: [ConvergenceDevice] = []
    for (number, hours) in hoursAhead.enumerated() {
      devices.append(
        try await ConvergenceDevice.open(org, number: number, hoursAhead: hours))
    }
    self.devices = devices
  }

  /// Lives through a story.
  ///
  /// - Parameter isCulprit: After which steps an edit gets lost, to see that it is noticed.
  /// - Returns: What is wrong in the end; nil if everything is right.
  static func live(
    _ script: ConvergenceScript,
    losing isCulprit: (ConvergenceScript.Step) -> Bool = { _ in false }
  ) async throws -> String? {
    let world = try await ConvergenceWorld(hoursAhead: script.hoursAhead)
    let fault: String?
    do {
      var found: String?
      for step in script.steps where found == nil {
        try await world.perform(step)
        if isCulprit(step) { world.loseEdit() }
        found = try await world.falseConflict()
      }
      fault = if let found { found } else { try await world.calmDown() }
    } catch {
      fault = "\(error)"
    }
    for device in world.devices { try await device.stop() }
    return fault
  }

  // MARK: Steps

  private func perform(_ step: ConvergenceScript.Step) async throws {
    switch step {
    case .edit(3, let pick, let field): try await editOnServer(pick, field)
    case .edit(let side, let pick, let field): try await edit(devices[side], pick, field)
    case .create(3): createOnServer()
    case .create(let side): try await create(devices[side])
    case .createEqual(let device): try await createEqual(device)
    case .misdirect(let device, let pick): try await misdirect(devices[device], pick)
    case .delete(3, let pick): deleteOnServer(pick)
    case .delete(let side, let pick): try await delete(devices[side], pick)
    case .lateEdit(let pick, let field):
      try await editOnServer(pick, field, isLate: true)
    case .lateCreate: org.committingLate(by: 10_000) { createOnServer() }
    case .sync(let device, let sync, let trouble):
      try await self.sync(devices[device], sync, trouble)
    case .resolve(let device, let decision): try await resolve(devices[device], decision)
    case .restart(let device): try await devices[device].restart()
    }
  }

  /// A sync, which may fail: that is what this is about.
  private func sync(
    _ device: ConvergenceDevice, _ sync: ConvergenceScript.Sync,
    _ trouble: ConvergenceScript.Trouble?
  ) async throws {
    let first = org.requests.count
    let isDead = Mutex(false)
    if let trouble {
      org.intervene { number, _ in
        guard number == first + trouble.request else { return .none }
        switch trouble.kind {
        case .unreachable: return .unreachable
        case .dropAnswer: return .dropAnswer
        case .busy: return .answer(status: 503, body: "[]")
        case .expired: return .answer(status: 401, body: "[]")
        case .edit: try? await self.edit(device, number, number % 2)
        case .create: try? await self.create(device)
        case .delete: try? await self.delete(device, number)
        case .killBefore, .killAfter:
          isDead.withLock { $0 = true }
          try? await device.kill()
          while !Task.isCancelled { await Task.yield() }
          return trouble.kind == .killAfter ? .dropAnswer : .unreachable
        }
        return .none
      }
    }
    do {
      try await device.sync(sync)
    } catch is SyncError {
      // What could not be done is done later.
    }
    org.intervene(nil)
    if isDead.withLock({ $0 }) { try await device.restart() }
  }

  // MARK: Writing

  private func newValue() -> String {
    ledger.withLock { ledger in
      ledger.last += 1
      ledger.written.append("v\(ledger.last)")
      return "v\(ledger.last)"
    }
  }

  private func newRecord() -> JSONObject {
    let tag = ledger.withLock { ledger in
      ledger.tags.append("t\(ledger.tags.count + 1)")
      return "t\(ledger.tags.count)"
    }
    return [
      "Name": .string(newValue()), "Phone": .string(newValue()),
      ConvergenceDevice.tag: .string(tag),
    ]
  }

  /// Writes a value that nobody will ever see.
  private func loseEdit() { _ = newValue() }

  private func settle(_ values: [JSONValue?]) {
    ledger.withLock { ledger in ledger.settled.formUnion(values.compactMap { $0?.string }) }
  }

  private func edit(_ device: ConvergenceDevice, _ pick: Int, _ field: Int) async throws {
    let rows = try await device.rows()
    guard !rows.isEmpty else { return }
    let row = rows[pick % rows.count]
    if row[SyncKeys.locallyCreated]?.bool != true { try await noteChange(of: row) }
    settle([
      try await device.edit(row, Self.fields[field], .string(newValue()))
    ])
  }

  private func create(_ device: ConvergenceDevice) async throws {
    try await device.create(newRecord())
  }

  /// Makes a record that cannot be told from others of this device. Nobody deletes such records, so that their
  /// number is known.
  private func createEqual(_ device: Int) async throws {
    let tag = "equal \(device)"
    ledger.withLock { $0.equals[tag, default: 0] += 1 }
    try await devices[device].create([
      "Name": "equal", "Phone": "equal", ConvergenceDevice.tag: .string(tag),
    ])
  }

  private func isEqual(_ record: JSONObject) -> Bool {
    record[ConvergenceDevice.tag]?.string?.hasPrefix("equal") == true
  }

  private func misdirect(_ device: ConvergenceDevice, _ pick: Int) async throws {
    let rows = try await device.rows()
    guard !rows.isEmpty else { return }
    _ = try await device.edit(
      rows[pick % rows.count], ConvergenceDevice.lookup, "001000000000999AAA")
  }

  private func delete(_ device: ConvergenceDevice, _ pick: Int) async throws {
    let rows = try await device.rows().filter { !isEqual($0) }
    guard !rows.isEmpty else { return }
    let deleted = try await device.delete(rows[pick % rows.count])
    settle(Self.fields.map { deleted?[$0] })
  }

  private func createOnServer() { org.create("Account", newRecord()) }

  private func editOnServer(_ pick: Int, _ field: Int, isLate: Bool = false) async throws {
    let records = org.records("Account")
    guard !records.isEmpty else { return }
    let record = records[pick % records.count]
    try await noteChange(of: record)
    settle([record[Self.fields[field]]])
    org.committingLate(by: isLate ? 10_000 : 0) {
      org.update("Account", record["Id"]?.string ?? "", [Self.fields[field]: .string(newValue())])
    }
  }

  /// Somebody changes a record of the server's: does the device that made it know yet that it is there?
  private func noteChange(of record: JSONObject) async throws {
    guard let tag = record[ConvergenceDevice.tag]?.string else { return }
    for device in devices {
      let isUnanswered = try await device.allRows().contains { row in
        row[ConvergenceDevice.tag]?.string == tag && row[SyncKeys.locallyCreated]?.bool == true
      }
      if isUnanswered { _ = ledger.withLock { $0.unrecognisable.insert(tag) } }
    }
  }

  private func deleteOnServer(_ pick: Int) {
    let records = org.records("Account").filter { !isEqual($0) }
    guard !records.isEmpty else { return }
    let record = records[pick % records.count]
    settle(Self.fields.map { record[$0] })
    org.delete("Account", record["Id"]?.string ?? "")
  }

  // MARK: Conflicts

  /// Decides a device's first conflict. Whoever decides has seen all values.
  private func resolve(
    _ device: ConvergenceDevice, _ decision: ConvergenceScript.Decision
  ) async throws {
    guard let conflict = try await device.store.conflicts(in: ConvergenceDevice.soup).first,
      let row = try await device.allRows().first(where: {
        $0["_soupEntryId"]?.int64 == conflict.entryId
      })
    else { return }
    if conflict.kind == .inDoubt {
      // Who decides knows which record it is.
      let found = conflict.candidates.first { candidate in
        let original = org.original(candidate.id)
        return conflict.fields.allSatisfy { field in original?[field.name] == field.base }
      }
      return try await device.store.resolve(conflict, found.map { .record($0.id) } ?? .create)
    }
    let mine = conflict.fields.map { row[$0.name] } + conflict.fields.map(\.mine)
    let theirs = conflict.fields.map(\.theirs)
    let resolution: SyncResolution
    switch (decision, conflict.kind) {
    case (.mine, .deletedThere), (.values, .deletedThere):
      // A record that two devices bring back is two records.
      let tag = ledger.withLock { ledger in
        ledger.tags.append("t\(ledger.tags.count + 1)")
        return "t\(ledger.tags.count)"
      }
      resolution = .values([ConvergenceDevice.tag: .string(tag)])
    case (.mine, _):
      settle(theirs)
      resolution = .mine
    case (.theirs, .deletedThere):
      settle(Self.fields.map { row[$0] })
      resolution = .theirs
    case (.theirs, _):
      if conflict.kind == .fields { settle(mine) }
      resolution = .theirs
    case (.values, .fields):
      settle(mine + theirs)
      resolution = .values(
        JSONObject(conflict.fields.map { (key: $0.name, value: .string(newValue())) }))
    default:
      settle([row["Name"]] + conflict.fields.filter { $0.name == "Name" }.map(\.theirs))
      resolution = .values(["Name": .string(newValue())])
    }
    try await device.store.resolve(conflict, resolution)
  }

  // MARK: The end

  /// A conflict that says of a record which is there that it is not.
  private func falseConflict() async throws -> String? {
    for (number, device) in devices.enumerated() {
      for conflict in try await device.store.conflicts() where conflict.kind == .deletedThere {
        if org.record("Account", conflict.recordId) != nil {
          return "device \(number) takes record \(conflict.recordId) for deleted"
        }
      }
    }
    return nil
  }

  /// Lets everybody sync until nothing moves, and looks at what came out.
  private func calmDown() async throws -> String? {
    for round in 0..<8 {
      for (number, device) in devices.enumerated() {
        // Of lookups into nowhere only those are mended later that a decision brings back.
        var mayMisdirect = round == 0
        while try await !device.store.conflicts().isEmpty {
          try await resolve(device, (round + number) % 2 == 0 ? .mine : .theirs)
          mayMisdirect = true
        }
        for row in try await device.rows()
        where mayMisdirect && row[ConvergenceDevice.lookup]?.string != nil {
          _ = try await device.edit(row, ConvergenceDevice.lookup, .null)
        }
        for sync in [ConvergenceScript.Sync.up, .down, .ghosts] { try await device.sync(sync) }
      }
      if try await disagreement() == nil { break }
    }
    if let fault = try await disagreement() { return fault }
    let records = org.records("Account")
    let excused = ledger.withLock { $0.unrecognisable }
    let tags = records.compactMap { $0[ConvergenceDevice.tag]?.string }
      .filter { !excused.contains($0) }
    let unique = tags.filter { !$0.hasPrefix("equal") }
    if Set(unique).count < unique.count { return "a record was made twice: \(unique.sorted())" }
    let made = Dictionary(
      tags.filter { $0.hasPrefix("equal") }.map { ($0, 1) }, uniquingKeysWith: +)
    let expected = ledger.withLock { $0.equals.filter { !excused.contains($0.key) } }
    if made != expected { return "of equal records there are \(made) instead of \(expected)" }
    let kept = Set(records.flatMap { record in Self.fields.compactMap { record[$0]?.string } })
    let (written, settled) = ledger.withLock { ($0.written, $0.settled) }
    let lost = written.filter { !kept.contains($0) && !settled.contains($0) }
    return lost.isEmpty ? nil : "edits are lost without a conflict: \(lost)"
  }

  /// Where the devices and the org differ.
  private func disagreement() async throws -> String? {
    func shape(_ records: [JSONObject]) -> [String: [String]] {
      Dictionary(
        records.map { record in
          (
            record["Id"]?.string ?? "",
            ([ConvergenceDevice.tag] + Self.fields).map { record[$0]?.string ?? "" }
          )
        }, uniquingKeysWith: { $0 + ["twice"] + $1 })
    }
    let expected = shape(org.records("Account"))
    for (number, device) in devices.enumerated() {
      let rows = try await device.allRows()
      let dirty = rows.filter { $0[SyncKeys.local]?.bool != false }
      if !dirty.isEmpty { return "device \(number) has dirty rows: \(dirty)" }
      if try await !device.store.conflicts().isEmpty { return "device \(number) has conflicts" }
      if shape(rows) != expected {
        return "device \(number) has \(shape(rows)), the org \(expected)"
      }
    }
    return nil
  }
}
