import Foundation
import SalesforceSDKCommon

/// What the plans say about their objects: which fields have values, which records others refer to.
struct DemoPlan {
  /// The objects in the order of the plans.
  private(set) var objects: [String] = []
  /// The fields with values, by object.
  private(set) var fields: [String: Set<String>] = [:]
  /// The objects that some record refers to.
  private(set) var isReferredTo: Set<String> = []
  /// Texts of records, long enough to be looked for in files.
  private(set) var texts: Set<String> = []

  /// Reads plans and the tree files that they name, or tree files themselves.
  init(_ plans: [URL]) throws {
    var objectOfReference: [String: String] = [:]
    var references: Set<String> = []
    for plan in plans {
      let json = try JSONSlice(parsing: try InputFile.read(plan))
      guard json.kind == .array else {
        collect(json, &objectOfReference, &references)
        continue
      }
      for step in json.elements {
        for file in step["files"].items {
          guard let name = file.string else { continue }
          let url = plan.deletingLastPathComponent().appending(path: name)
          collect(
            try JSONSlice(parsing: try InputFile.read(url)), &objectOfReference,
            &references)
        }
      }
    }
    isReferredTo = Set(references.compactMap { objectOfReference[$0] })
  }

  private mutating func collect(
    _ tree: JSONSlice, _ objectOfReference: inout [String: String], _ references: inout Set<String>
  ) {
    for record in tree["records"].items {
      guard let object = record["attributes"]?["type"]?.string else { continue }
      if fields[object] == nil { objects.append(object) }
      if let reference = record["attributes"]?["referenceId"]?.string {
        objectOfReference[reference] = object
      }
      for member in record.members where member.key != "attributes" {
        if member.value.kind == .object {
          collect(member.value, &objectOfReference, &references)
          continue
        }
        fields[object, default: []].insert(member.key)
        guard let text = member.value.string else { continue }
        if text.hasPrefix("@") {
          references.insert(String(text.dropFirst()))
        } else if text.utf8.count >= 8 {
          texts.insert(text)
        }
      }
    }
  }
}
