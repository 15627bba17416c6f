public import SalesforceSDKCommon

/// An action for developers, such as "Logout" or "Fill with test data" (CO-185).
///
/// The inspector shows actions as buttons; any other menu can list and run them. Modules and apps append their own.
public struct DeveloperAction: Sendable {
  /// A value that the action needs.
  public struct Field: Sendable, Equatable {
    /// The kind of a control, with what it shows at first.
    public enum Kind: Sendable, Equatable {
      case text(String)
      case flag(Bool)
      /// One of the choices; each has a value and the text that is shown.
      case choice(selected: String, [Choice])
    }

    /// A value to choose.
    public struct Choice: Sendable, Equatable {
      public let value: String
      public let text: String

      /// Creates a choice.
      public init(value: String, text: String) {
        self.value = value
        self.text = text
      }
    }

    /// The name of the value in the action's values.
    public let name: String
    /// The text at the control.
    public let label: String
    public let kind: Kind

    /// Creates a field.
    public init(_ name: String, label: String, _ kind: Kind) {
      self.name = name
      self.label = label
      self.kind = kind
    }
  }

  /// The name on the button, unique in the app.
  public let name: String
  /// Whether it changes data, so that a read-only surface refuses it.
  public let writes: Bool
  /// The reason why the action is not possible now; nil if it is possible.
  public let unavailable: String?
  /// A question to ask first; nil for none.
  public let confirmation: String?
  /// The values to request first.
  public let fields: [Field]
  private let body: @Sendable (JSONObject) async throws -> String

  /// Creates an action.
  ///
  /// - Parameters:
  ///   - writes: Default: true.
  ///   - unavailable: Default: nil, the action is possible.
  ///   - confirmation: Default: none.
  ///   - fields: Default: none.
  ///   - body: Runs the action with the values of the fields: texts, or Booleans for flags. It returns a sentence to show.
  public init(
    name: String, writes: Bool = true, unavailable: String? = nil, confirmation: String? = nil,
    fields: [Field] = [], body: @escaping @Sendable (JSONObject) async throws -> String
  ) {
    self.name = name
    self.writes = writes
    self.unavailable = unavailable
    self.confirmation = confirmation
    self.fields = fields
    self.body = body
  }

  /// Runs the action.
  ///
  /// - Parameter values: The values of the fields; a missing one has the value that its field shows at first.
  /// - Returns: A sentence to show.
  /// - Throws: The errors of the action.
  public func run(_ values: JSONObject = [:]) async throws -> String {
    var complete = values
    for field in fields where complete[field.name] == nil {
      switch field.kind {
      case .text(let text): complete[field.name] = .string(text)
      case .flag(let flag): complete[field.name] = .bool(flag)
      case .choice(let selected, _): complete[field.name] = .string(selected)
      }
    }
    return try await body(complete)
  }
}
