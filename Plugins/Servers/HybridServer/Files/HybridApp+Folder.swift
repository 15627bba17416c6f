public import Foundation
public import SalesforceHybridSDK
import SalesforceSDKCommon

extension HybridApp {
  /// Reads the description of an app from its www folder: `bootconfig.json`, and name and version
  /// from `config.xml` or `package.json`, in the folder or its parent. Missing or unreadable values
  /// stay empty.
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
    guard let bytes = AppFile.read(file) else { return nil }
    return try? JSONSlice(parsing: bytes).value
  }

  /// Reads `<name>` and the version of `<widget>`.
  private mutating func readConfig(_ file: URL) {
    guard let bytes = AppFile.read(file) else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    if name.isEmpty, let match = text.firstMatch(of: /<name[^>]*>([^<]*)<\/name>/) {
      name = match.1.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    if version.isEmpty, let match = text.firstMatch(of: /<widget[^>]*\sversion="([^"]*)"/) {
      version = String(match.1)
    }
  }
}

extension AllowedOrigins {
  /// The standard origins and those that an app adds: `allow-navigation` and `access` of its
  /// `config.xml`, and the texts of `allowedOrigins` in its `bootconfig.json`. An entry that admits
  /// every page, such as `*`, is logged and ignored.
  public init(www: URL) {
    self = .standard
    var texts: [String] = []
    for folder in [www, www.appending(path: "..")] {
      guard let bytes = AppFile.read(folder.appending(path: "config.xml")) else { continue }
      let config = String(decoding: bytes, as: UTF8.self)
      let entries = config.matches(
        of: /<(?:allow-navigation\s[^>]*href|access\s[^>]*origin)="([^"]*)"/)
      texts += entries.map { String($0.1) }
      break
    }
    let boot = AppFile.read(www.appending(path: "bootconfig.json"))
    let members = boot.flatMap { try? JSONSlice(parsing: $0).value }
    texts += (members?["allowedOrigins"]?.array ?? []).compactMap(\.string)
    for text in texts {
      // Cordova's entries may end in a path, which is not part of an origin.
      let origin = text.hasSuffix("/*") ? String(text.dropLast(2)) : text
      guard !add(origin) else { continue }
      SalesforceLogger.logger(forComponent: "HybridServer").warning(
        "The allowed origin '\(text)' is left out: it is no https origin. Name a host, or *. and a domain."
      )
    }
  }
}

/// A file that describes an app.
private enum AppFile {
  /// No such file is longer: 4 MiB.
  private static let maxBytes = 4 << 20

  /// The content of a regular file; nil if there is none, if it is longer, or if it is a pipe or a device.
  static func read(_ file: URL) -> [UInt8]? {
    do throws(FileFailure) {
      return try DurableFile(file).read(maxBytes: maxBytes)
    } catch {
      SalesforceLogger.logger(forComponent: "HybridServer").warning("It is left out: \(error).")
      return nil
    }
  }
}
