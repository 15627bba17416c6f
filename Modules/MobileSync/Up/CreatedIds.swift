import SalesforceSDKCommon
import SmartStore
import Synchronization

/// The ids of the records that the server has created in one run.
///
/// Two entries with one id become one entry (``EntryUnion``). So if a server or a proxy returned
/// the same id for several creates, all but one of them would be deleted on the device. Such a
/// response is invalid: none of its records counts as accepted.
final class CreatedIds: Sendable {
  /// The origin of a record with an id.
  private enum Source: Hashable {
    case entry(soupName: String, Int64)
    /// Entries with the same external id represent the same record. The platform compares without regard to case.
    case externalId(field: String, value: String)

    init(_ record: SyncUpRecord, _ soupName: String) {
      if let externalId = record.externalId {
        self = .externalId(
          field: externalId.field.lowercased(), value: externalId.value.lowercased())
      } else {
        self = .entry(soupName: soupName, record.entryId)
      }
    }
  }

  private let sources = Mutex<[String: Source]>([:])

  /// The effects of a response, with creates that got the id of another create as
  /// ``SyncUpEffect/unexpected(_:)``.
  ///
  /// Among the records of one response all with such an id are unexpected. A record of an earlier request stays
  /// accepted.
  func checked(
    _ effects: [SyncUpEffect], of records: [SyncUpRecord], in soupName: String
  ) -> [SyncUpEffect] {
    var found: [String: Set<Source>] = [:]
    for (effect, record) in zip(effects, records) {
      guard let id = Self.id(effect, record) else { continue }
      found[id, default: []].insert(Source(record, soupName))
    }
    if found.isEmpty { return effects }
    let repeated = sources.withLock { sources in
      var repeated: Set<String> = []
      for (id, new) in found {
        if let source = new.first, new.count == 1, sources[id, default: source] == source {
          sources[id] = source
        } else {
          repeated.insert(id)
        }
      }
      return repeated
    }
    if repeated.isEmpty { return effects }
    return zip(effects, records).map { effect, record in
      guard let id = Self.id(effect, record), repeated.contains(id) else { return effect }
      return .unexpected(
        SyncUpDecision.clientError(
          "UNEXPECTED_RESPONSE",
          "The server's response gives the id \(id) to several new records. Run the sync again; if the "
            + "error stays, look at what stands between this program and the server."))
    }
  }

  /// The id that the server gave a record that it created.
  fileprivate static func id(_ effect: SyncUpEffect, _ record: SyncUpRecord) -> String? {
    guard record.makesRecord, case .clean(let id?) = effect else { return nil }
    return EntryUnion.forms(of: id)[0]
  }
}

extension SyncUpScope {
  /// The effects of a response, with creates as ``SyncUpEffect/unexpected(_:)`` that got the id of another create of the
  /// run, or of a record that the soup had before the create was sent.
  ///
  /// An upsert may get the id of a known record, because the server finds it by its external id.
  func checked(
    _ effects: [SyncUpEffect], of records: [SyncUpRecord]
  ) async throws -> [SyncUpEffect] {
    let checked = createdIds.checked(effects, of: records, in: context.soupName)
    let made = zip(checked, records).compactMap { effect, record in
      record.action == .create
        ? CreatedIds.id(effect, record).map { (id: $0, record: record) } : nil
    }
    if made.isEmpty || !hasIdIndex { return checked }
    let (soup, keys) = (soup, made.map { "\(context.soupName)/\($0.record.entryId)" })
    let forms = made.flatMap { EntryUnion.forms(of: $0.id) }
    let taken = try await store.read { reader in
      let known = try soup.entryIds(of: forms, in: reader)
      if known.isEmpty { return Set<Int64>() }
      let newest = Dictionary(
        try OutcomeStore.marks(keys, in: reader).map { ($0.outcome.entryId, $0.newestEntryId) },
        uniquingKeysWith: { first, _ in first })
      return Set(
        made.filter { id, record in
          EntryUnion.forms(of: id).contains { form in
            known[form].map {
              $0 != record.entryId && $0 <= newest[record.entryId] ?? -1
            } ?? false
          }
        }.map(\.record.entryId))
    }
    if taken.isEmpty { return checked }
    return zip(checked, records).map { effect, record in
      guard taken.contains(record.entryId) else { return effect }
      return .unexpected(
        SyncUpDecision.clientError(
          "UNEXPECTED_RESPONSE",
          "The server's response gives a new record the id of a record that existed before. Run the sync again; if "
            + "the error stays, look at what stands between this program and the server."))
    }
  }
}
