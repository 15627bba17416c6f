public import SalesforceSDKCommon

/// A target that uploads local changes.
///
/// A plugin implements ``send(_:in:)`` and ``remoteDates(of:in:)`` in addition to the requirements
/// of ``SyncTarget``. The engine does everything else: it finds dirty records and the action for
/// each, detects conflicts, stores every outcome, and keeps records dirty that were edited during
/// the upload.
public protocol SyncUpTarget: SyncTarget {
  /// The maximum number of records that ``requests(for:)`` gets. Default: 1.
  var maxBatchSize: Int { get }

  /// The fields to send, and the external id field that identifies a record on the server.
  var fields: SyncUpFields { get }

  /// Splits a batch into groups, each of which is sent with one request, in this order. Default:
  /// one group.
  ///
  /// The outcomes of a group are on disk before the next group is sent. Each record has to be in
  /// one group. A record in no group is not sent and counts as unanswered, and the run fails at its
  /// end with ``SyncError`` `invalidTarget`. A second occurrence of a record is removed.
  func requests(for batch: [SyncUpRecord]) -> [[SyncUpRecord]]

  /// Sends one group of ``requests(for:)``.
  ///
  /// - Returns: One outcome per record, in the same order. Missing outcomes at the end count as
  ///   unanswered.
  /// - Throws: If the group failed as a whole. ``SyncError`` `server` with a status below 500 and
  ///   `invalidRequest` mean that the server did nothing; after every other error, and after the
  ///   statuses 408, 425 and 499, it may have executed the request.
  func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome]

  /// Fetches the modification dates of the server's records, to detect conflicts.
  ///
  /// - Parameter records: Records that are assumed to exist on the server.
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
/// Without it, the entry of such a record becomes a conflict of kind ``SyncConflict/Kind/inDoubt``
/// and is not sent again, unless an external id field makes a retry safe.
public protocol UnacknowledgedCreateFinding: SyncUpTarget {
  /// Searches the server for records that earlier, unacknowledged requests may have created.
  ///
  /// - Returns: For each record, in the same order, the ids of server records that agree with it in
  ///   every field that was sent. The engine chooses one that cannot be another record of this
  ///   device.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func candidates(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[String]]

  /// Searches the server for all records that earlier, unacknowledged requests may have created,
  /// including records that were changed since.
  ///
  /// Default: the result of ``candidates(for:in:)``, as records that agree.
  ///
  /// - Returns: For each record, in the same order, the candidates, best first. An empty list means
  ///   that the server does not have the record, which is then sent again once the server can no longer be at work on
  ///   the lost request. nil means that the
  ///   server did not return a result; the record is then skipped.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func possibleRecords(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?]

  /// Returns whether the server has certainly ended its work on each create, in the same order.
  ///
  /// Called for creates whose response was lost a short time ago and for which no record was found. While the server
  /// may work on one, it is searched for again, and not sent. Default: no create is certainly over.
  ///
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func areOver(_ lost: [UnacknowledgedCreate], in context: SyncContext) async throws -> [Bool]
}

extension UnacknowledgedCreateFinding {
  /// No create is certainly over.
  public func areOver(
    _ lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [Bool] { lost.map { _ in false } }

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
  /// Its values in the sent fields, and its modification date, as far as they are known.
  public let values: JSONObject
  /// Whether it agrees in every field that was sent, if values in another form of the server's count.
  var agreesInForm = false

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
  /// A time before the request was sent, in milliseconds since 1970.
  public let sentAfter: Int64
  /// The times of the server, in milliseconds since 1970, between which it created the record if the request arrived;
  /// nil if they are not known.
  public let arrival: ClosedRange<Int64>?

  /// The time from which a search for the record begins, in milliseconds since 1970, at a whole second.
  var earliest: Int64 { max(sentAfter, arrival?.lowerBound ?? sentAfter) / 1_000 * 1_000 }

  /// Whether a record of this time, which is known to the second, may be the one.
  func mayHaveBeenCreated(at time: Int64) -> Bool {
    time >= earliest && arrival.map { time <= $0.upperBound } ?? true
  }

  /// Describes an unacknowledged create.
  public init(record: SyncUpRecord, sentAfter: Int64, arrival: ClosedRange<Int64>? = nil) {
    self.record = record
    self.sentAfter = sentAfter
    self.arrival = arrival
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
  /// The field by which the server finds a record that was created locally. If the record has a
  /// value for it, a create becomes an upsert, so sending it twice creates one record.
  public var externalIdFieldName: String?
  /// Whether a locally created entry without an external id gets a UUID as its external id before
  /// it is sent. Default: false.
  ///
  /// The UUID is stored before the request is sent, so that sending it again, also after a restart, creates one
  /// record. The field needs to be a text of at least 36 characters, unique and marked as external id.
  public var fillsExternalId: Bool

  /// Creates a choice of fields.
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
  /// - Throws: ``SyncError`` `invalidTarget` if a value is not a list.
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
  /// The server executed the action; the record's id, if the response has it. A locally created
  /// record without an id counts as ``unanswered``.
  case succeeded(id: String?)
  /// The record no longer exists; with the server's error.
  case gone(JSONValue)
  /// The server rejected the record; with its error.
  case rejected(JSONValue)
  /// The record was not written, because it changed on the server after it was downloaded. It
  /// counts as a conflict: the entry stays as it is.
  case outdated
  /// The response says nothing about this record.
  case unanswered
}
