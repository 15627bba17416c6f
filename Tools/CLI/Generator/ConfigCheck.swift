import MobileSync
import SalesforceSDKCommon
import SmartStore

/// An error in a configuration file.
struct ConfigProblem {
  let file: String
  let line: Int
  let column: Int
  /// The place in the document, such as `soups[0].indexes`.
  let path: String
  let message: String
  let isWarning: Bool

  var document: JSONValue {
    [
      "file": .string(file), "line": .integer(Int64(line)), "column": .integer(Int64(column)),
      "path": .string(path), "message": .string(message), "warning": .bool(isWarning),
    ]
  }

  /// As compilers write it.
  var text: String {
    "\(file):\(line):\(column): \(isWarning ? "warning" : "error"): \(message)"
      + (path.isEmpty ? "" : " (\(path))")
  }
}

/// The check of a file of syncs.
enum SyncsFile {
  static func problems(in content: [UInt8], file: String) throws -> [ConfigProblem] {
    SyncsConfig(parsing: content, file: file, registry: try .standard()).problems.map {
      ConfigProblem(
        file: $0.file, line: $0.line, column: $0.column, path: $0.path, message: $0.message,
        isWarning: $0.isWarning)
    }
  }
}

/// The check of a file of soups: `{"soups": [{"soupName": …, "indexes": [{"path": …, "type": …}]}]}`.
struct StoreConfigCheck {
  private(set) var problems: [ConfigProblem] = []
  private let content: [UInt8]
  private let file: String

  init(_ content: [UInt8], file: String) {
    self.content = content
    self.file = file
    read()
  }

  private mutating func read() {
    let root: JSONSlice
    do throws(JSONError) {
      root = try JSONSlice(parsing: content)
    } catch {
      return note(
        error.byteOffset ?? 0, "", "The file is not JSON: \(error.message) Correct it here.")
    }
    guard root.kind == .object else {
      return note(root, "", "The file is not a JSON object. Write {\"soups\": […]}.")
    }
    checkKeys(of: root, "", known: ["soups"])
    guard let soups = list("soups", of: root, "") else { return }
    var names: Set<String> = []
    for (number, soup) in soups.enumerated() { read(soup, "soups[\(number)]", &names) }
  }

  private mutating func read(_ soup: JSONSlice, _ path: String, _ names: inout Set<String>) {
    guard soup.kind == .object else {
      return note(soup, path, "The entry is not an object. Write one with soupName and indexes.")
    }
    checkKeys(of: soup, path, known: ["soupName", "indexes"])
    if let name = text("soupName", of: soup, path), !names.insert(name).inserted {
      note(
        soup["soupName"] ?? soup, "\(path).soupName",
        "An earlier soup has the name '\(name)', too. Merge the two.")
    }
    guard let indexes = list("indexes", of: soup, path) else { return }
    if indexes.isEmpty {
      note(
        soup["indexes"] ?? soup, "\(path).indexes", "A soup needs at least one index. Add one.")
    }
    var paths: Set<String> = []
    for (number, index) in indexes.enumerated() {
      read(index: index, "\(path).indexes[\(number)]", &paths)
    }
  }

  private mutating func read(index: JSONSlice, _ path: String, _ paths: inout Set<String>) {
    guard index.kind == .object else {
      return note(index, path, "The entry is not an object. Write {\"path\": …, \"type\": …}.")
    }
    checkKeys(of: index, path, known: ["path", "type"])
    if let name = text("path", of: index, path), !paths.insert(name).inserted {
      note(
        index["path"] ?? index, "\(path).path", "The path '\(name)' is indexed twice. Remove one.")
    }
    guard let type = text("type", of: index, path) else { return }
    guard SoupIndexType(rawValue: type).isKnown else {
      let meant = Misspelling.closest(to: type, among: Self.types).map { " Did you mean '\($0)'?" }
      return note(
        index["type"] ?? index, "\(path).type",
        "'\(type)' is not an index type. Write one of \(Self.types.joined(separator: ", ")).\(meant ?? "")"
      )
    }
  }

  private static let types = ["string", "integer", "floating", "full_text", "json1"]

  // MARK: Members

  private mutating func checkKeys(of object: JSONSlice, _ path: String, known: [String]) {
    for (key, value) in object.members where !known.contains(key) {
      note(
        value, path.isEmpty ? key : "\(path).\(key)",
        "The key '\(key)' is unknown here. Known: \(known.joined(separator: ", ")).")
    }
  }

  private mutating func text(_ key: String, of object: JSONSlice, _ path: String) -> String? {
    guard let value = object[key] else {
      note(object, path, "The entry has no '\(key)'. Add it.")
      return nil
    }
    guard let text = value.string, !text.isEmpty else {
      note(value, "\(path).\(key)", "'\(key)' is not a text, or is empty. Write a name.")
      return nil
    }
    return text
  }

  private mutating func list(_ key: String, of object: JSONSlice, _ path: String) -> [JSONSlice]? {
    let place = path.isEmpty ? key : "\(path).\(key)"
    guard let value = object[key] else {
      note(object, path, "There is no '\(key)'. Add the list.")
      return nil
    }
    guard value.kind == .array else {
      note(value, place, "'\(key)' is not a list. Write a list with one object for each of them.")
      return nil
    }
    return Array(value.elements)
  }

  private mutating func note(_ value: JSONSlice, _ path: String, _ message: String) {
    note(value.utf8.startIndex, path, message)
  }

  private mutating func note(_ offset: Int, _ path: String, _ message: String) {
    let before = content.prefix(offset)
    let newline = UInt8(ascii: "\n")
    let line = 1 + before.count { $0 == newline }
    let start = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
    problems.append(
      ConfigProblem(
        file: file, line: line, column: 1 + offset - start, path: path, message: message,
        isWarning: false))
  }
}
