import BulkJobs
import HTTPTypes
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// The files of a job's result, in order, and what of them has been read.
struct BulkResults: Sendable {
  /// The source of the files that are not downloaded yet.
  private enum Source {
    /// Files with the locators that the server has listed, and the location of the next list. They
    /// are downloaded in parallel.
    case list([Listed], more: String?)
    /// Each file leads to the next. `locator` is that of the next; nil means the first.
    case chain(locator: String?)
    case end
  }

  /// A file that the server has listed.
  private struct Listed {
    /// The query of its address.
    let items: [RestQueryItem]
    var locator: String? { items.first { $0.name == "locator" }?.value }
  }

  /// A file that was downloaded.
  private struct File {
    let locator: String?
    var reader: CSVReader
    let layout: BulkRowLayout
    /// The expected number of records; nil if the server did not return it.
    let count: Int?
    /// The first bytes, which tell it apart from other files.
    let beginning: String
    var rows = 0
  }

  /// The number of the job's records.
  let total: Int?
  /// The query that is read.
  private(set) var position: BulkPosition
  private var source: Source
  private var files: [File] = []
  /// The number of records of the first file that an earlier run saved.
  private var skip: Int
  private var types: BulkTypes
  private let maxRecords: Int
  private let idField: String
  private var trail = PageTrail<String>()
  /// The files that were read.
  private var filesRead = PageTrail<Int>()
  private var fileCount = 0

  /// More than this in one file would not be bounded memory: then files of `maxRecords` are requested.
  private static let maxFileBytes = 32 << 20

  /// Prepares to read from `position` on.
  init(
    _ job: BulkJob, _ position: BulkPosition, types: BulkTypes, maxRecords: Int, idField: String,
    in context: SyncContext
  ) async throws {
    total = job.processed
    self.position = position
    self.types = types
    self.maxRecords = maxRecords
    self.idField = idField
    skip = position.rows
    source = .chain(locator: position.locator)
    if total == 0 { source = .end }
    if let total, total > maxRecords { try await list(in: context) }
  }

  // MARK: Records

  /// The next records, at most `count`; fewer at the end of a file.
  ///
  /// - Throws: As `SyncContext.response(to:)`; `SyncError` `unexpectedResponse` if a file is no CSV, or does not
  ///   have what the job has.
  mutating func next(_ count: Int, in context: SyncContext) async throws -> [JSONSlice] {
    while files.isEmpty, !isAtEnd { try await download(in: context) }
    guard var file = files.first else {
      try end()
      return []
    }
    var writer = JSONWriter(capacity: count * 256)
    writer.beginArray()
    var cells: [CSVReader.Cell] = []
    var written = 0
    while written < count, try next(&file.reader, &cells) {
      file.rows += 1
      if skip > 0 {
        skip -= 1
        continue
      }
      try file.layout.write(cells, of: file.reader, to: &writer)
      written += 1
    }
    writer.endArray()
    position.read += written
    // Files may follow for ever.
    if let total, position.read > total { throw Self.incomplete(position.job) }
    if file.reader.isAtEnd {
      if let count = file.count, count != file.rows { throw Self.incomplete(position.job) }
      fileCount += 1
      try filesRead.follow(fileCount, count: file.rows, first: file.beginning)
      files.removeFirst()
      position.locator = files.first.map(\.locator) ?? nextLocator
      position.rows = 0
      if files.isEmpty, isAtEnd { try end() }
    } else {
      files[0] = file
      position.locator = file.locator
      position.rows = file.rows
    }
    return Array(try JSONSlice(parsing: writer.bytes).elements)
  }

  private mutating func end() throws {
    if let total, total != position.read { throw Self.incomplete(position.job) }
    position.isDone = true
  }

  private func next(
    _ reader: inout CSVReader, _ cells: inout [CSVReader.Cell]
  ) throws -> Bool {
    do {
      return try reader.next(&cells)
    } catch {
      throw Self.noCSV(position.job)
    }
  }

  private var isAtEnd: Bool {
    switch source {
    case .list(let files, let more): files.isEmpty && more == nil
    case .chain: false
    case .end: true
    }
  }

  /// The locator of the file after those that are downloaded.
  private var nextLocator: String? {
    switch source {
    case .list(let files, _): files.first?.locator
    case .chain(let locator): locator
    case .end: nil
    }
  }

  static func noCSV(_ job: String) -> SyncError {
    SyncError(
      .unexpectedResponse,
      "A result of the bulk query job \(job) is not CSV with the columns of its query. Look at what stands "
        + "between this program and the server.")
  }

  private static func incomplete(_ job: String) -> SyncError {
    SyncError(
      .unexpectedResponse,
      "The results of the bulk query job \(job) do not have as many records as the job. Run the sync again."
    )
  }

  // MARK: Files

  /// Gets the locators of the files, from the one on that is read next. A server that does not list them leads from
  /// file to file.
  private mutating func list(in context: SyncContext) async throws {
    var request = Self.listRequest(position.job, "")
    var trail = PageTrail<String>()
    while true {
      let page: (files: [Listed], more: String?)
      do {
        page = try await Self.list(request, in: context)
      } catch let error as SyncError where error.isRefusalOfRequest {
        return
      }
      if let start = page.files.firstIndex(where: { $0.locator == position.locator }) {
        source = .list(Array(page.files[start...]), more: page.more)
        return
      }
      // The first file may be listed under a locator, too.
      if position.locator == nil {
        source = .list(page.files, more: page.more)
        return
      }
      guard let more = page.more else { return }
      try trail.follow(more, count: page.files.count, first: page.files.first?.locator)
      request = Self.listRequest(position.job, more)
    }
  }

