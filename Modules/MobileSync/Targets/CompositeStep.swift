import SalesforceSDKCommon
import SalesforceSDKCore

/// A record's part of a composite request.
///
/// It is for targets that send several records in one request, in which later records may refer to
/// earlier ones.
public struct CompositeStep: Sendable {
  /// The maximum number of steps that the server accepts in one request.
  public static let maxPerRequest = 25

  /// The record.
  public let record: SyncUpRecord
  /// A field with the id of another record, and the source of that id.
  public let link: Link?

  /// A field that refers to another record.
  public struct Link: Sendable, Equatable {
    /// The source of the other record's id.
    public enum Source: Sendable, Equatable {
      /// A known id.
      case id(String)
      /// The result of the step with this number, which creates the record.
      case step(Int)
    }
    /// The field's name.
    public let field: String
    /// The source of the id.
    public let source: Source

    /// Creates a link.
    public init(field: String, source: Source) {
      self.field = field
      self.source = source
    }
  }

  /// Creates a step.
  public init(record: SyncUpRecord, link: Link? = nil) {
    self.record = record
    self.link = link
  }

  /// Sends steps in one composite request, which continues if a step fails.
  ///
  /// - Returns: One outcome per step, in the same order; a record whose related record is gone is
  ///   refused with `ENTITY_IS_DELETED`. A step that the response does not mention is `unanswered`.
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func send(
    _ steps: [CompositeStep], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    if steps.isEmpty { return [] }
    let names = referenceIds(of: steps.map(\.record))
    var parts: [CompositeSubrequest] = []
    for (step, name) in zip(steps, names) {
      var links: [(name: String, value: JSONValue)] = []
      switch step.link?.source {
      case .id(let id): links = [(step.link?.field ?? "", .string(id))]
      case .step(let number): links = [(step.link?.field ?? "", .string("@{\(names[number]).id}"))]
      case nil: break
      }
      parts.append(CompositeSubrequest(referenceId: name, step.record.request(with: links)))
    }
    let request = try RestRequest.composite(parts, apiVersion: context.apiVersion)
    let json = try await context.json(for: request)
    guard let responses = json["compositeResponse"], responses.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a composite response")
    }
    let byName = Dictionary(
      responses.elements.map { ($0["referenceId"]?.string ?? "", $0) },
      uniquingKeysWith: { first, _ in first })
    return zip(steps, names).map { step, name in
      guard let response = byName[name], let status = response["httpStatusCode"]?.int64 else {
        return .unanswered
      }
      let body = response["body"]
      return SyncUpOutcome(
        status: Int(clamping: status), body: body?.kind == .object ? body : nil,
        error: body?[0]?.value ?? (body?.kind == .object ? body?.value : nil),
        of: step.record.action)
    }
  }

  /// Returns a unique name for each record: its id, if the characters are allowed and the request
  /// has no other record with it.
  static func referenceIds(of records: [SyncUpRecord]) -> [String] {
    var taken: Set<String> = []
    return records.enumerated().map { index, record in
      let id = record.id ?? ""
      let isAllowed =
        !id.isEmpty
        && id.utf8.allSatisfy { byte in
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
        }
      if isAllowed, taken.insert(id).inserted { return id }
      var number = index
      while !taken.insert("record_\(number)").inserted { number += records.count }
      return "record_\(number)"
    }
  }
}
