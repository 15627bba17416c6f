import ArgumentParser
import SalesforceSDKCommon
import SmartStore

/// `fieldforce store query`: Smart SQL, or any query spec on one soup.
struct StoreQueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Run Smart SQL, or a query spec on one soup.",
    discussion: """
      Examples:
        fieldforce store query \\
          'SELECT {accounts:Name} FROM {accounts} WHERE {accounts:Id} = ?' \\
          --arg 001...
        fieldforce store query --soup accounts \\
          --spec '{"queryType":"like","indexPath":"Name","likeKey":"A%"}'
      """)

  @Argument(help: "The statement.") var smartSQL: String?
  @Option(help: "The soup of a query spec.") var soup: String?
  @Option(help: "A query spec in JSON.") var spec: String?
  @Option(
    name: .customLong("arg"),
    help: "The value of a ?: a number, true, false, null, or text; in quotes always text.")
  var arguments: [String] = []
  @Option(help: "Rows in a page. Default: 100, or what the spec says.") var pageSize: Int?
  @Option(help: "The page, from 0.") var page = 0
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let isComplete =
      smartSQL == nil ? soup != nil && spec != nil : soup == nil && spec == nil
    guard isComplete else {
      throw ValidationError("Give a statement, or --soup and --spec.")
    }
  }

  func run() async throws {
    let query = try querySpec()
    let values: [JSONValue]? = arguments.isEmpty ? nil : arguments.map(Self.value)
    try await store.withStoreToRead { store in
      // Both from one snapshot.
      let (rows, total) = try await store.read { [page] reader in
        let rows = try reader.query(
          using: query, startingFromPageIndex: page, whereArgs: values)
        // A page that is not full is the last: its end is known without counting, which may take as long
        // as the query.
        let isLast = !rows.isEmpty && rows.count < query.pageSize
        return (
          rows,
          isLast
            ? Int64(page) * Int64(query.pageSize) + Int64(rows.count)
            : try reader.count(using: query, whereArgs: values)
        )
      }
      output.print(
        [
          "rows": .array(rows), "total": .integer(total), "page": .integer(Int64(page)),
          "pageSize": .integer(Int64(query.pageSize)),
        ], empty: Terminal.output.isTerminal ? "no rows" : nil
      ) { table(of: rows) }
      if !output.json, let note = cutNote(rows: rows.count, total: total, pageSize: query.pageSize)
      {
        Console.say(note)
      }
    }
  }

  /// The rows of a statement by column; whole entries as their JSON.
  private func table(of rows: [JSONValue]) -> Table {
    let cells = rows.map { row in
      row.array.map { $0.map { $0.string ?? $0.text } } ?? [row.text]
    }
    let width = cells.map(\.count).max() ?? 0
    return Table(SelectList.names(of: smartSQL, spec: spec, count: width), cells)
  }

  /// The note about rows on other pages; nil if there are none.
  private func cutNote(rows: Int, total: Int64, pageSize: Int) -> String? {
    guard Int64(rows) < total else { return nil }
    let shown = rows == 0 ? "no row" : "rows \(page * pageSize + 1) to \(page * pageSize + rows)"
    return "Showed \(shown) of \(total). --page and --page-size show others."
  }

  /// The value of an argument: a number only if it is valid JSON, so `007` is text.
  static func value(_ argument: String) -> JSONValue {
    // A JSON parser would ignore blanks around a value.
    guard let slice = try? JSONSlice(parsing: argument), slice.utf8.count == argument.utf8.count,
      slice.kind != .array, slice.kind != .object
    else { return .string(argument) }
    return slice.value
  }

  private func querySpec() throws -> QuerySpec {
    if let smartSQL {
      return try .buildSmartQuerySpec(smartSql: smartSQL, pageSize: pageSize ?? 100)
    }
    return try QuerySpec(text: spec ?? "", soupName: soup, pageSize: pageSize)
  }
}

extension QuerySpec {
  /// Reads a spec from JSON text; `pageSize` overrides the one in the text.
  init(text: String, soupName: String?, pageSize: Int? = nil) throws {
    var json: JSONValue
    do {
      json = try JSONSlice(parsing: text).value
    } catch {
      throw CommandFailure(.invalidQuerySpec, "Invalid query spec: \(error.message)")
    }
    if let pageSize { json["pageSize"] = .integer(Int64(pageSize)) }
    try self.init(json: json, soupName: soupName)
  }
}
