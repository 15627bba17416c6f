import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// The types of an object's fields and of its parents' fields, by the server's descriptions.
struct BulkTypes: Sendable {
  /// The conversion of a text in a file to a JSON value.
  enum Kind: Sendable {
    case text, number, boolean, dateTime
  }

  /// A field that refers to a parent.
  private struct Parent {
    let name: String
    let objects: [String]
  }

  private struct Description {
    let name: String
    var kinds: [String: Kind] = [:]
    /// By the relationship's name in lower case.
    var parents: [String: Parent] = [:]
  }

  /// The object's name.
  let object: String
  /// By the object's name in lower case.
  private var descriptions: [String: Description] = [:]

  /// Gets the description of an object.
  ///
  /// - Throws: As `SyncContext.json(for:)`.
  init(of object: String, in context: SyncContext) async throws {
    self.object = object
    try await describe(object, in: context)
  }

  /// The field at a column's path, such as `Owner.Profile.Name`; objects on the path are described.
  ///
  /// - Returns: The field's kind, and the object of each parent on the way, nil where it can be one of several.
  mutating func kind(
    at path: [String], in context: SyncContext
  ) async throws -> (kind: Kind, parents: [String?]) {
    var object: String? = object
    var parents: [String?] = []
    for name in path.dropLast() {
      var next: String?
      if let current = object {
        try await describe(current, in: context)
        let parent = descriptions[current.lowercased()]?.parents[name.lowercased()]
        if let parent, parent.objects.count == 1 { next = parent.objects[0] }
      }
      parents.append(next)
      object = next
    }
    guard let object else { return (.text, parents) }
    try await describe(object, in: context)
    let kinds = descriptions[object.lowercased()]?.kinds
    return (kinds?[path.last?.lowercased() ?? ""] ?? .text, parents)
  }

  private mutating func describe(_ object: String, in context: SyncContext) async throws {
    if descriptions[object.lowercased()] != nil { return }
    let request = RestRequest.describe(object: object)
    let json = try await context.json(for: request)
    guard let fields = json["fields"], fields.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "the description of an object")
    }
    var description = Description(name: json["name"]?.string ?? object)
    for field in fields.elements {
      guard let name = field["name"]?.string else { continue }
      description.kinds[name.lowercased()] =
        switch field["type"]?.string {
        case "boolean": .boolean
        case "int", "double", "currency", "percent", "long": .number
        case "datetime": .dateTime
        default: .text
        }
      if let relationship = field["relationshipName"]?.string {
        description.parents[relationship.lowercased()] = Parent(
          name: relationship,
          objects: field["referenceTo"]?.elements.compactMap(\.string) ?? [])
      }
    }
    descriptions[object.lowercased()] = description
  }
}
