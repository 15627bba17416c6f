import Foundation
import SalesforceSDKCommon

/// The objects of the plans, with the fields that have values and the records that others refer to.
struct DemoPlan {
  /// The objects in the order of the plans.
  private(set) var objects: [String] = []
  /// The fields with values, by object.
  private(set) var fields: [String: Set<String>] = [:]
  /// The objects that some record refers to.
  private(set) var isReferredTo: Set<String> = []
  /// Texts of records, long enough to search files for them.
  private(set) var texts: Set<String> = []

  /// The first spelling of an object's name, since later ones may differ in case.
  private var names: [String: String] = [:]

  /// Reads plans and the tree files that they name, or tree files themselves.
  ///
  /// - Throws: ``CommandFailure`` naming the file that cannot be read, or `noRecords`.
  init(_ plans: [URL]) throws {
    var objectOfReference: [String: String] = [:]
    var references: Set<String> = []
    for plan in plans {
      let json = try InputFile.json(plan)
      guard json.kind == .array else {
        collect(json, nil, &objectOfReference, &references)
        continue
      }
      for step in json.elements {
        for file in step["files"].items {
          guard let name = file.string ?? file["file"]?.string else { continue }
          let url = plan.deletingLastPathComponent().appending(path: name)
          collect(
            try InputFile.json(url), step["sobject"]?.string, &objectOfReference, &references)
        }
      }
    }
    isReferredTo = Set(references.compactMap { objectOfReference[$0] })
  }

  /// Adds the records of a tree file, or of a parent in it.
  ///
  /// - Parameter step: The object of records that do not name their type.
  private mutating func collect(
    _ tree: JSONSlice, _ step: String?, _ objectOfReference: inout [String: String],
    _ references: inout Set<String>
  ) {
    let records = tree.kind == .array ? tree : tree["records"]
    for record in records.items {
      guard let type = record["attributes"]?["type"]?.string ?? step else { continue }
      let object = names[type.lowercased(), default: type]
      names[type.lowercased()] = object
      if fields[object] == nil {
        objects.append(object)
        fields[object] = []
      }
      if let reference = record["attributes"]?["referenceId"]?.string {
        objectOfReference[reference] = object
      }
      for member in record.members where !["attributes", "id"].contains(member.key.lowercased()) {
        if member.value.kind == .object {
          collect(member.value, nil, &objectOfReference, &references)
          continue
        }
        fields[object]?.insert(member.key)
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
