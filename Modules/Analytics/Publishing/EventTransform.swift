public import SalesforceSDKCommon

/// The form of events that a service accepts.
public protocol EventTransform: Sendable {
  /// The event in the service's form; nil if the service does not get this event.
  func transform(_ event: InstrumentationEvent) -> JSONObject?
}

/// A service that accepts events.
public protocol EventPublisher: Sendable {
  /// Sends events in the form of the transform that this publisher was added with.
  ///
  /// - Parameter events: At most ``AnalyticsManager/batchSize``, at least one.
  /// - Returns: Whether the service accepted all of them.
  func publish(_ events: [JSONObject]) async -> Bool
}

/// The form of the platform's AILTN service, version 0.2 (CA-41).
public struct AILTNTransform: EventTransform {
  /// Creates the transform.
  public init() {}

  public func transform(_ event: InstrumentationEvent) -> JSONObject? {
    let schema = event.schemaType
    var json: JSONObject = [
      "version": "0.2", "schemaType": .string(schema.rawValue), "id": .string(event.eventId),
      "eventSource": .string(event.name), "ts": .integer(event.startTime),
      "pageStartTime": .integer(event.sessionStartTime),
    ]
    let length = event.endTime - event.startTime
    if length > 0, let key = Self.lengthKey(schema) { json[key] = .integer(length) }
    json["clientSessionId"] = event.sessionId.map { .string($0) }
    if schema != .performance { json["sequence"] = .integer(event.sequenceId) }
    json["attributes"] = event.attributes.map { .object($0) }
    if schema != .performance { json["page"] = event.page.map { .object($0) } }
    if schema == .pageView { json["previousPage"] = event.previousPage.map { .object($0) } }
    if schema == .pageView || schema == .performance {
      json["marks"] = event.marks.map { .object($0) }
    }
    json["locator"] = locator(of: event)
    switch schema {
    case .performance: json["eventType"] = "defs"
    case .interaction: json["eventType"] = event.eventType.map { .string($0.rawValue) }
    case .pageView, .error: break
    }
    if schema == .error { json["errorType"] = event.errorType.map { .string($0.rawValue) } }
    var device = event.deviceAppAttributes?.json ?? JSONObject()
    device["connectionType"] = event.connectionType.map { .string($0) }
    json["deviceAttributes"] = .object(device)
    return json
  }

  /// The member that says how long an event of the schema took.
  private static func lengthKey(_ schema: SchemaType) -> String? {
    switch schema {
    case .interaction, .performance: "duration"
    case .pageView: "ept"
    case .error: nil
    }
  }

  private func locator(of event: InstrumentationEvent) -> JSONValue? {
    guard event.schemaType == .interaction || event.schemaType == .pageView,
      let target = event.senderId, let scope = event.senderParentId
    else { return nil }
    var locator: JSONObject = ["target": .string(target), "scope": .string(scope)]
    locator["context"] = event.senderContext.map { .object($0) }
    return .object(locator)
  }
}
