import Foundation
import SalesforceSDKCommon

/// The records of a plan's tree files, laid flat: children stand behind their parent and refer to it.
struct TreeData {
  /// A record as its file has it.
  struct Record {
    var object: String
    var members: [(name: String, value: JSONSlice)]
    /// What other records call it (`@Ref`); nil if it has no such name.
    var reference: String?
    /// The parent that it stands inside of, by its index, and the name of the relationship.
    var parent: (index: Int, relationship: String)?
    /// Where it came from, for messages.
    var file: String
    /// The position of its file in the plan: a reference means the latest record before or in it.
    var fileIndex: Int
  }

  private(set) var records: [Record] = []

  /// Reads a plan (an array of objects `sobject`, `files`) with its files, or one tree file.
  init(plan url: URL) throws(MockOrgError) {
    let plan = try JSONFile.read(url)
    if plan["records"]?.kind == .array {
      try append(file: plan, named: url.lastPathComponent, index: 0, object: nil)
      return
    }
    guard plan.kind == .array else {
      throw MockOrgError(
        .invalidData,
        "\(url.lastPathComponent) is neither a plan (an array of objects with 'sobject' and 'files') "
          + "nor a tree file (an object with 'records').")
    }
    var index = 0
    for step in plan.elements {
      guard let files = step["files"], files.kind == .array else {
        throw MockOrgError(
          .invalidData, "A step of \(url.lastPathComponent) has no array 'files'.")
      }
      for file in files.elements {
        guard let name = file.string ?? file["file"]?.string else {
          throw MockOrgError(
            .invalidData, "An element of 'files' in \(url.lastPathComponent) is no file name.")
        }
        let json = try JSONFile.read(
          URL(fileURLWithPath: name, relativeTo: url.deletingLastPathComponent()))
        try append(file: json, named: name, index: index, object: step["sobject"]?.string)
        index += 1
      }
    }
  }

  private mutating func append(
    file: JSONSlice, named name: String, index: Int, object: String?
  ) throws(MockOrgError) {
    let list = file.kind == .array ? file : file["records"]
    guard let list, list.kind == .array else {
      throw MockOrgError(.invalidData, "\(name) has no array 'records'.")
    }
    for record in list.elements {
      try append(record, file: name, fileIndex: index, object: object, parent: nil)
    }
  }

  private mutating func append(
    _ json: JSONSlice, file: String, fileIndex: Int, object: String?,
    parent: (index: Int, relationship: String)?
  ) throws(MockOrgError) {
    guard json.kind == .object else {
      throw MockOrgError(.invalidData, "An element of 'records' in \(file) is not an object.")
    }
    guard let type = json["attributes"]?["type"]?.string ?? object else {
      throw MockOrgError(
        .invalidData, "A record in \(file) has no 'type' in its 'attributes'.")
    }
    try Self.check(type, file)
    var members: [(name: String, value: JSONSlice)] = []
    var children: [(relationship: String, records: JSONSlice)] = []
    for (key, value) in json.members where key != "attributes" {
      try Self.check(key, file)
      if let records = value["records"], records.kind == .array {
        children.append((key, records))
      } else {
        members.append((key, value))
      }
    }
    records.append(
      Record(
        object: type, members: members, reference: json["attributes"]?["referenceId"]?.string,
        parent: parent, file: file, fileIndex: fileIndex))
    let index = records.count - 1
    for child in children {
      for record in child.records.elements {
        try append(
          record, file: file, fileIndex: fileIndex, object: nil,
          parent: (index, child.relationship))
      }
    }
  }

  /// Objects and fields are made up by these names, so they have to be names on the platform too.
  private static func check(_ name: String, _ file: String) throws(MockOrgError) {
    let isName =
      name.utf8.first.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 & 0xDF } == true
      && name.utf8.allSatisfy {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 & 0xDF
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "_")
      }
    guard isName else {
      throw MockOrgError(
        .invalidData,
        "\(file): '\(name)' is no API name. Use letters, digits and underscores, a letter first.")
    }
  }
}
