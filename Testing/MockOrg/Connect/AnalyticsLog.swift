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

extension ControlCall {
  /// The lines after a number, at most 500 of them, the newest.
  func analytics() -> OrgResponse {
    let after = Int(request[query: "after"] ?? "") ?? 0
    let lines = org.analyticsLines.filter { $0.number > after }.suffix(500)
    return .json([
      "lines": .array(lines) { line in
        [
          "number": .integer(line.number), "date": .string(DateText.dateTime(line.date)),
          "userId": .string(line.userID), "code": .string(line.code),
          "schemaType": .string(line.schemaType),
          "payload": .string(JSONValue.object(line.payload).text),
        ]
      }
    ])
  }
}
