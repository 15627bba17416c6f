import HTTPTypes
public import SalesforceSDKCommon

extension RestRequest {
  /// One page of the records in the user's briefcases (CO-134). ``PrimingRecords`` reads the response.
  ///
  /// - Parameter relayToken: The token of the previous page.
  /// - Parameter changedAfter: Only records that changed after this date.
  public static func primingRecords(
    relayToken: String? = nil, changedAfter: SalesforceDate? = nil, apiVersion: String? = nil
  ) -> RestRequest {
    RestRequest(
      path: "\(root(apiVersion))/connect/briefcase/priming-records",
      query: [
        relayToken.map { RestQueryItem("relayToken", $0) },
        changedAfter.map { RestQueryItem("changedAfterTimestamp", $0.text) },
      ].compactMap(\.self))
  }
}

/// One page of the records in the user's briefcases.
public struct PrimingRecords: Sendable, Equatable {
  /// A record, by its id and when it last changed.
  public struct Record: Sendable, Hashable {
    /// The record's id.
    public let id: String
    /// The time of its last change.
    public let systemModstamp: SalesforceDate
  }

  /// The totals of the briefcases and of this page.
  public struct Stats: Sendable, Hashable {
    /// The number of rules of the briefcases.
    public let ruleCountTotal: Int
    /// The number of records in the briefcases.
    public let recordCountTotal: Int
    /// The number of rules that this page covers.
    public let ruleCountServed: Int
    /// The number of records in this page.
    public let recordCountServed: Int
  }

  /// The records by object and record type.
  public let records: [String: [String: [Record]]]
  /// The token for the next page; `nil` on the last.
  public let relayToken: String?
  /// The ids of rules that failed.
  public let failedRules: [String]
  /// The totals.
  public let stats: Stats

  /// Reads a response.
  ///
  /// - Throws: ``RestError`` `malformedResponse` if it has another form.
  public init(_ response: RestResponse) throws(RestError) {
    let json = try response.json()
    func wrong(_ what: String) -> RestError {
      RestError(.malformedResponse, "Priming records: \(what).", body: response.body)
    }
    guard let objects = json["primingRecords"], objects.kind == .object, let stats = json["stats"]
    else { throw wrong("the response has no primingRecords or no stats") }
    var records: [String: [String: [Record]]] = [:]
    for (object, types) in objects.members {
      for (type, list) in types.members {
        var found: [Record] = []
        for item in list.elements {
          guard let id = item["id"]?.string,
            let date = item["systemModstamp"]?.string.flatMap({ SalesforceDate.parse($0) })
          else { throw wrong("a record has no id or no systemModstamp") }
          found.append(Record(id: id, systemModstamp: date))
        }
        records[object, default: [:]][type] = found
      }
    }
    func count(_ key: String) throws(RestError) -> Int {
      guard let number = stats[key]?.int64 else { throw wrong("stats has no \(key)") }
      return Int(clamping: number)
    }
    self.records = records
    self.relayToken = json["relayToken"]?.string
    self.failedRules = json["ruleErrors"]?.elements.compactMap { $0["ruleId"]?.string } ?? []
    self.stats = Stats(
      ruleCountTotal: try count("ruleCountTotal"),
      recordCountTotal: try count("recordCountTotal"),
      ruleCountServed: try count("ruleCountServed"),
      recordCountServed: try count("recordCountServed"))
  }
}
