public import SalesforceSDKCommon

/// The parts of an event that its author sets (CA-37).
public struct InstrumentationEventBuilder: Sendable {
  /// The event's name. Required.
  public var name: String?
  /// The schema. Required.
  public var schemaType: SchemaType?
  /// The origin. Required for interactions and performance.
  public var eventType: EventType?
  /// The severity of an error event.
  public var errorType: ErrorType?
  /// The start time, in milliseconds since 1970. Default: 0, for the time at which the event is
  /// built.
  public var startTime: Int64 = 0
  /// The end time, in milliseconds since 1970. Default: 0, for an event without a duration.
  public var endTime: Int64 = 0
  /// The start time of the session, in milliseconds since 1970. Default: 0, for the time at which
  /// the event is built.
  public var sessionStartTime: Int64 = 0
  /// Details.
  public var attributes: JSONObject?
  /// The app's session.
  public var sessionId: String?
  /// The element that the event is about.
  public var senderId: String?
  /// More about that element.
  public var senderContext: JSONObject?
  /// The element around it.
  public var senderParentId: String?
  /// The page on which it happened. Required, except for performance.
  public var page: JSONObject?
  /// The page before that.
  public var previousPage: JSONObject?
  /// Times within the event.
  public var marks: JSONObject?

  /// Begins without any part.
  public init() {}

  /// Checks the parts. Of several that are wrong the last check names the reason.
  func checked(
    _ device: DeviceAppAttributes?
  ) throws(EventBuilderError) -> (
    name: String, schemaType: SchemaType, device: DeviceAppAttributes
  ) {
    var failure: EventBuilderError?
    func require(_ isMet: Bool, _ code: EventBuilderError.Code, _ message: String) {
      if !isMet { failure = EventBuilderError(code, message) }
    }
    let name = name?.trimmed ?? ""
    require(!name.isEmpty, .missingName, "Cannot build an event: it has no name. Set name.")
    require(
      device != nil, .missingDeviceAttributes,
      "Cannot build event '\(name)': its manager has no device attributes. Make the manager with them."
    )
    require(
      schemaType != nil, .missingSchemaType,
      "Cannot build event '\(name)': it has no schema. Set schemaType.")
    require(
      eventType != nil || (schemaType != .interaction && schemaType != .performance),
      .missingEventType,
      "Cannot build event '\(name)': interactions and performance need an origin. Set eventType.")
    require(
      page != nil || schemaType == .performance, .missingPage,
      "Cannot build event '\(name)': it has no page. Set page.")
    for (part, json) in [
      ("attributes", attributes), ("page", page), ("previousPage", previousPage), ("marks", marks),
      ("senderContext", senderContext),
    ] {
      if let json, (try? JSONValue.object(json).serialized()) == nil {
        require(
          false, .invalidJSON,
          "Cannot build event '\(name)': \(part) cannot be written as JSON. Remove numbers that are not finite and levels beyond the limit."
        )
      }
    }
    if let failure { throw failure }
    guard let schemaType, let device else { preconditionFailure("both were checked") }
    return (name, schemaType, device)
  }
}

/// An event that could not be built.
public struct EventBuilderError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case missingName, missingDeviceAttributes, missingSchemaType, missingEventType, missingPage
      case invalidJSON
    }
    private let kind: Kind
    /// The event has no name.
    public static let missingName = Code(kind: .missingName)
    /// The manager has no device attributes.
    public static let missingDeviceAttributes = Code(kind: .missingDeviceAttributes)
    /// The event has no schema.
    public static let missingSchemaType = Code(kind: .missingSchemaType)
    /// An interaction or performance event has no origin.
    public static let missingEventType = Code(kind: .missingEventType)
    /// The event has no page.
    public static let missingPage = Code(kind: .missingPage)
    /// A part cannot be written as JSON.
    public static let invalidJSON = Code(kind: .invalidJSON)

    /// The name of the code, such as `missingName`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The missing part, the event and the remedy.
  public let message: String
  /// The line that noticed the failure.
  public let location: SourceLocation

  init(_ code: Code, _ message: String, fileID: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    location = SourceLocation(fileID: fileID, line: line)
  }
}
