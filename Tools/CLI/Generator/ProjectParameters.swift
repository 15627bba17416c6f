import Foundation

/// The validated parameters of a project.
struct ProjectParameters {
  let appName: String
  let packageName: String
  let organization: String
  /// Empty for a project without one.
  let startPage: String
  let output: URL
  let consumerKey: String?
  let callbackURL: String?
  let loginServer: String?
  /// The location of Fieldforce for the generated package: a URL, or the path of a checkout.
  let dependency: FieldforcePackage
}

/// The location of Fieldforce for a generated package.
enum FieldforcePackage {
  case url(String)
  case path(String)
}

/// The rules for the values of parameters. Each returns what is wrong with a value, or nil.
enum ParameterRule {
  static func appName(_ text: String, _ type: AppType) -> String? {
    if text.isEmpty { return "It is missing" }
    if text.contains(where: \.isWhitespace) { return "It must not contain blanks" }
    if type == .iOSSwiftUI, text.contains("-") {
      return "The name of an app for iOS must not contain '-'"
    }
    guard text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]*/) != nil else {
      return
        "It is no package name: it must begin with a letter, and hold only letters, digits, '_' and '-'"
    }
    if text.count > 100 { return "It is longer than 100 characters" }
    if type.isSwift, reserved.contains(moduleName(text)) {
      return "It is the name of a module or a keyword, so the project could not be built"
    }
    return nil
  }

  static func packageName(_ text: String) -> String? {
    if text.isEmpty { return "It is missing" }
    return text.wholeMatch(of: /[a-z]+[a-z0-9_]*(\.[a-z]+[a-z0-9_\-]*)*/) == nil
      ? "It must be a domain in reverse, in small letters, such as com.acme.notes" : nil
  }

  static func organization(_ text: String) -> String? {
    if text.allSatisfy(\.isWhitespace) { return "It is missing" }
    return text.contains(where: \.isNewline) ? "It must be one line" : nil
  }

  static func startPage(_ text: String) -> String? {
    if text.allSatisfy(\.isWhitespace) { return "It is missing" }
    if text.contains("://") || text.hasPrefix("/") {
      return "It must be a path on the server, such as apex/StartPage"
    }
    return text.contains(where: \.isWhitespace) ? "It must not contain blanks" : nil
  }

  /// A folder that does not exist, or that is empty.
  static func outputFolder(_ url: URL) -> String? {
    let files = FileManager.default
    var isFolder: ObjCBool = false
    guard files.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      // A symbolic link without a target exists, too.
      return (try? files.destinationOfSymbolicLink(atPath: url.path)) == nil
        ? nil : "\(url.path) exists already"
    }
    let isEmpty = isFolder.boolValue && (try? files.contentsOfDirectory(atPath: url.path)) == []
    return isEmpty ? nil : "\(url.path) exists already"
  }

  /// The name of the Swift module of a package.
  static func moduleName(_ appName: String) -> String { appName.replacing("-", with: "_") }

  /// Modules that a generated package imports, and words that cannot name a module.
  private static let reserved: Set<String> = [
    "Swift", "Foundation", "FoundationNetworking", "Testing", "XCTest", "Dispatch", "SwiftUI",
    "Crypto",
    "CryptoExtras", "HTTPTypes", "SalesforceSDKCommon", "SalesforceSDKCore", "SalesforceAnalytics",
    "SmartStore",
    "MobileSync", "StandardSyncTargets", "SoqlSyncDown", "LoopbackLogin", "SalesforceMockOrg",
    "MobileSyncTestSupport", "Fieldforce", "fieldforce", "main", "class", "struct", "enum",
    "protocol", "func",
    "let", "var", "import", "public", "private", "internal", "extension", "self", "Self", "true",
    "false", "nil",
    "if", "else", "for", "in", "is", "as", "do", "try", "throw", "throws", "while", "switch",
    "case", "default",
    "return", "init", "deinit", "static", "operator", "Any", "Type", "Protocol", "actor", "async",
    "await",
  ]
}
