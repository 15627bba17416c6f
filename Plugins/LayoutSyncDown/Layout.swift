public import SalesforceSDKCommon

/// A page layout. Missing members read as false, nil, 0 or empty.
public struct Layout: Sendable, Equatable {
  /// The whole layout, including members without a property.
  public let rawData: JSONSlice

  /// Reads a layout.
  public init(rawData: JSONSlice) {
    self.rawData = rawData
  }

  /// The server's id of the layout.
  public var id: String? { rawData["id"]?.string }
  /// `Full` or `Compact`.
  public var layoutType: String? { rawData["layoutType"]?.string }
  /// `Create`, `Edit` or `View`.
  public var mode: String? { rawData["mode"]?.string }
  /// The sections, from top to bottom.
  public var sections: [Section] {
    rawData["sections"].map { $0.elements.map(Section.init(rawData:)) } ?? []
  }

  /// A part of a layout with a heading.
  public struct Section: Sendable, Equatable {
    /// The whole section.
    public let rawData: JSONSlice

    /// The server's id of the section.
    public var id: String? { rawData["id"]?.string }
    /// The heading.
    public var heading: String? { rawData["heading"]?.string }
    /// Whether the heading is shown.
    public var useHeading: Bool { rawData["useHeading"]?.bool ?? false }
    /// Whether users can collapse the section.
    public var collapsible: Bool { rawData["collapsible"]?.bool ?? false }
    /// The number of columns.
    public var columns: Int { rawData["columns"]?.int64.map(Int.init(clamping:)) ?? 0 }
    /// The number of rows.
    public var rows: Int { rawData["rows"]?.int64.map(Int.init(clamping:)) ?? 0 }
    /// The rows.
    public var layoutRows: [Row] {
      rawData["layoutRows"].map { $0.elements.map(Row.init(rawData:)) } ?? []
    }
  }

  /// A row of a section.
  public struct Row: Sendable, Equatable {
    /// The whole row.
    public let rawData: JSONSlice

    /// The items, from left to right.
    public var layoutItems: [Item] {
      rawData["layoutItems"].map { $0.elements.map(Item.init(rawData:)) } ?? []
    }
  }

  /// An item of a row, usually with one field.
  public struct Item: Sendable, Equatable {
    /// The whole item.
    public let rawData: JSONSlice

    /// The label.
    public var label: String? { rawData["label"]?.string }
    /// The object to look up.
    public var lookupIdApiName: String? { rawData["lookupIdApiName"]?.string }
    /// Whether the field can be set on a new record.
    public var editableForNew: Bool { rawData["editableForNew"]?.bool ?? false }
    /// Whether the field can be changed.
    public var editableForUpdate: Bool { rawData["editableForUpdate"]?.bool ?? false }
    /// Whether the field must be set.
    public var required: Bool { rawData["required"]?.bool ?? false }
    /// Whether lists can be sorted by the field.
    public var sortable: Bool { rawData["sortable"]?.bool ?? false }
    /// The components of the item, each as the server describes it.
    public var layoutComponents: [JSONSlice] {
      rawData["layoutComponents"].map { Array($0.elements) } ?? []
    }
  }
}
