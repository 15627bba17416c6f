import Foundation
import SalesforceSDKCommon

/// The placeholders of a template and the texts that replace them in a project.
struct ProjectTexts {
  /// Longer texts come first, because one may be a part of another.
  private let pairs: [(placeholder: String, value: String)]
  /// The texts that are inserted without escaping, because they are source text.
  private let verbatim: Set<String>

  static let consumerKey = "__INSERT_CONSUMER_KEY_HERE__"
  static let callbackURL = "__INSERT_CALLBACK_URL_HERE__"
  static let loginServer = "__INSERT_DEFAULT_LOGIN_SERVER__"
  private static let packagePlaceholder = "__FIELDFORCE_PACKAGE__"

  init(_ template: TemplateDescriptor, _ parameters: ProjectParameters) {
    let module = ParameterRule.moduleName(parameters.appName)
    var pairs: [(placeholder: String, value: String?)] = [
      (template.appName ?? "", template.appType.isSwift ? module : parameters.appName),
      (template.packageName ?? "", parameters.packageName),
      (template.organization ?? "", parameters.organization),
      (template.startPage ?? "", parameters.startPage.isEmpty ? nil : parameters.startPage),
      (Self.consumerKey, parameters.consumerKey), (Self.callbackURL, parameters.callbackURL),
      (Self.loginServer, parameters.loginServer ?? "https://login.salesforce.com"),
    ]
    pairs.append((Self.packagePlaceholder, parameters.dependency.declaration))
    self.pairs = pairs.compactMap { pair -> (placeholder: String, value: String)? in
      guard !pair.placeholder.isEmpty, let value = pair.value else { return nil }
      return (pair.placeholder, value)
    }.sorted { $0.placeholder.count > $1.placeholder.count }
    verbatim = [Self.packagePlaceholder]
  }

  /// The text of a file with the project's own texts, escaped for its language.
  func replaced(in text: String, ofFile name: String) -> String {
    let language = Language(fileName: name)
    return replaced(in: text) { placeholder, value in
      verbatim.contains(placeholder) ? value : language.escaped(value)
    }
  }

  /// A text of the descriptor, such as a command, with the project's own names.
  func replaced(in text: String) -> String { replaced(in: text) { $1 } }

  /// A path with the project's own names.
  func replaced(inPath path: String) -> String {
    replaced(in: path) { _, value in value.replacing("/", with: "_") }
  }

  /// Processes the text once, so that a value that looks like a placeholder stays.
  private func replaced(in text: String, _ value: (String, String) -> String) -> String {
    var result = ""
    var rest = text[...]
    while !rest.isEmpty {
      if let pair = pairs.first(where: { rest.hasPrefix($0.placeholder) }) {
        result += value(pair.placeholder, pair.value)
        rest = rest.dropFirst(pair.placeholder.count)
      } else {
        result.append(rest.removeFirst())
      }
    }
    return result
  }

  private enum Language {
    case json, swift, markup, other

    init(fileName: String) {
      switch URL(filePath: fileName).pathExtension.lowercased() {
      case "json": self = .json
      case "swift", "js", "mjs", "ts": self = .swift
      case "html", "htm", "xml", "plist": self = .markup
      default: self = .other
      }
    }

    /// The value inside a literal of the language.
    func escaped(_ value: String) -> String {
      switch self {
      case .json: String(JSONValue.string(value).text.dropFirst().dropLast())
      case .swift: value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      case .markup:
        value.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
          .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
      case .other: value
      }
    }
  }
}

extension FieldforcePackage {
  /// The dependency in a package's manifest.
  var declaration: String {
    func literal(_ text: String) -> String {
      "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    return switch self {
    case .url(let url): ".package(url: \(literal(url)), branch: \"main\")"
    case .path(let path): ".package(name: \"Fieldforce\", path: \(literal(path)))"
    }
  }

  /// An address or the path of a folder.
  init(_ text: String) {
    self =
      text.contains("://") || text.hasPrefix("git@")
      ? .url(text) : .path(URL(filePath: text).standardizedFileURL.path)
  }

  /// The checkout that the program was built in or installed from; nil if it is gone.
  static func ofProgram() -> FieldforcePackage? {
    let resources = BuiltInTemplates.root.deletingLastPathComponent()
    // Tools/install.sh writes where it was run.
    let noted = text(of: resources.appending(path: "checkout.txt"))
    if let path = noted?.trimmingCharacters(in: .whitespacesAndNewlines), isCheckout(path) {
      return .path(path)
    }
    var folder = resources.standardizedFileURL.resolvingSymlinksInPath()
    while folder.path.count > 1 {
      if isCheckout(folder.path) { return .path(folder.path) }
      folder = folder.deletingLastPathComponent()
    }
    return nil
  }

  /// The text of a small file; nil if it is missing or no such file.
  private static func text(of file: URL) -> String? {
    let bytes = (try? DurableFile(file).read(maxBytes: 1 << 20)) ?? nil
    return bytes.flatMap { String(validating: $0, as: UTF8.self) }
  }

  private static func isCheckout(_ path: String) -> Bool {
    text(of: URL(filePath: path + "/Package.swift"))?.contains("name: \"Fieldforce\"") == true
  }
}
