import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// Responds in place of a server, without a network, and keeps how long that took: what is measured
/// is the other side.
final class StoredResponses: SyncRequestSender {
  private static let pageSize = 2000

  private let records: Int
  private let gone: Int
  private let spending = Mutex((requests: 0, seconds: 0.0))

  /// - Parameters:
  ///   - records: The number of records that a query finds.
  ///   - gone: The number of the first records that no longer exist on the server.
  init(records: Int, gone: Int = 0) {
    self.records = records
    self.gone = gone
  }

  /// The requests so far and the seconds of their responses.
  var spent: (requests: Int, seconds: Double) { spending.withLock { $0 } }

  func response(to request: RestRequest) async throws -> RestResponse {
    let start = ContinuousClock.now
    let body = respond(to: request)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    spending.withLock { $0 = ($0.requests + 1, $0.seconds + seconds) }
    return RestResponse(status: 200, body: body)
  }

  private func respond(to request: RestRequest) -> [UInt8] {
    if request.path.hasSuffix("composite/sobjects") {
      return list(request) { "{\"id\":\"\($0)\",\"success\":true,\"errors\":[]}" }
    }
    if request.path.contains("composite/sobjects/") {
      return list(request) {
        "{\"Id\":\"\($0)\",\"LastModifiedDate\":\"2026-01-01T00:00:00.000+0000\"}"
      }
    }
    let query = request.query.first { $0.name == "q" }?.value ?? ""
    // A locator says which page follows; ids alone are requested when ghosts are searched.
    let locator = request.path.split(separator: "/").last.map(String.init) ?? ""
    let parts = locator.split(separator: "-")
    let start = parts.count > 1 ? Int(parts[parts.count - 1]) ?? gone : gone
    let wantsIds = query.lowercased().hasPrefix("select id from") || locator.contains("ids")
    return page(start..<min(start + Self.pageSize, max(start, records)), wantsIds)
  }

  private func page(_ range: Range<Int>, _ wantsIds: Bool) -> [UInt8] {
    guard wantsIds else { return SamplePage.body(range, total: records) }
    let isLast = range.upperBound >= records
    var body = "{\"totalSize\":\(records - gone),\"done\":\(isLast),"
    if !isLast {
      body += "\"nextRecordsUrl\":\"/services/data/v66.0/query/ids-\(range.upperBound)\","
    }
    let rows = range.map { "{\"Id\":\"\(SamplePage.id($0))\"}" }
    return Array((body + "\"records\":[\(rows.joined(separator: ","))]}").utf8)
  }

  /// A list with something for each record that a request names.
  private func list(_ request: RestRequest, _ item: (Substring) -> String) -> [UInt8] {
    let body = String(decoding: request.body ?? [], as: UTF8.self)
    let ids = body.split(separator: "\"").filter { $0.hasPrefix("0015e0000") }
    return Array("[\(ids.map(item).joined(separator: ","))]".utf8)
  }
}
