import SalesforceSDKCommon

/// The size of the screen that a layout is for.
public struct LayoutFormFactor: Sendable, Hashable {
  /// The word that is sent.
  public let rawValue: String
  /// A desktop.
  public static let large = LayoutFormFactor(rawValue: "Large")
  /// A tablet.
  public static let medium = LayoutFormFactor(rawValue: "Medium")
  /// A phone.
  public static let small = LayoutFormFactor(rawValue: "Small")
}

/// The extent of a layout.
public struct LayoutType: Sendable, Hashable {
  /// The word that is sent.
  public let rawValue: String
  /// The main fields.
  public static let compact = LayoutType(rawValue: "Compact")
  /// All fields.
  public static let full = LayoutType(rawValue: "Full")
}

/// The use of a layout: viewing, editing or creating a record.
public struct LayoutMode: Sendable, Hashable {
  /// The word that is sent.
  public let rawValue: String
  /// Creating a record.
  public static let create = LayoutMode(rawValue: "Create")
  /// Editing a record.
  public static let edit = LayoutMode(rawValue: "Edit")
  /// Viewing a record.
  public static let view = LayoutMode(rawValue: "View")
}

// The factories of CO-131 for layouts and search settings.
extension RestRequest {
  /// The layout of an object's records. The server chooses values for parameters that are `nil` or empty.
  public static func objectLayout(
    object: String, formFactor: LayoutFormFactor? = nil, layoutType: LayoutType? = nil,
    mode: LayoutMode? = nil, recordTypeId: String? = nil, apiVersion: String? = nil
  ) -> RestRequest {
    let parts = [
      ("formFactor", formFactor?.rawValue), ("layoutType", layoutType?.rawValue),
      ("mode", mode?.rawValue), ("recordTypeId", recordTypeId),
    ]
    return RestRequest(
      path: "\(root(apiVersion))/ui-api/layout/\(PercentEncoding.encode(object))",
      query: parts.compactMap { name, value in
        value.flatMap { $0.isEmpty ? nil : RestQueryItem(name, $0) }
      })
  }

  /// An object's page layouts in their older description.
  ///
  /// - Parameter recordTypeId: Default: all of them.
  public static func describeLayout(
    object: String, recordTypeId: String? = nil, apiVersion: String? = nil
  ) -> RestRequest {
    let type = PercentEncoding.encode(recordTypeId ?? "")
    return RestRequest(path: "\(sobject(object, apiVersion))/describe/layouts/\(type)")
  }

  /// The objects that the user searches by default, in order.
  public static func searchScopeAndOrder(apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: "\(root(apiVersion))/search/scopeOrder")
  }

  /// The layouts of search results of objects.
  public static func searchResultLayout(
    objects: [String], apiVersion: String? = nil
  ) -> RestRequest {
    RestRequest(
      path: "\(root(apiVersion))/search/layout",
      query: [RestQueryItem("q", objects.joined(separator: ","))])
  }
}
