#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The content of a folder's file `keys.json`, which names the keeper of its master key.
package struct KeyRecord: Equatable, Sendable {
  /// The name of the keeper.
  package var keeper: String
  /// The keeper from which the key was moved, until it has forgotten it.
  package var leaving: String?

  init(keeper: String, leaving: String? = nil) {
    self.keeper = keeper
    self.leaving = leaving
  }

  /// Reads the record of a folder; nil if there is none.
  ///
  /// - Throws: ``SecretStoreError`` `corrupt`, `unknownFormat`, `inputOutput`.
  package init?(in folder: URL) throws(SecretStoreError) {
    let file = Self.file(in: folder)
    let content: DurableFile.Content?
    do {
      content = try file.content(maxBytes: 4_096)
    } catch {
      throw SecretStoreError(error)
    }
    guard let bytes = content?.bytes else { return nil }
    guard let json = try? JSONSlice(parsing: bytes), let version = json["version"]?.int64,
      let keeper = json["keeper"]?.string
    else {
      throw SecretStoreError(
        .corrupt,
        "\(file.path) does not say what keeps the master key. Restore it from a backup, or delete it: then the "
          + "first keeper that has a key counts.")
    }
    guard version == 1 else {
      throw SecretStoreError(
        .unknownFormat, "\(file.path) was written by a newer version. Update this program.")
    }
    self.init(keeper: keeper, leaving: json["leaving"]?.string)
  }

  static func file(in folder: URL) -> DurableFile {
    DurableFile(folder.appendingPathComponent("keys.json"))
  }

  /// Writes the record, and replaces an existing one.
  func write(in folder: URL) throws(SecretStoreError) {
    var object: JSONObject = ["version": 1, "keeper": .string(keeper)]
    if let leaving { object["leaving"] = .string(leaving) }
    do {
      try Self.file(in: folder).replace(with: Array(JSONValue.object(object).text.utf8))
    } catch {
      throw SecretStoreError(error)
    }
  }
}
