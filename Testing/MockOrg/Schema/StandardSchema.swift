import Foundation
import SalesforceSDKCommon

/// The standard objects, from the descriptions that the package ships.
enum StandardSchema {
  /// All of them, read once.
  private static let loaded: Result<[ObjectSchema], MockOrgError> = Result {
    () throws(MockOrgError) in
    guard let folder = Bundle.module.url(forResource: "Resources/Schema", withExtension: nil) else {
      throw MockOrgError(.unreadable, "The package's folder of standard objects is missing.")
    }
    return try DescribeFolder.objects(in: folder)
  }

  static func objects() throws(MockOrgError) -> [ObjectSchema] { try loaded.get() }
}

/// A folder of describe results, one object a file.
enum DescribeFolder {
  /// The objects of all `.json` files that have fields; files of another shape, such as a global
  /// describe, are passed over.
  static func objects(in folder: URL) throws(MockOrgError) -> [ObjectSchema] {
    let files: [URL]
    do {
      files = try FileManager.default
        .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .filter { $0.pathExtension == "json" }
        .sorted { $0.lastPathComponent < $1.lastPathComponent }
    } catch {
      throw MockOrgError(.unreadable, "Cannot read the folder \(folder.path).", cause: error)
    }
    var objects: [ObjectSchema] = []
    for file in files {
      let json = try JSONFile.read(file)
      guard json["name"]?.string != nil, json["fields"]?.kind == .array else { continue }
      objects.append(try ObjectSchema(describe: json))
    }
    return objects
  }
}

/// A file of JSON text.
enum JSONFile {
  static func read(_ file: URL) throws(MockOrgError) -> JSONSlice {
    let data: Data
    do {
      data = try Data(contentsOf: file)
    } catch {
      throw MockOrgError(.unreadable, "Cannot read \(file.path).", cause: error)
    }
    // A byte order mark is no part of JSON, and an editor does not show it.
    if [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]].contains(where: { data.starts(with: $0) }) {
      throw MockOrgError(
        .invalidData,
        "\(file.lastPathComponent) begins with a byte order mark. Save it as UTF-8 without one.")
    }
    do {
      return try JSONSlice(parsing: Array(data))
    } catch {
      throw MockOrgError(
        .invalidData, "\(file.lastPathComponent) is not valid JSON: \(error.message)", cause: error)
    }
  }
}
