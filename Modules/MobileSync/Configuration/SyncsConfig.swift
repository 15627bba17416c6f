public import SalesforceSDKCommon

/// The syncs that a file defines.
///
/// ```json
/// { "syncs": [
///   { "syncName": "accounts down", "syncType": "syncDown", "soupName": "accounts",
///     "target": {"type": "soql", "query": "SELECT Name FROM Account"},
///     "options": {"mergeMode": "OVERWRITE"} } ] }
/// ```
///
/// Reading never fails: an invalid entry is omitted and listed in ``problems``, with its position
/// in the file.
public struct SyncsConfig: Sendable {
  /// The file with the syncs of a user's default store.
  public static let userSyncsFile = "usersyncs.json"
  /// The file with the syncs of the default global store.
  public static let globalSyncsFile = "globalsyncs.json"

  /// A sync to create.
  public struct Entry: Sendable {
    /// The name.
    public let syncName: String
    /// The direction.
    public let type: SyncType
    /// The soup.
    public let soupName: String
    /// The target, complete.
    public let target: JSONObject
    /// The options.
    public let options: SyncOptions
    /// The place of the entry in the file.
    let place: Place
  }

  /// A place in a file.
  struct Place: Sendable {
    let line: Int
    let column: Int
    let path: String
  }

  /// The file's name.
  public let file: String
  /// The valid entries, in the order of the file.
  public let entries: [Entry]
  /// The problems in the file, in its order.
  public let problems: [SyncsConfigProblem]
  /// The entries that are left out because of a problem, in the order of the file: the names, or the path, such as
  /// `syncs[2]`, of one without a name.
  public let leftOut: [String]

  /// Reads and checks a file's content. An empty one defines no syncs.
  ///
  /// - Parameters:
  ///   - file: The file name in problems.
  ///   - registry: The targets that entries may name.
  public init(parsing content: [UInt8], file: String, registry: SyncTargetRegistry) {
    var reader = SyncsConfigReader(content: content, file: file, registry: registry)
    reader.read()
    self.file = file
    entries = reader.entries
    problems = reader.problems
    leftOut = reader.leftOut
  }
}

/// Goes through a file of syncs.
struct SyncsConfigReader {
  let content: [UInt8]
  let file: String
  let registry: SyncTargetRegistry
  var entries: [SyncsConfig.Entry] = []
  var problems: [SyncsConfigProblem] = []
  var leftOut: [String] = []

  init(content: [UInt8], file: String, registry: SyncTargetRegistry) {
    self.content = content
    self.file = file
    self.registry = registry
  }

  mutating func read() {
    guard content.contains(where: { !" \t\r\n".utf8.contains($0) }) else { return }
    let root: JSONSlice
    do throws(JSONError) {
      root = try JSONSlice(parsing: content)
    } catch {
      note(
        .notJSON, at: error.byteOffset ?? 0, "",
        "The file is not JSON: \(error.message) Correct it here.")
      return
    }
    guard root.kind == .object else {
      note(.wrongForm, root, "", "The file is not a JSON object. Write {\"syncs\": […]}.")
      return
    }
    for (key, value) in root.members where key != "syncs" {
      note(.unknownKey, value, key, "The key '\(key)' is unknown here. Remove it.")
    }
    guard let syncs = root["syncs"], !syncs.isNull else { return }
    guard syncs.kind == .array else {
      note(
        .wrongForm, syncs, "syncs", "'syncs' is no list. Write one object for each sync into it.")
      return
    }
    for (number, entry) in syncs.elements.enumerated() {
      let known = entries.count
      read(entry, "syncs[\(number)]")
      if entries.count > known { continue }
      leftOut.append(entry["syncName"]?.string ?? "syncs[\(number)]")
      if let last = problems.lastIndex(where: { !$0.isWarning }) {
        let sync = entry["syncName"]?.string.map { "The sync '\($0)'" } ?? "This entry"
        problems[last].message += " \(sync) is left out."
      }
    }
    noteFields()
  }

  /// Names the fields that stand in only one of the lists of a soup's syncs.
  private mutating func noteFields() {
    let syncs = entries.map { entry in
      SyncState(
        type: entry.type, name: entry.syncName, soupName: entry.soupName, target: entry.target,
        options: entry.options)
    }
    for finding in SyncFieldCheck(syncs, registry: registry).findings {
      problems.append(
        SyncsConfigProblem(
          code: finding.warning.code, file: file, at: entries[finding.sync].place,
          message: finding.warning.message))
    }
  }

