public import Foundation
public import SalesforceSDKCommon
import Synchronization

/// A line that a program published to the analytics service of the org.
public struct MockOrgAnalyticsLine: Sendable {
  /// The number of the line, from 1.
  public let number: Int
  /// When the org accepted it.
  public let date: Date
  /// The id of the user whose session published it.
  public let userID: String
  /// The service that the line is for, such as `ailtn`.
  public let code: String
  /// The schema of the event, such as `LightningInteraction`.
  public let schemaType: String
  /// The event without its schema.
  public let payload: JSONObject
}

/// The analytics lines that the org accepted, the newest 10,000.
final class AnalyticsLog: Sendable {
  private struct State {
    var lines: [MockOrgAnalyticsLine] = []
    var count = 0
  }

  static let capacity = 10_000
  private let state = Mutex(State())

  var lines: [MockOrgAnalyticsLine] { state.withLock { $0.lines } }

  func clear() { state.withLock { $0 = State() } }

  func add(
    _ lines: [(code: String, schemaType: String, payload: JSONObject)], by userID: String,
    at date: Date
  ) {
    state.withLock { state in
      for line in lines {
        state.count += 1
        state.lines.append(
          MockOrgAnalyticsLine(
            number: state.count, date: date, userID: userID, code: line.code,
            schemaType: line.schemaType, payload: line.payload))
      }
      if state.lines.count > Self.capacity {
        state.lines.removeFirst(state.lines.count - Self.capacity)
      }
    }
  }
}

extension MockOrg {
  /// The analytics lines that programs published, oldest first, the newest 10,000.
  public var analyticsLines: [MockOrgAnalyticsLine] { analytics.lines }

  /// Removes the analytics lines; their numbers begin again at 1.
  public func clearAnalyticsLines() { analytics.clear() }
}

extension RESTService {
  /// The most lines of one request.
  private static let maxAnalyticsLines = 1_000

  /// Accepts log lines: all of a request or none.
  func acceptAnalytics(_ request: OrgRequest) throws -> OrgResponse {
    try request.allow("POST")
    let body = try request.object()
    guard let list = body["logLines"], list.kind == .array else {
      throw ServerError("MISSING_ARGUMENT", "The property logLines is missing or no array.")
    }
    guard list.count <= Self.maxAnalyticsLines else {
      throw ServerError(
        "INVALID_INPUT", "A request has at most \(Self.maxAnalyticsLines) log lines.")
    }
    let lines = try list.elements.enumerated().map { index, line in
      guard let code = line["code"]?.string, let schema = line["data"]?["schemaType"]?.string,
        let payload = line["data"]?["payload"]?.string,
        let json = try? JSONSlice(parsing: payload).value.object
      else {
        throw ServerError(
          "INVALID_INPUT",
          "Log line \(index) needs a code and data with a schemaType and a payload that is a JSON object as text."
        )
      }
      return (code: code, schemaType: schema, payload: json)
    }
    org.analytics.add(lines, by: transaction.userID, at: org.options.clock.now)
    return .empty()
  }
}

extension ControlService {
  /// The lines after a number, at most 500 of them, the newest.
  func analytics(_ request: OrgRequest) -> OrgResponse {
    let after = Int(request[query: "after"] ?? "") ?? 0
    return .json { writer in
      writer.beginObject()
      writer.key("lines")
      writer.beginArray()
      for line in org.analyticsLines.filter({ $0.number > after }).suffix(500) {
        writer.beginObject()
        writer.key("number")
        writer.integer(line.number)
        for (key, value) in [
          ("date", DateText.dateTime(line.date)), ("userId", line.userID), ("code", line.code),
          ("schemaType", line.schemaType),
        ] {
          writer.key(key)
          writer.string(value)
        }
        writer.key("payload")
        writer.string(JSONValue.object(line.payload).text)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }
}
