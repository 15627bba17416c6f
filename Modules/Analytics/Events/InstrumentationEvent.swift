public import SalesforceSDKCommon

/// An event in the platform's form, as it is stored and published (CA-35).
///
/// ``AnalyticsManager/event(_:)`` makes one. Two events are equal if their ids are.
public struct InstrumentationEvent: Sendable {
  /// The event's id, a UUID.
  public let eventId: String
  /// The event's name.
  public let name: String
  /// The start time, in milliseconds since 1970.
  public let startTime: Int64
  /// The end time, in milliseconds since 1970; 0 if it has no duration.
  public let endTime: Int64
  /// The start time of the session, in milliseconds since 1970.
  public let sessionStartTime: Int64
  /// The number of the event in its manager, from 1.
  public let sequenceId: Int64
  /// The schema.
  public let schemaType: SchemaType
  /// The origin.
  public let eventType: EventType?
  /// The severity of an error event.
  public let errorType: ErrorType?
  /// Details.
  public let attributes: JSONObject?
  /// The app's session.
  public let sessionId: String?
  /// The element that the event is about.
  public let senderId: String?
  /// More about that element.
  public let senderContext: JSONObject?
  /// The element around it.
  public let senderParentId: String?
  /// Attributes of the app and the device.
  public let deviceAppAttributes: DeviceAppAttributes?
  /// The network: `WiFi`, `Mobile`, `None` or `Unknown`.
  public let connectionType: String?
  /// The page on which it happened.
  public let page: JSONObject?
  /// The page before that.
  public let previousPage: JSONObject?
  /// Times within the event.
  public let marks: JSONObject?

  init(
    _ builder: InstrumentationEventBuilder, _ stamp: EventStamp, name: String,
    schemaType: SchemaType
  ) {
    eventId = stamp.eventId
    self.name = name
    startTime = builder.startTime == 0 ? stamp.now : builder.startTime
    endTime = builder.endTime
    sessionStartTime = builder.sessionStartTime == 0 ? stamp.now : builder.sessionStartTime
    sequenceId = stamp.sequenceId
    self.schemaType = schemaType
    eventType = builder.eventType
    errorType = builder.errorType
    attributes = builder.attributes
    sessionId = builder.sessionId
    senderId = builder.senderId
    senderContext = builder.senderContext
    senderParentId = builder.senderParentId
    deviceAppAttributes = stamp.deviceAppAttributes
    connectionType = stamp.connectionType
    page = builder.page
    previousPage = builder.previousPage
    marks = builder.marks
  }

  /// Reads the JSON form; nil without an id, a name or a schema.
  public init?(json: JSONObject) {
    guard let eventId = json["eventId"]?.string, let name = json["name"]?.string,
      let schema = json["schemaType"]?.string
    else { return nil }
    self.eventId = eventId
    self.name = name
    schemaType = SchemaType(text: schema)
    startTime = json["startTime"]?.int64 ?? 0
    endTime = json["endTime"]?.int64 ?? 0
    sessionStartTime = json["sessionStartTime"]?.int64 ?? 0
    sequenceId = json["sequenceId"]?.int64 ?? 0
    eventType = json["eventType"]?.string.map(EventType.init(text:))
    errorType = json["errorType"]?.string.map(ErrorType.init(text:))
    attributes = json["attributes"]?.object
    sessionId = json["sessionId"]?.string
    senderId = json["senderId"]?.string
    senderContext = json["senderContext"]?.object
    senderParentId = json["senderParentId"]?.string
    deviceAppAttributes = json["deviceAppAttributes"]?.object.map(DeviceAppAttributes.init(json:))
    connectionType = json["connectionType"]?.string
    page = json["page"]?.object
    previousPage = json["previousPage"]?.object
    marks = json["marks"]?.object
  }

  /// The JSON form. Members without a value are omitted.
  public var json: JSONObject {
    var json: JSONObject = [
      "eventId": .string(eventId), "startTime": .integer(startTime), "endTime": .integer(endTime),
      "name": .string(name),
    ]
    json["attributes"] = attributes.map { .object($0) }
    json["sessionId"] = sessionId.map { .string($0) }
    json["sequenceId"] = .integer(sequenceId)
    json["senderId"] = senderId.map { .string($0) }
    json["senderContext"] = senderContext.map { .object($0) }
    json["schemaType"] = .string(schemaType.rawValue)
    json["eventType"] = eventType.map { .string($0.rawValue) }
    json["errorType"] = errorType.map { .string($0.rawValue) }
    json["deviceAppAttributes"] = deviceAppAttributes.map { .object($0.json) }
    json["connectionType"] = connectionType.map { .string($0) }
    json["senderParentId"] = senderParentId.map { .string($0) }
    json["sessionStartTime"] = .integer(sessionStartTime)
    json["page"] = page.map { .object($0) }
    json["previousPage"] = previousPage.map { .object($0) }
    json["marks"] = marks.map { .object($0) }
    return json
  }
}

extension InstrumentationEvent: Hashable {
  public static func == (left: Self, right: Self) -> Bool { left.eventId == right.eventId }

  public func hash(into hasher: inout Hasher) { hasher.combine(eventId) }
}

/// The values that a manager adds to an event.
struct EventStamp {
  let eventId: String
  let sequenceId: Int64
  let now: Int64
  let connectionType: String
  let deviceAppAttributes: DeviceAppAttributes
}
