import BulkJobs
import HTTPTypes
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// The results of an ended job for each of its rows, from its three files.
///
/// The files list the rows as they were uploaded, in any order. Rows that are equal in every cell
/// may be exchanged for each other, because their records have the same values.
struct BulkJobResults: Sendable {
  /// A row of a file: its cells under ``columns``, and its outcome.
  private struct Row: Sendable {
    let cells: [String]
    let outcome: SyncUpOutcome
  }

  /// The columns that were uploaded.
  private var columns: [String]?
  private var rows: [Row] = []

  /// Downloads the files of a job.
  ///
  /// - Parameter columns: The columns that were uploaded; nil takes those of the first file.
  /// - Throws: As `SyncContext.response(to:)`; `SyncError` `unexpectedResponse` if a file is not the CSV of a job.
  init(of job: BulkJob, _ columns: [String]?, in context: SyncContext) async throws {
    self.columns = columns
    try await read("successfulResults", of: job, in: context) { id, _ in
      .succeeded(id: id.isEmpty ? nil : id)
    }
    if job.failed != 0 {
      try await read("failedResults", of: job, in: context) { _, error in
        .rejected(Self.error(error))
      }
    }
    if job.state != .jobComplete {
      let reason = job.errorMessage ?? "The bulk job ended before it came to this record."
      try await read("unprocessedrecords", of: job, in: context) { _, _ in
        .rejected(["statusCode": "UNPROCESSED", "message": .string(reason), "fields": []])
      }
    }
  }

  private mutating func read(
    _ part: String, of job: BulkJob, in context: SyncContext,
    _ outcome: (_ id: String, _ error: String) -> SyncUpOutcome
  ) async throws {
    let request = RestRequest(
      path: BulkJob.path(.ingest, job.id, part), headers: [.accept: "text/csv"])
    let response = try await context.response(to: request)
    guard response.isSuccess else { throw SyncContext.serverError(response, request) }
    var reader = CSVReader(response.body)
    do {
      guard let header = try reader.nextTexts() else { return }
      let columns = self.columns ?? header.filter { !Self.ownColumns.contains($0) }
      self.columns = columns
      let places = columns.map { column in
        header.firstIndex { SOQLNames.areSame($0, column) }
      }
      let (id, error) = (header.firstIndex(of: "sf__Id"), header.firstIndex(of: "sf__Error"))
      while let texts = try reader.nextTexts() {
        guard texts.count == header.count else { throw CSVReader.Malformed() }
        rows.append(
          Row(
            cells: places.map { $0.map { texts[$0] } ?? "" },
            outcome: outcome(id.map { texts[$0] } ?? "", error.map { texts[$0] } ?? "")))
      }
    } catch {
      throw SyncContext.unexpectedResponse(
        response, to: request, expected: "the CSV of a bulk job's results")
    }
  }

  private static let ownColumns: Set = ["sf__Id", "sf__Created", "sf__Error"]

  /// The form of an error in a file: `CODE:message:fields --`.
  static func error(_ text: String) -> JSONValue {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty,
      parts[0].allSatisfy({ $0.isUppercase || $0 == "_" || $0.isNumber })
    else { return ["statusCode": "UNKNOWN_EXCEPTION", "message": .string(text), "fields": []] }
    var message = String(parts[1])
    var fields: [JSONValue] = []
    if message.hasSuffix("--"), let colon = message.lastIndex(of: ":") {
      fields = message[message.index(after: colon)...].dropLast(2)
        .split(whereSeparator: { $0 == " " || $0 == "," }).map { .string(String($0)) }
      message = String(message[..<colon])
    }
    return [
      "statusCode": .string(String(parts[0])), "message": .string(message),
      "fields": .array(fields),
    ]
  }

  // MARK: Records

  /// The outcomes of a file's records, in order; `unanswered` for one that is in no file.
  func outcomes(of file: BulkFile) -> [SyncUpOutcome] {
    var outcomes: [SyncUpOutcome?] = file.records.map { _ in nil }
    let columns = columns ?? file.columns
    // What is to be created is known by all its values, everything else by what identifies it.
    let count = file.subject.action == .create ? columns.count : 1
    let sent = file.records.map { record in file.cells(of: record, columns).map { $0 ?? "" } }
    var left = Array(rows.indices)
    // A server may write the end of a line, blanks at the ends, or a null otherwise than it was sent.
    for isExact in [true, false] where !left.isEmpty {
      func key(_ cells: [String]) -> String {
        let cells = cells.prefix(count)
        return (isExact ? Array(cells) : cells.map(\.trimmedForm)).joined(separator: "\u{1F}")
      }
      var byKey: [String: [Int]] = [:]
      for index in left.reversed() { byKey[key(rows[index].cells), default: []].append(index) }
      var taken: Set<Int> = []
      for (number, record) in file.records.enumerated() where outcomes[number] == nil {
        guard let index = byKey[key(sent[number])]?.popLast() else { continue }
        taken.insert(index)
        outcomes[number] = Self.outcome(rows[index].outcome, of: record.action)
      }
      left.removeAll(where: taken.contains)
    }
    return outcomes.map { $0 ?? .unanswered }
  }

  /// The first code also means a lookup that points nowhere; only of a record that is to exist already can it mean
  /// that the record is gone.
  private static func outcome(_ outcome: SyncUpOutcome, of action: SyncUpAction) -> SyncUpOutcome {
    if case .succeeded(let id) = outcome { return .accepted(id: id, of: action) }
    guard case .rejected(let error) = outcome, action == .update || action == .delete,
      ["INVALID_CROSS_REFERENCE_KEY", "ENTITY_IS_DELETED"].contains(error["statusCode"]?.string)
    else { return outcome }
    return .gone(error)
  }
}

extension String {
  /// Without blanks at the ends, with line feeds alone, and with nothing for null.
  fileprivate var trimmedForm: String {
    let lines = replacing("\r\n", with: "\n")
    let start = lines.drop(while: \.isWhitespace)
    let text = String(String(start.reversed().drop(while: \.isWhitespace)).reversed())
    return text == BulkFile.null ? "" : text
  }
}
