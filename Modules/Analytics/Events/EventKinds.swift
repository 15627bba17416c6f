/// The schema of an event (CA-35).
public enum SchemaType: String, Sendable, Hashable, CaseIterable {
  /// Something that the user or the SDK did.
  case interaction = "LightningInteraction"
  /// A page that was shown.
  case pageView = "LightningPageView"
  /// The duration of an operation.
  case performance = "LightningPerformance"
  /// Something that failed.
  case error = "LightningError"

  /// Reads the platform's text; one that is unknown means ``error``.
  public init(text: String) { self = Self(rawValue: text) ?? .error }
}

/// The origin of an interaction (CA-35).
public enum EventType: String, Sendable, Hashable, CaseIterable {
  /// The user.
  case user
  /// The program.
  case system
  /// A failure.
  case error
  /// A change of a record.
  case crud

  /// Parses the platform's text; an unknown text becomes ``error``.
  public init(text: String) { self = Self(rawValue: text) ?? .error }
}

/// The severity of an error event (CA-35).
public enum ErrorType: String, Sendable, Hashable, CaseIterable {
  /// For information.
  case info
  /// A warning.
  case warning = "warn"
  /// An error.
  case error

  /// Reads the platform's text; one that is unknown means ``error``.
  public init(text: String) { self = Self(rawValue: text) ?? .error }
}