  // MARK: Entries

  private static let keys = ["syncName", "syncType", "soupName", "target", "options"]

  private mutating func read(_ sync: JSONSlice, _ path: String) {
    guard sync.kind == .object else {
      note(.wrongForm, sync, path, "The entry is not an object. Write one with a syncName.")
      return
    }
    for (key, value) in sync.members where !Self.keys.contains(key) {
      note(
        .unknownKey, value, "\(path).\(key)",
        "The key '\(key)' is unknown here. Known are \(Self.keys.joined(separator: ", ")).")
    }
    let name = text("syncName", of: sync, path)
    let type = type(of: sync, path)
    let soupName = text("soupName", of: sync, path)
    let options = options(of: sync, path, type)
    guard let type, let target = target(of: sync, path, type, options) else { return }
    guard let name, let soupName, let options else { return }
    if entries.contains(where: { $0.syncName == name }) {
      note(
        .nameTwice, sync["syncName"] ?? sync, "\(path).syncName",
        "There is another sync '\(name)' before this one. Choose another name.")
      return
    }
    entries.append(
      SyncsConfig.Entry(
        syncName: name, type: type, soupName: soupName, target: target, options: options,
        place: place(sync.utf8.startIndex, path)))
  }

  /// The non-empty text under `key`.
  private mutating func text(_ key: String, of sync: JSONSlice, _ path: String) -> String? {
    guard let value = sync[key] else {
      note(.missingKey, sync, path, "The entry has no '\(key)'. Add it.")
      return nil
    }
    guard let text = value.string, !text.isEmpty else {
      note(
        .wrongForm, value, "\(path).\(key)", "'\(key)' is not a text, or is empty. Write a name.")
      return nil
    }
    return text
  }

  private mutating func type(of sync: JSONSlice, _ path: String) -> SyncType? {
    guard let text = text("syncType", of: sync, path) else { return nil }
    guard let type = SyncType(rawValue: text) else {
      note(
        .unknownSyncType, sync["syncType"] ?? sync, "\(path).syncType",
        "'\(text)' is no type of sync. Write syncDown or syncUp.")
      return nil
    }
    return type
  }

  private mutating func target(
    of sync: JSONSlice, _ path: String, _ type: SyncType, _ options: SyncOptions?
  ) -> JSONObject? {
    let value = sync["target"].flatMap { $0.isNull ? nil : $0 }
    if let value, value.kind != .object {
      note(.wrongForm, value, "\(path).target", "'target' is not an object. Write one with a type.")
      return nil
    }
    if value == nil, type == .syncDown {
      note(.missingKey, sync, path, "The entry has no 'target'. Add one with a type.")
      return nil
    }
    let json = value?.value.object ?? [:]
    var isUsable = true
    for key in json.keys
    where key.lowercased().hasSuffix("createfieldlist")
      || key.lowercased().hasSuffix("updatefieldlist")
    {
      isUsable = check(fields: value?[key], "\(path).target.\(key)") && isUsable
    }
    if let size = value?["maxBatchSize"], !size.isNull, size.int64 == nil {
      note(
        .wrongForm, size, "\(path).target.maxBatchSize",
        "'maxBatchSize' is no whole number. Write one.")
      isUsable = false
    }
    do {
      let target = try self.target(json, type)
      let built = target.json
      if let options, options.fieldlist == nil, let fields = (target as? any SyncUpTarget)?.fields,
        fields.createFieldlist == nil, fields.updateFieldlist == nil
      {
        note(
          .noFields, sync, path,
          "Neither the options nor the target say which fields are uploaded. Give a fieldlist.")
      }
      if let value {
        noteUnreadKeys(of: value, in: built, "\(path).target") { [self] without in
          (try? self.target(without, type).json) == built
        }
      }
      return isUsable ? built : nil
    } catch {
      let message = (error as? SyncError)?.message ?? "The target cannot be built: \(error)"
      note(.invalidTarget, value ?? sync, "\(path).target", message)
      return nil
    }
  }

