public import Foundation
public import SalesforceHybridSDK
import SalesforceSDKCommon

extension HybridApp {
  /// Reads what the files of a www folder say of its app: `bootconfig.json`, and name and version from
  /// `config.xml` or `package.json`, in the folder of the pages or the one above. What is missing or cannot be read
  /// stays empty.
  public init(www: URL) {
    self.init()
    let boot = www.appending(path: "bootconfig.json")
    if let members = Self.json(boot)?.object { bootConfiguration = members }
    for folder in [www, www.appending(path: "..")] {
      if name.isEmpty || version.isEmpty { readConfig(folder.appending(path: "config.xml")) }
      if name.isEmpty || version.isEmpty,
        let package = Self.json(folder.appending(path: "package.json"))
      {
        let title = package["displayName"]?.string ?? package["name"]?.string
        if name.isEmpty { name = title ?? "" }
        if version.isEmpty { version = package["version"]?.string ?? "" }
      }
    }
  }

  /// The page with which the app starts, by its boot configuration. Default: `index.html`.
  public var startPage: String {
    guard let page = bootConfiguration["startPage"]?.string, !page.isEmpty else {
      return "index.html"
    }
    return page.hasPrefix("/") ? String(page.dropFirst()) : page
  }

  private static func json(_ file: URL) -> JSONValue? {
    guard let data = try? Data(contentsOf: file) else { return nil }
    return try? JSONSlice(parsing: [UInt8](data)).value
  }

  /// Takes `<name>` and the version of `<widget>`.
  private mutating func readConfig(_ file: URL) {
    guard let data = try? Data(contentsOf: file) else { return }
    let text = String(decoding: data, as: UTF8.self)
    if name.isEmpty, let match = text.firstMatch(of: /<name[^>]*>([^<]*)<\/name>/) {
      name = match.1.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    if version.isEmpty, let match = text.firstMatch(of: /<widget[^>]*\sversion="([^"]*)"/) {
      version = String(match.1)
    }
  }
}
