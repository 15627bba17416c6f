import SalesforceSDKCommon
import Synchronization

/// The ids of the records that the server has created in one run.
///
/// Two entries with one id become one entry (``EntryUnion``). So a server, or a proxy, that gives several creates the
/// same id would delete all but one of them on the device. Such a response cannot be true: none of its records counts
/// as accepted.
final class CreatedIds: Sendable {
  /// What the record with an id was created from.
  private enum Source: Hashable {
    case entry(soupName: String, Int64)
    /// Entries with the same external id stand for the same record. The platform compares without regard to case.
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
  private static func id(_ effect: SyncUpEffect, _ record: SyncUpRecord) -> String? {
    guard record.makesRecord, case .clean(let id?) = effect else { return nil }
    return EntryUnion.forms(of: id)[0]
  }
}
