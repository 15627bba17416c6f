public import Foundation
import SalesforceSDKCommon

/// The location of an app's configuration files.
public struct StoreConfigurationSource: Sendable {
  /// The file with the soups of the current user's default store.
  public static let userStoreFile = "userstore.json"
  /// The file with the soups of the app's default store.
  public static let globalStoreFile = "globalstore.json"

  /// The maximum size of a configuration file: 16 MiB.
  private static let maxBytes = 16 << 20

  private let lookUp: @Sendable (_ file: String) throws -> [UInt8]?

  /// - Parameter lookUp: Returns the content of a file by its name, nil if it does not exist.
  public init(_ lookUp: @escaping @Sendable (_ file: String) throws -> [UInt8]?) {
    self.lookUp = lookUp
  }

  /// Returns the source for the files in a folder.
  public static func folder(_ folder: URL) -> StoreConfigurationSource {
    StoreConfigurationSource { file in
      try DurableFile(folder.appending(path: file)).read(maxBytes: maxBytes)
    }
  }

  /// The resources of the app, and the working directory for files that are not among them.
  public static let app = StoreConfigurationSource { file in
    if let resources = Bundle.main.resourceURL,
      let content = try DurableFile(resources.appending(path: file)).read(maxBytes: maxBytes)
    {
      return content
    }
    let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    return try DurableFile(folder.appending(path: file)).read(maxBytes: maxBytes)
  }

  /// Returns the content of a file; nil if it does not exist.
  package func content(of file: String) throws -> [UInt8]? { try lookUp(file) }
}
