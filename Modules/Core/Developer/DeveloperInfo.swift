public import SalesforceSDKCommon

/// A report for developers and bug reports: facts about the SDK, the app, its users and its data (CO-186, BX-102).
///
/// It has sections of rows in a fixed order. Each module adds its own; an app adds rows of its own with
/// ``append(section:_:)``. No value is a secret: tokens appear as formats and times.
///
/// JSON: `{"sections": [{"title": "Fieldforce", "rows": [{"name": "SDK Version", "value": "0.1.0"}]}]}`.
public struct DeveloperInfo: Sendable, Equatable {
  /// A name and its value.
  public struct Row: Sendable, Equatable {
    /// The name, such as `SDK Version`.
    public let name: String
    /// The value; empty if there is none.
    public let value: String

    /// Creates a row.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Rows with a title.
  public struct Section: Sendable, Equatable {
    /// The title, such as `Current User`.
    public let title: String
    /// The rows, in order.
    public let rows: [Row]

    /// Creates a section.
    public init(_ title: String, _ rows: [Row]) {
      self.title = title
      self.rows = rows
    }
  }

  /// The sections that have rows, in order.
  public private(set) var sections: [Section] = []

  /// Creates an empty report.
  public init() {}

  /// Adds a section at the end. A section without rows is left out.
  public mutating func append(_ section: Section) {
    if !section.rows.isEmpty { sections.append(section) }
  }

  /// Adds a section of names and values.
  public mutating func append(section title: String, _ rows: [(name: String, value: String)]) {
    append(Section(title, rows.map { Row($0.name, $0.value) }))
  }

  /// Adds a flat list of names and values in the platform's form, in which a name `section:TITLE` begins a section. A
  /// trailing name without a value is dropped; values before the first section belong to a section `App`.
  public mutating func append(flat list: [String]) {
    var title = "App"
    var rows: [Row] = []
    for index in stride(from: 0, to: list.count - 1, by: 2) {
      if let next = Self.title(in: list[index]) {
        append(Section(title, rows))
        (title, rows) = (next, [])
      } else {
        rows.append(Row(list[index], list[index + 1]))
      }
    }
    append(Section(title, rows))
  }

  private static let marker = "section:"

  private static func title(in name: String) -> String? {
    name.hasPrefix(marker) ? String(name.dropFirst(marker.count)) : nil
  }

  /// All rows; before the rows of a section, a row named `section:TITLE` without a value.
  public var rows: [Row] {
    sections.flatMap { [Row(Self.marker + $0.title, "")] + $0.rows }
  }

  /// The value of the first row with that name; nil if there is none.
  public subscript(name: String) -> String? {
    sections.lazy.flatMap(\.rows).first { $0.name == name }?.value
  }

  /// The report as text: titles, and indented rows `name: value`.
  public var text: String {
    sections.map { section in
      ([section.title] + section.rows.map { "  \($0.name): \($0.value)" }).joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  /// The JSON form.
  public var json: JSONObject {
    [
      "sections": .array(
        sections.map { section in
          [
            "title": .string(section.title),
            "rows": .array(
              section.rows.map { ["name": .string($0.name), "value": .string($0.value)] }),
          ]
        })
    ]
  }
}
