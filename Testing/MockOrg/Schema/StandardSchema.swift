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

/// A file that the options name, or that a folder of theirs has.
enum NamedFile {
  /// More than any JSON document may have: 256 MiB.
  static let maxBytes = 256 << 20

  /// The content of a regular file.
  ///
  /// - Throws: ``MockOrgError`` `unreadable` if there is none, if it has more than 256 MiB, or if it is a pipe or a device,
  ///   which may have no end.
  static func read(_ file: URL) throws(MockOrgError) -> [UInt8] {
    do throws(FileFailure) {
      if let bytes = try DurableFile(file).read(maxBytes: maxBytes) { return bytes }
    } catch {
      throw MockOrgError(
        .unreadable, "\(error). Name a regular file of at most \(maxBytes) bytes.", cause: error)
    }
    throw MockOrgError(.unreadable, "Cannot read \(file.path): the file does not exist.")
  }
}

/// A file of JSON text.
enum JSONFile {
  static func read(_ file: URL) throws(MockOrgError) -> JSONSlice {
    let data = try NamedFile.read(file)
    // A byte order mark is no part of JSON, and an editor does not show it.
    if [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]].contains(where: { data.starts(with: $0) }) {
      throw MockOrgError(
        .invalidData,
        "\(file.lastPathComponent) begins with a byte order mark. Save it as UTF-8 without one.")
    }
    do {
      return try JSONSlice(parsing: data)
    } catch {
      throw MockOrgError(
        .invalidData, "\(file.lastPathComponent) is not valid JSON: \(error.message)", cause: error)
    }
  }
}
