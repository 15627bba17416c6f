import SalesforceSDKCommon
import SmartStore

// The Smart SQL console.
extension InspectorResources {
  /// A request of the console.
  private struct Query: Sendable {
    let smartSQL: String
    let args: [JSONValue]
    let pageSize: Int
    let page: Int
    let explains: Bool
    let counts: Bool

    init(_ body: JSONObject, _ limits: InspectorLimits) throws(InspectorFailure) {
      guard let text = body["smartSQL"]?.string, text.contains(where: { !$0.isWhitespace }) else {
        throw InspectorFailure("invalidRequest", "No query specified")
      }
      smartSQL = text
      guard let args = (body["args"] ?? []).array else {
        throw InspectorFailure("invalidRequest", "'args' is an array of values.")
      }
      self.args = args
      pageSize = try Self.number(body, "pageSize", in: 1...Int64(limits.pageEntries), 100)
      page = try Self.number(body, "page", in: 0...Int64(Int32.max), 0)
      explains = try Self.flag(body, "plan")
      counts = try Self.flag(body, "count")
    }

    private static func number(
      _ body: JSONObject, _ name: String, in range: ClosedRange<Int64>, _ usual: Int
    ) throws(InspectorFailure) -> Int {
      guard let value = body[name] else { return usual }
      guard let number = value.int64, range.contains(number) else {
        throw InspectorFailure(
          "invalidRequest",
          "'\(name)' is a number from \(range.lowerBound) to \(range.upperBound).")
      }
      return Int(number)
    }

    private static func flag(_ body: JSONObject, _ name: String) throws(InspectorFailure) -> Bool {
      guard let value = body[name] else { return false }
      guard let flag = value.bool else {
        throw InspectorFailure("invalidRequest", "'\(name)' is true or false.")
      }
      return flag
    }
  }

  func query(_ id: String, _ call: InspectorCall) async throws -> InspectorReply {
    let query = try Query(try await call.body(), limits)
    let store = try await stores.open(id).store
    let start = ContinuousClock.now
    let result = try await withTimeLimit(limits.queryTime) { [limits] in
      let spec = try QuerySpec.buildSmartQuerySpec(
        smartSql: query.smartSQL, pageSize: query.pageSize)
      return try await store.read { reader in
        try reader.console(
          spec, pageIndex: query.page, whereArgs: query.args, explains: query.explains,
          counts: query.counts, maxCharacters: limits.textCharacters, maxBytes: limits.resultBytes)
      }
    }
    let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
    var cuts = Cuts()
    let rows = result.rows.enumerated().map { position, cells in
      JSONValue.array(
        cells.enumerated().map { column, cell in
          switch cell {
          case .null: return .null
          case .integer(let integer): return .integer(integer)
          case .double(let double): return .double(double)
          case .text(let text, let characters):
            if characters > limits.textCharacters {
              cuts.add("/rows/\(position)/\(column)", characters)
            }
            return .string(text)
          }
        })
    }
    return .json([
      "columns": .array(result.columns.map { $0.map { .string($0) } ?? .null }),
      "rows": .array(rows), "page": .integer(Int64(query.page)),
      "pageSize": .integer(Int64(query.pageSize)),
      "total": result.total.map { .integer($0) } ?? .null,
      "elapsedMilliseconds": .double((elapsed * 1000).rounded() / 1000),
      "plan": result.plan?.json ?? .null, "cut": cuts.document,
    ])
  }
}
