import SalesforceSDKCommon

/// A record that was sent and not acknowledged: the server may or may not have it.
///
/// Stored as an outcome with more members:
///
/// ```json
/// { "key": "accounts/5", "outcome": "inFlight", …, "sent": { "Name": "…" },
///   "sentAfter": 1700000000000, "newestEntryId": 5,
///   "arrivedAfter": 1700003540000, "arrivedBefore": 1700004500000,
///   "openUntil": 1700003661000,
///   "externalId": { "field": "Ext__c", "value": "x1" } }
/// ```
///
/// `externalId` is present only if the record was sent by it, and `leftOut`, a list of names, only
/// if some fields are to be sent later.
struct UnacknowledgedMark: Sendable {
  /// The outcome, which says so.
  let outcome: SyncRecordOutcome
  /// The fields that were sent, with their values of then.
  let sent: [(key: String, value: JSONValue)]
  /// Before this time of the server's, in milliseconds since 1970, it was not sent.
  let sentAfter: Int64
  /// The times of the server between which it created the record if the request arrived; nil if they are not known, as
  /// of a record that another device may have sent. The end is open until it is noticed that the response was lost.
  let arrival: ClosedRange<Int64>?
  /// Until this time of the server's, in milliseconds since 1970, it may still complete the request; nil if the request
  /// is over.
  let openUntil: Int64?
  /// The same time by this machine's clock, for a server whose clock stands still.
  let openUntilHere: Int64?
  /// The newest entry of the soup then: what the server made of the record can only stand in a newer one.
  let newestEntryId: Int64

  /// The fields that were left out, to be sent later.
  let leftOut: [String]

  /// All fields that are sent.
  var fields: [String] { sent.map(\.key) + leftOut }

  /// The external id by which the record was sent, if it was.
  let externalId: SyncUpRecord.ExternalId?

  /// The sent values, as an object.
  var values: JSONObject { JSONObject(sent) }

  /// The sent values that the server's record has, so that they count as uploaded.
  ///
  /// A record with the external id of an upsert may be another one, which was created in place of a deleted one:
  /// then the upsert may never have arrived. So only the fields count that were not edited, that have what was sent,
  /// or that have another form of it and had not before.
  ///
  /// - Parameters:
  ///   - record: The known fields of the server's record.
  ///   - base: The earlier version of the server's record, as far as it is known.
  func arrived(in record: JSONObject, over base: JSONObject?) -> JSONObject {
    JSONObject(
      sent.filter { name, value in
        guard let made = record[name] else { return false }
        if ServerEquality.isStored(value, as: made) { return true }
        if let before = base?[name], ServerEquality.same(value, before) { return true }
        return ServerEquality.mayBeStored(value, as: made)
          && !(base?[name].map { ServerEquality.same($0, made) } ?? false)
      })
  }

  /// Reads a stored mark; nil if it is none.
  init?(json: JSONSlice) {
    guard let outcome = SyncRecordOutcome(json: json), outcome.isLost,
      let sentAfter = json["sentAfter"]?.int64, let newestEntryId = json["newestEntryId"]?.int64
    else { return nil }
    self.outcome = outcome
    self.sentAfter = sentAfter
    self.newestEntryId = newestEntryId
    arrival = Self.arrival(in: json)
    openUntil = json["openUntil"]?.int64
    openUntilHere = json["openUntilHere"]?.int64
    externalId = json["externalId"].flatMap { externalId in
      guard let field = externalId["field"]?.string, let value = externalId["value"]?.string else {
        return nil
      }
      return SyncUpRecord.ExternalId(field: field, value: value)
    }
    leftOut = json["leftOut"]?.elements.compactMap(\.string) ?? []
    sent = json["sent"]?.members.map { (key: $0.key, value: $0.value.value) } ?? []
  }

  /// Reads ``arrival`` from the members that keep it.
  static func arrival(in json: JSONSlice) -> ClosedRange<Int64>? {
    json["arrivedAfter"]?.int64.map { start in
      start...max(start, json["arrivedBefore"]?.int64 ?? .max)
    }
  }

  /// The members that keep ``arrival``.
  static func json(ofArrival arrival: ClosedRange<Int64>?) -> JSONObject {
    guard let arrival else { return [:] }
    var json: JSONObject = ["arrivedAfter": .integer(arrival.lowerBound)]
    if arrival.upperBound < .max { json["arrivedBefore"] = .integer(arrival.upperBound) }
    return json
  }

  /// Whether an outcome speaks of the same thing that was to be done with the same record.
  func isOfSame(_ other: SyncRecordOutcome) -> Bool {
    outcome.action == other.action && outcome.recordId == other.recordId
  }
}
