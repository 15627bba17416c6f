public import SalesforceSDKCommon

/// A target that uploads local changes.
///
/// A plugin implements ``send(_:in:)`` and ``remoteDates(of:in:)`` in addition to the requirements of
/// ``SyncTarget``. The engine does everything else: it finds dirty records and what each of them needs, detects
/// conflicts, stores every outcome, and leaves records dirty that were edited during the upload.
public protocol SyncUpTarget: SyncTarget {
  /// How many records ``requests(for:)`` gets at most. Default: 1.
  var maxBatchSize: Int { get }

  /// Which fields are sent, and which field identifies a record that the server may know already.
  var fields: SyncUpFields { get }

  /// Cuts a batch into the groups that are sent with one request each, in sending order. Default:
  /// one group.
  ///
  /// The outcomes of a group are on disk before the next group is sent. Each record has to be in one
  /// group: one that is in none is not sent, counts as unanswered and makes the run fail in the end
  /// with ``SyncError`` `invalidTarget`; where it stands a second time it is taken out.
  func requests(for batch: [SyncUpRecord]) -> [[SyncUpRecord]]

  /// Sends one group of ``requests(for:)``.
  ///
  /// - Returns: One outcome per record, in the same order. What is missing at the end counts as
  ///   unanswered.
  /// - Throws: If the group failed as a whole. ``SyncError`` `server` with a status below 500 and
  ///   `invalidRequest` mean that the server did nothing; after every other error, and after the
  ///   statuses 408, 425 and 499, it may have done what was requested.
  func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome]

  /// When the server's records were modified last, for conflict detection.
  ///
  /// - Parameter records: Records that exist on the server as far as is known here.
  /// - Returns: One result per record, in the same order.
  /// - Throws: As ``send(_:in:)``.
  func remoteDates(of records: [SyncUpRecord], in context: SyncContext) async throws -> [RemoteDate]
}

extension SyncUpTarget {
  /// One record at a time.
  public var maxBatchSize: Int { 1 }
  /// One request for the whole batch.
  public func requests(for batch: [SyncUpRecord]) -> [[SyncUpRecord]] { [batch] }
}

/// A sync up target that can find out whether an unacknowledged create was executed.
///
/// Without it the entry of such a record is held as a conflict of kind ``SyncConflict/Kind/inDoubt`` and not sent
/// again, unless an external id field makes sending it again safe.
public protocol UnacknowledgedCreateFinding: SyncUpTarget {
  /// Looks on the server for records that earlier, unacknowledged requests may have created.
  ///
  /// - Returns: For each record, in the same order, the ids of server records that agree with it in
  ///   every field that was sent. The engine takes one that cannot be another record of this device.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func candidates(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[String]]

  /// Looks on the server for all records that earlier, unacknowledged requests may have created, also for those
  /// that were changed since.
  ///
  /// Default: what ``candidates(for:in:)`` returns, as records that agree.
  ///
  /// - Returns: For each record, in the same order, the candidates, best first. None means that the server does
  ///   not have the record, and it is sent again; nil that the server does not say, and it is held.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func possibleRecords(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?]
}

extension UnacknowledgedCreateFinding {
  public func possibleRecords(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?] {
    try await candidates(for: lost, in: context).map { ids in
      ids.map { UnacknowledgedCreateCandidate(id: $0, agrees: true) }
    }
  }
}

/// A record of the server that an unacknowledged create may have created.
public struct UnacknowledgedCreateCandidate: Sendable {
  /// The record's id.
  public let id: String
  /// Whether it agrees in every field that was sent.
  public let agrees: Bool
  /// Its values of the fields that were sent, and its modification date, as far as they are known.
  public let values: JSONObject

  /// Describes a candidate.
  public init(id: String, agrees: Bool, values: JSONObject = [:]) {
    self.id = id
    self.agrees = agrees
    self.values = values
  }
}

/// A create that was sent and whose response was lost.
public struct UnacknowledgedCreate: Sendable {
  /// The record as it was sent.
  public let record: SyncUpRecord
  /// The time, in milliseconds since 1970, before which it was certainly not sent.
  public let sentAfter: Int64

  /// Describes an unacknowledged create.
  public init(record: SyncUpRecord, sentAfter: Int64) {
    self.record = record
    self.sentAfter = sentAfter
  }
}

/// The fields of a record that are uploaded.
///
/// JSON keys: `createFieldlist`, `updateFieldlist`, `externalIdFieldName`, `fillsExternalId`, each only when set.
public struct SyncUpFields: Sendable, Equatable {
  /// The fields of creates, upserts and re-creations; nil means those of the sync's options.
  public var createFieldlist: [String]?
  /// The fields of updates; nil means those of the sync's options.
  public var updateFieldlist: [String]?
  /// The field by which the server finds a record that was created locally. A create becomes an upsert if
  /// the record has a value for it, so that sending it twice makes one record.
  public var externalIdFieldName: String?
  /// Whether an entry that was created locally and has no value for the external id field gets a UUID there
  /// before it is sent. Default: false.
  ///
  /// The UUID is stored before the request is sent, so that sending it again, also after a restart, creates one
  /// record. The field needs to be a text of at least 36 characters, unique and marked as external id.
  public var fillsExternalId: Bool

  /// Makes a choice of fields.
  public init(
    createFieldlist: [String]? = nil, updateFieldlist: [String]? = nil,
    externalIdFieldName: String? = nil, fillsExternalId: Bool = false
  ) {
    self.createFieldlist = createFieldlist
    self.updateFieldlist = updateFieldlist
    self.externalIdFieldName = externalIdFieldName.flatMap { $0.isEmpty ? nil : $0 }
    self.fillsExternalId = fillsExternalId
  }

  /// Reads the four keys from a target's configuration.
  ///
  /// - Throws: ``SyncError`` `invalidTarget` if a list is none.
  public init(configuration: JSONObject) throws(SyncError) {
    self.init(
      createFieldlist: try configuration.syncTexts("createFieldlist"),
      updateFieldlist: try configuration.syncTexts("updateFieldlist"),
      externalIdFieldName: configuration.syncText("externalIdFieldName"),
      fillsExternalId: configuration["fillsExternalId"]?.bool ?? false)
  }

  /// Writes the four keys into a target's configuration.
  public func write(into configuration: inout JSONObject) {
    if let createFieldlist {
      configuration["createFieldlist"] = .array(createFieldlist.map { .string($0) })
    }
    if let updateFieldlist {
      configuration["updateFieldlist"] = .array(updateFieldlist.map { .string($0) })
    }
    if let externalIdFieldName {
      configuration["externalIdFieldName"] = .string(externalIdFieldName)
    }
    if fillsExternalId { configuration["fillsExternalId"] = true }
  }
}

/// The server's response to the upload of one record.
public enum SyncUpOutcome: Sendable, Equatable {
  /// It did what was requested; the record's id, if the response holds it. A record that was created
  /// locally and gets no id counts as ``unanswered``.
  case succeeded(id: String?)
  /// The record is not there any more; what the server said.
  case gone(JSONValue)
  /// The record was refused; what the server said.
  case rejected(JSONValue)
  /// The record was not written, since it was changed on the server after the local copy came from
  /// there. It counts as a conflict: the entry stays as it is.
  case outdated
  /// The response says nothing about this record.
  case unanswered
}
