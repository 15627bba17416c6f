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

extension AllowedOrigins {
  /// The standard origins and those that an app adds: `allow-navigation` and `access` of its `config.xml`, and the texts
  /// of `allowedOrigins` in its `bootconfig.json`. An entry that admits every page, such as `*`, is logged and left out.
  public init(www: URL) {
    self = .standard
    var texts: [String] = []
    for folder in [www, www.appending(path: "..")] {
      guard let data = try? Data(contentsOf: folder.appending(path: "config.xml")) else { continue }
      let config = String(decoding: data, as: UTF8.self)
      let entries = config.matches(
        of: /<(?:allow-navigation\s[^>]*href|access\s[^>]*origin)="([^"]*)"/)
      texts += entries.map { String($0.1) }
      break
    }
    let boot = try? Data(contentsOf: www.appending(path: "bootconfig.json"))
    let members = boot.flatMap { try? JSONSlice(parsing: [UInt8]($0)).value }
    texts += (members?["allowedOrigins"]?.array ?? []).compactMap(\.string)
    for text in texts {
      // Cordova's entries may end in a path, which is no part of an origin.
      let origin = text.hasSuffix("/*") ? String(text.dropLast(2)) : text
      guard !add(origin) else { continue }
      SalesforceLogger.logger(forComponent: "HybridServer").warning(
        "The allowed origin '\(text)' is left out: it is no https origin. Name a host, or *. and a domain."
      )
    }
  }
}
