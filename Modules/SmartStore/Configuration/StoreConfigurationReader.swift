import SalesforceSDKCommon

/// Reads a file of soups from its start to its end, and notes everything that is wrong.
struct StoreConfigurationReader {
  private(set) var soups: [StoreConfiguration.Soup] = []
  private(set) var problems: [StoreConfigurationProblem] = []
  /// See ``StoreConfiguration/places``.
  private(set) var places: [StoreConfigurationProblem] = []
  private let content: [UInt8]
  private let file: String
  /// Gives the word that a misspelled one stands for, of some.
  private let meant: (_ word: String, _ words: [String]) -> String?

  init(
    _ content: [UInt8], file: String,
    meant: @escaping (_ word: String, _ words: [String]) -> String?
  ) {
    self.content = content
    self.file = file
    self.meant = meant
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
    noteUnknownKeys(of: root, "", known: ["soups"])
    guard let entries = list("soups", of: root, "") else { return }
    var names: Set<String> = []
    for (number, entry) in entries.enumerated() {
      let known = soups.count
      read(entry, "soups[\(number)]", &names)
      if soups.count == known, let last = problems.lastIndex(where: { !$0.isWarning }) {
        let soup = entry["soupName"]?.string.map { "The soup '\($0)'" } ?? "This soup"
        problems[last].message += " \(soup) is left out."
      }
    }
  }

  private mutating func read(_ entry: JSONSlice, _ path: String, _ names: inout Set<String>) {
    guard entry.kind == .object else {
      return note(entry, path, "The entry is not an object. Write one with soupName and indexes.")
    }
    noteUnknownKeys(of: entry, path, known: ["soupName", "indexes"])
    let errors = problems.count { !$0.isWarning }
    let name = text("soupName", of: entry, path)
    if let name, !names.insert(name).inserted {
      note(
        entry["soupName"] ?? entry, "\(path).soupName",
        "An earlier soup has the name '\(name)', too. Merge the two.")
    }
    guard let specs = list("indexes", of: entry, path) else { return }
    if specs.isEmpty {
      note(
        entry["indexes"] ?? entry, "\(path).indexes", "A soup needs at least one index. Add one.")
    }
    var paths: Set<String> = []
    let indexes = specs.enumerated().map { number, spec in
      read(index: spec, "\(path).indexes[\(number)]", &paths)
    }
    if let name, errors == problems.count(where: { !$0.isWarning }) {
      soups.append(StoreConfiguration.Soup(name: name, indexes: indexes.compactMap(\.self)))
      places.append(problem(entry.utf8.startIndex, path, "", isWarning: false))
    }
  }

  private mutating func read(
    index: JSONSlice, _ path: String, _ paths: inout Set<String>
  ) -> SoupIndex? {
    guard index.kind == .object else {
      note(index, path, "The entry is not an object. Write {\"path\": …, \"type\": …}.")
      return nil
    }
    noteUnknownKeys(of: index, path, known: ["path", "type"])
    let name = text("path", of: index, path)
    if let name, !paths.insert(name).inserted {
      note(
        index["path"] ?? index, "\(path).path", "The path '\(name)' is indexed twice. Remove one.")
    }
    guard let word = text("type", of: index, path) else { return nil }
    let type = SoupIndexType(rawValue: word)
    guard type.isKnown else {
      let hint = meant(word, Self.types).map { " Did you mean '\($0)'?" } ?? ""
      note(
        index["type"] ?? index, "\(path).type",
        "'\(word)' is not an index type. Write one of \(Self.types.joined(separator: ", ")).\(hint)"
      )
      return nil
    }
    return name.map { SoupIndex(path: $0, type: type) }
  }

  private static let types = ["string", "integer", "floating", "full_text", "json1"]

  // MARK: Members

  private mutating func noteUnknownKeys(of object: JSONSlice, _ path: String, known: [String]) {
    for (key, value) in object.members where !known.contains(key) {
      note(
        value, path.isEmpty ? key : "\(path).\(key)",
        "The key '\(key)' is unknown here. Known: \(known.joined(separator: ", ")).",
        isWarning: true)
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
    guard let value = object[key] else {
      note(object, path, "There is no '\(key)'. Add the list.")
      return nil
    }
    guard value.kind == .array else {
      note(
        value, path.isEmpty ? key : "\(path).\(key)",
        "'\(key)' is not a list. Write a list with one object for each of them.")
      return nil
    }
    return Array(value.elements)
  }

  private mutating func note(
    _ value: JSONSlice, _ path: String, _ message: String, isWarning: Bool = false
  ) {
    note(value.utf8.startIndex, path, message, isWarning: isWarning)
  }

  private mutating func note(
    _ offset: Int, _ path: String, _ message: String, isWarning: Bool = false
  ) {
    problems.append(problem(offset, path, message, isWarning: isWarning))
  }

  private func problem(
    _ offset: Int, _ path: String, _ message: String, isWarning: Bool
  ) -> StoreConfigurationProblem {
    let before = content.prefix(offset)
    let newline = UInt8(ascii: "\n")
    let start = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
    return StoreConfigurationProblem(
      file: file, line: 1 + before.count { $0 == newline }, column: 1 + offset - start,
      path: path, message: message, isWarning: isWarning)
  }
}
