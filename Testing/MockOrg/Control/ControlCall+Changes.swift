import Foundation
import SalesforceSDKCommon

/// What a test tells the org to do.
extension ControlCall {
  func clearLog() -> OrgResponse {
    org.clearRequestLog()
    return .empty()
  }

  func clearAnalytics() -> OrgResponse {
    org.clearAnalyticsLines()
    return .empty()
  }

  func addFaults() throws -> OrgResponse {
    let json = try request.json()
    let list = json.kind == .array ? json : try JSONSlice(parsing: "[\(json.description)]")
    try org.add(faults: list, from: "the request")
    return faults(status: 201)
  }

  func removeFaults() -> OrgResponse {
    org.removeAllFaults()
    return .empty()
  }

  func removeFault() throws(ServerError) -> OrgResponse {
    guard let number = Int(values["number"]), org.script.remove(number) else { throw .notFound() }
    return .empty()
  }

  func endSessions() -> OrgResponse {
    if request[query: "refreshTokens"] == "true" {
      org.revokeAllTokens()
    } else {
      org.expireAccessTokens()
    }
    return .empty()
  }

  /// `{"freezeAt": "2026-05-01T12:00:00Z"}`, `{"advanceSeconds": 60}` or `{"run": true}`.
  func setClock() throws -> OrgResponse {
    let body = try request.object()
    let clock = org.options.clock
    if let text = body["freezeAt"]?.string {
      guard let seconds = DateText.secondsSince1970(text) else {
        throw ServerError("INVALID_INPUT", "freezeAt is no date and time: \(text)")
      }
      try checkIsKnown(Double(seconds))
      clock.freeze(at: Date(timeIntervalSince1970: Double(seconds)))
    } else if let seconds = body["advanceSeconds"]?.double {
      try checkIsKnown(clock.now.timeIntervalSince1970 + seconds)
      clock.advance(by: .milliseconds(Int(seconds * 1000)))
    } else if body["run"]?.bool == true {
      clock.run()
    } else {
      throw ServerError("INVALID_INPUT", "Give freezeAt, advanceSeconds or run.")
    }
    return .json(["now": .string(DateText.dateTime(clock.now))])
  }

  /// Refuses a time that the org's clock cannot show.
  private func checkIsKnown(_ secondsSince1970: Double) throws(ServerError) {
    guard
      secondsSince1970 >= MockOrgClock.earliest.timeIntervalSince1970,
      secondsSince1970 <= MockOrgClock.latest.timeIntervalSince1970
    else {
      throw ServerError(
        "INVALID_INPUT",
        "The org's clock shows times from \(DateText.dateTime(MockOrgClock.earliest)) to "
          + "\(DateText.dateTime(MockOrgClock.latest)).")
    }
  }

  /// Most rules of a briefcase.
  private static let maxItems = 1000
  /// Each holds a copy of the org's records.
  private static let maxSnapshots = 100

  func setBriefcase() throws -> OrgResponse {
    let json = try request.json()
    guard json.kind == .array else {
      throw ServerError("INVALID_INPUT", "The briefcase is an array of rules.")
    }
    guard json.count <= Self.maxItems else {
      throw ServerError("INVALID_INPUT", "The briefcase has at most \(Self.maxItems) rules.")
    }
    org.briefcase = try json.elements.map { rule in
      guard let object = rule["object"]?.string else {
        throw ServerError("INVALID_INPUT", "A rule of the briefcase has no object.")
      }
      return MockOrgBriefcaseRule(
        object: object, condition: rule["condition"]?.string,
        limit: min(max(0, Int(clamping: rule["limit"]?.int64 ?? 500)), 50_000))
    }
    return .empty()
  }

  func keepSnapshot() async throws -> OrgResponse {
    let name = values["name"]
    let names = org.control.snapshotNames
    guard name.utf8.count <= 200, names.contains(name) || names.count < Self.maxSnapshots else {
      throw ServerError(
        "INVALID_INPUT",
        "There are at most \(Self.maxSnapshots) snapshots, with names of at most 200 bytes.")
    }
    org.control.keep(try await org.snapshot(), as: name)
    return .empty()
  }

  func restoreSnapshot() async throws -> OrgResponse {
    guard let snapshot = org.control.snapshot(values["name"]) else { throw ServerError.notFound() }
    try await org.restore(snapshot)
    return .empty()
  }

  func reset() async throws -> OrgResponse {
    try await org.reset()
    return .empty()
  }

  func addNotification() throws -> OrgResponse {
    let body = try request.object()
    guard let title = body["title"]?.string, let text = body["body"]?.string else {
      throw ServerError("INVALID_INPUT", "A notification has a title and a body.")
    }
    let actions = body["actions"]?.elements.compactMap { action in
      action["key"]?.string.map {
        MockOrgNotification.Action(key: $0, label: action["label"]?.string ?? $0)
      }
    }
    let id = org.notify(
      MockOrgNotification(
        title: title, body: text, type: body["type"]?.string ?? "CustomNotification",
        target: body["target"]?.string ?? "", actions: actions ?? []),
      userID: body["userId"]?.string)
    return .json(["id": .string(id)], status: 201)
  }
}