  private func target(_ json: JSONObject, _ type: SyncType) throws -> any SyncTarget {
    switch type {
    case .syncDown: try registry.downTarget(from: json)
    case .syncUp: try registry.upTarget(from: json)
    }
  }

  /// Names the keys of a target that mean nothing to it: they do not stand in its own form, and without
  /// them the same target is built.
  ///
  /// Left out are a page's size and what is null or false, which may say what holds without them.
  private mutating func noteUnreadKeys(
    of given: JSONSlice, in built: JSONObject, _ path: String,
    isBuilt: (_ without: JSONObject) -> Bool
  ) {
    let whole = given.value.object ?? [:]
    for (key, value) in given.members where !value.isNull && value.bool != false {
      if ["type", "androidImpl", "iOSImpl", "maxBatchSize"].contains(key) { continue }
      guard let own = built[key] else {
        var without = whole
        without[key] = nil
        guard isBuilt(without) else { continue }
        note(
          .unknownKey, value, "\(path).\(key)",
          "The key '\(key)' means nothing to the target. Correct or remove it.")
        continue
      }
      guard let own = own.object else { continue }
      noteUnreadKeys(of: value, in: own, "\(path).\(key)") { part in
        var without = whole
        without[key] = .object(part)
        return isBuilt(without)
      }
    }
  }

  private mutating func options(
    of sync: JSONSlice, _ path: String, _ type: SyncType?
  ) -> SyncOptions? {
    guard let value = sync["options"], !value.isNull else {
      return SyncOptions(mergeMode: .overwrite)
    }
    let path = "\(path).options"
    guard value.kind == .object else {
      note(.wrongForm, value, path, "'options' is not an object. Write one with a mergeMode.")
      return nil
    }
    var isUsable = check(fields: value["fieldlist"], "\(path).fieldlist")
    for (key, option) in value.members where !option.isNull {
      isUsable = check(key, option, "\(path).\(key)") && isUsable
    }
    return isUsable ? try? SyncOptions(json: value.value) : nil
  }

  /// Whether an option is one, and of its kind.
  private mutating func check(_ key: String, _ option: JSONSlice, _ path: String) -> Bool {
    switch key {
    case "fieldlist": return true
    case "mergeMode":
      do {
        _ = try SyncMergeMode(json: option.value)
        return true
      } catch {
        note(.unknownMergeMode, option, path, error.message)
      }
    case "fetchModificationDates":
      if option.kind == .bool { return true }
      note(.wrongForm, option, path, "'\(key)' is neither true nor false. Write one of them.")
    case "lateCommitWindowMilliseconds":
      if let time = option.int64, time >= 0 { return true }
      note(.wrongForm, option, path, "'\(key)' is no whole number from 0 on. Write one.")
    default:
      note(
        .unknownOption, option, path,
        "'\(key)' is no option. Known are mergeMode, fieldlist, fetchModificationDates and "
          + "lateCommitWindowMilliseconds.")
    }
    return false
  }

  /// Whether a list of fields can be sent.
  private mutating func check(fields list: JSONSlice?, _ path: String) -> Bool {
    guard let list, !list.isNull else { return true }
    guard list.kind == .array else {
      note(.wrongForm, list, path, "The fields are no list. Write the names of fields into one.")
      return false
    }
    var isUsable = true
    for field in list.elements {
      guard let name = field.string else {
        note(.wrongForm, field, path, "The list holds something that is no name. Remove it.")
        isUsable = false
        continue
      }
      if SyncKeys.neverSent.contains(name) {
        note(
          .bookkeepingField, field, path,
          "'\(name)' is kept by sync or store and means nothing to the server. Remove it.")
        isUsable = false
      }
    }
    return isUsable
  }

  // MARK: Problems

  private mutating func note(
    _ code: SyncsConfigProblem.Code, _ place: JSONSlice, _ path: String, _ message: String
  ) {
    note(code, at: place.utf8.startIndex, path, message)
  }

  private mutating func note(
    _ code: SyncsConfigProblem.Code, at offset: Int, _ path: String, _ message: String
  ) {
    problems.append(
      SyncsConfigProblem(code: code, file: file, at: place(offset, path), message: message))
  }

  private func place(_ offset: Int, _ path: String) -> SyncsConfig.Place {
    let before = content.prefix(offset)
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return SyncsConfig.Place(
      line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: offset - lineStart + 1,
      path: path)
  }
}