  private static func list(
    _ job: String, _ address: String?, in context: SyncContext
  ) async throws -> (files: [Listed], more: String?)? {
    guard let address else { return nil }
    return try await list(listRequest(job, address), in: context)
  }

  /// The request for a part of the list; of the address that the server gave for it the query alone counts.
  private static func listRequest(_ job: String, _ address: String) -> RestRequest {
    RestRequest(path: BulkJob.path(.query, job, "resultPages"), query: items(in: address))
  }

  private static func list(
    _ request: RestRequest, in context: SyncContext
  ) async throws -> (files: [Listed], more: String?) {
    let json = try await context.json(for: request)
    guard let pages = json["resultPages"], pages.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a list of result files")
    }
    let files = try pages.elements.map { page -> Listed in
      guard let url = page["resultUrl"]?.string else {
        throw SyncContext.unexpectedForm(
          page, of: request, expected: "a result file with its address")
      }
      return Listed(items: items(in: url))
    }
    let more = json["done"]?.bool == true ? nil : json["nextRecordsUrl"]?.string
    if more.map({ items(in: $0).isEmpty }) ?? false {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "a list that is the last or leads to another")
    }
    return (files, more)
  }

  /// The query of an address.
  private static func items(in address: String) -> [RestQueryItem] {
    guard let query = address.split(separator: "?", maxSplits: 1).dropFirst().first else {
      return []
    }
    return query.split(separator: "&").compactMap { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else { return nil }
      return RestQueryItem(
        PercentEncoding.decode(name), parts.count == 2 ? PercentEncoding.decode(parts[1]) : "")
    }
  }

  /// Downloads the next files.
  private mutating func download(in context: SyncContext) async throws {
    switch source {
    case .end: return
    case .chain(let locator):
      let (file, next) = try await Self.file(
        position.job, requested(locator), isListed: false, idField, types, in: context)
      if let next { try trail.follow(next) }
      types = file.types
      files.append(file.file)
      source = next.map { .chain(locator: $0) } ?? .end
    case .list(let files, let more):
      try await download(files, more, in: context)
    }
  }

  /// A file of `maxRecords` records.
  private func requested(_ locator: String?) -> Listed {
    Listed(
      items: (locator.map { [RestQueryItem("locator", $0)] } ?? [])
        + [RestQueryItem("maxRecords", String(maxRecords))])
  }

  /// Downloads several files in parallel, and with them where the list continues.
  private mutating func download(
    _ files: [Listed], _ more: String?, in context: SyncContext
  ) async throws {
    let round = Array(files.prefix(BulkSyncDownTarget.filesPerRound))
    let rest = Array(files.dropFirst(round.count))
    let (job, idField, types) = (position.job, idField, types)
    async let list = Self.list(job, rest.isEmpty ? more : nil, in: context)
    let loaded = try await withThrowingTaskGroup(
      of: (Int, Loaded?).self, returning: [Loaded?].self
    ) { group in
      for (index, listed) in round.enumerated() {
        group.addTask {
          do {
            return (
              index,
              try await Self.file(job, listed, isListed: true, idField, types, in: context).file
            )
          } catch let error as SyncError where error.isTooLarge {
            return (index, nil)
          }
        }
      }
      var loaded: [Loaded?] = round.map { _ in nil }
      for try await (index, file) in group { loaded[index] = file }
      return loaded
    }
    for (index, file) in loaded.enumerated() {
      guard let file else {
        // From here on in smaller files.
        _ = try await list
        source = .chain(locator: round[index].locator)
        return
      }
      self.types = file.types
      self.files.append(file.file)
    }
    if let list = try await list {
      if let next = list.more {
        try trail.follow(next, count: list.files.count, first: list.files.first?.locator)
      }
      source = .list(list.files, more: list.more)
    } else {
      source = .list(rest, more: rest.isEmpty ? nil : more)
    }
  }

  /// A file with the types that its columns needed.
  private struct Loaded: Sendable {
    let file: File
    let types: BulkTypes
  }

  /// Downloads one file.
  ///
  /// - Parameter isListed: Whether the server has divided the result, and not this program.
  private static func file(
    _ job: String, _ listed: Listed, isListed: Bool, _ idField: String, _ types: BulkTypes,
    in context: SyncContext
  ) async throws -> (file: Loaded, next: String?) {
    var request = RestRequest(
      path: BulkJob.path(.query, job, "results"), query: listed.items,
      headers: [.accept: "text/csv"])
    if isListed { request.maxResponseBytes = maxFileBytes }
    let response = try await context.response(to: request)
    guard response.isSuccess else { throw SyncContext.serverError(response, request) }
    var reader = CSVReader(response.body)
    guard let header = try? reader.nextTexts() else { throw noCSV(job) }
    var types = types
    let layout = try await BulkRowLayout(header, idField: idField, job, &types, in: context)
    let count = HTTPField.Name.numberOfRecords.flatMap { response.headers[$0] }.flatMap { Int($0) }
    let next = HTTPField.Name.locator.flatMap { response.headers[$0] }.flatMap {
      $0 == "null" || $0.isEmpty ? nil : $0
    }
    return (
      Loaded(
        file: File(
          locator: listed.locator, reader: reader, layout: layout, count: count,
          beginning: String(decoding: response.body.prefix(4_096), as: UTF8.self)),
        types: types),
      next
    )
  }
}

extension HTTPField.Name {
  fileprivate static let locator = HTTPField.Name("Sforce-Locator")
  fileprivate static let numberOfRecords = HTTPField.Name("Sforce-NumberOfRecords")
}

extension SyncError {
  /// Whether a response was longer than the request allows.
  fileprivate var isTooLarge: Bool {
    (cause as? RestError)?.code == .tooLarge || (cause as? TransportError)?.code == .tooLarge
  }
}
