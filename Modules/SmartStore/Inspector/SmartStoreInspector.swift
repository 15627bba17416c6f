public import SalesforceSDKCommon

/// A developer's view of the stores of one manager, without a screen: choose a store, query it, read the
/// result.
///
/// Each action sets ``contents``, which has everything that a screen or a web page shows. The
/// inspector neither changes nor creates a store.
///
/// ```swift
/// let inspector = try await SmartStoreInspector(manager: stores, currentUser: account)
/// await inspector.showSoups()
/// print(await inspector.contents.rows)
/// ```
public actor SmartStoreInspector {
  /// A store that can be inspected.
  public struct Choice: Sendable, Hashable {
    /// The store's name.
    public let storeName: String
    /// The owner of the store.
    public let owner: StoreOwner

    /// `<name> (user store)` or `<name> (global store)`; the default store's name is `default`.
    public var label: String {
      let name = storeName == SmartStore.defaultStoreName ? "default" : storeName
      return "\(name) (\(owner.isGlobal ? "global" : "user") store)"
    }
  }

  /// The content of the screen.
  public struct Contents: Sendable, Equatable {
    /// The Smart SQL to run, or the one that ran last.
    public var query = ""
    /// The page size as text. A text that is not a number counts as ``defaultPageSize``.
    public var pageSize = ""
    /// The page as text, counted from 0. A text that is not a number counts as 0.
    public var pageIndex = ""
    /// The kind of the failure; empty if there was none.
    public var title = ""
    /// The message to show in addition to the rows; empty if there is none.
    public var message = ""
    /// The rows of the last result; nil if there was none.
    public var rows: [JSONValue]?
  }

  /// The default page size.
  public static let defaultPageSize = 100
  /// The number of soups above which entries are not counted.
  public static let maxCountedSoups = 100

  /// The current content of the screen.
  public private(set) var contents = Contents()
  /// The inspected store. Default: the user's default store or, without a user, the app's.
  public private(set) var selected: Choice

  private let manager: SmartStoreManager
  private let currentUser: StoreOwner?
  /// The number of actions begun. The result of an action is dropped if a later action has begun.
  private var actions = 0

  /// Creates an inspector. Nil unless the manager's options enable support of developers.
  ///
  /// - Parameter currentUser: The account whose stores can be selected in addition to the app's.
  public init?(manager: SmartStoreManager, currentUser: StoreOwner?) {
    guard manager.supportsDevelopers else { return nil }
    self.manager = manager
    self.currentUser = currentUser
    selected = Choice(
      storeName: SmartStore.defaultStoreName, owner: currentUser ?? .global)
  }

  // MARK: Stores

  /// Returns the stores to choose from, the user's before the app's, each group by name.
  ///
  /// - Throws: ``SmartStoreError`` `io`.
  public func choices() throws(SmartStoreError) -> [Choice] {
    var choices: [Choice] = []
    for owner in [currentUser, .global].compactMap(\.self) {
      for name in try manager.allStoreNames(forUserAccount: owner).sorted() {
        choices.append(Choice(storeName: name, owner: owner))
      }
    }
    return choices
  }

  /// Selects another store and clears ``contents``.
  public func select(_ choice: Choice) {
    selected = choice
    clear()
  }

  // MARK: Actions

  /// Runs a statement and shows its rows.
  ///
  /// - Parameters:
  ///   - pageSize: A number as text; anything else counts as ``defaultPageSize``.
  ///   - pageIndex: A number as text; anything else counts as 0.
  public func run(query: String, pageSize: String = "", pageIndex: String = "") async {
    let action = begin(Contents(query: query, pageSize: pageSize, pageIndex: pageIndex))
    guard query.contains(where: { !$0.isWhitespace }) else {
      contents.message = "No query specified"
      return
    }
    await show(action, whenEmpty: "No rows returned") { [contents] store in
      let spec = try QuerySpec.buildSmartQuerySpec(
        smartSql: contents.query, pageSize: Int(contents.pageSize) ?? Self.defaultPageSize)
      return (
        contents.query,
        try await store.query(
          using: spec, startingFromPageIndex: Int(contents.pageIndex) ?? 0)
      )
    }
  }

  /// Shows the soups sorted by name, with the number of their entries. If there are many soups,
  /// shows only their names.
  public func showSoups() async {
    let action = begin(Contents())
    await show(action, whenEmpty: "No soups found") { store in
      let query = try await store.read { try $0.soupCountStatement() }
      return (query, query.isEmpty ? [] : try await store.query(query))
    }
  }

  /// Shows the index specs of all soups in the order in which they were registered.
  public func showIndices() async {
    let action = begin(Contents())
    await show(action, whenEmpty: "No rows returned") { store in
      let query = "select soupName, path, columnType from soup_index_map"
      return (query, try await store.query(query))
    }
  }

  /// Clears the query, its page, the rows and the messages. The store does not change.
  public func clear() {
    _ = begin(Contents())
  }

  /// Returns the completions for a query: the words of the language, then for each soup its name
  /// and its paths as references.
  public func autocompleteWords() async throws -> [String] {
    var words = ["select", "from", "where", "group by", "order by"]
    guard let store = try await store() else { return words }
    words += try await store.read { reader in
      var references: [String] = []
      for soup in reader.allSoupNames() {
        let paths =
          [SmartStore.soupPath, SmartStore.soupEntryId, SmartStore.lastModifiedDate]
          + (try reader.indices(forSoupNamed: soup).map(\.path))
        references.append("{\(soup)}")
        references += paths.map { "{\(soup):\($0)}" }
      }
      return references
    }
    return words
  }

  // MARK: Parts

  /// Returns the selected store; nil if it does not exist, because an inspector must not create it.
  private func store() async throws -> SmartStore? {
    guard try manager.storeExists(withName: selected.storeName, forUserAccount: selected.owner)
    else { return nil }
    return try await manager.shared(
      withName: selected.storeName, forUserAccount: selected.owner)
  }

  /// Shows `contents` and returns the number of the action.
  private func begin(_ contents: Contents) -> Int {
    self.contents = contents
    actions += 1
    return actions
  }

  /// Queries the selected store and shows the statement with its rows or the failure, unless
  /// another action has begun since.
  private func show(
    _ action: Int, whenEmpty: String,
    _ ask: @Sendable (SmartStore) async throws -> (query: String, rows: [JSONValue])
  ) async {
    var result = contents
    do {
      if let store = try await store() {
        (result.query, result.rows) = try await ask(store)
      } else {
        result.rows = []
      }
      if result.rows?.isEmpty == true { result.message = whenEmpty }
    } catch let error as SmartStoreError {
      (result.title, result.message) = (error.code.name, error.detail ?? error.message)
    } catch {
      (result.title, result.message) = ("\(type(of: error))", "\(error)")
    }
    if action == actions { contents = result }
  }
}

extension StoreReader {
  /// Returns the statement that lists the soups, with the number of entries if there are few soups;
  /// an empty text if there are no soups.
  fileprivate borrowing func soupCountStatement() throws(SmartStoreError) -> String {
    let names = allSoupNames()
    guard names.count <= SmartStoreInspector.maxCountedSoups else {
      return "SELECT soupName FROM \(MetaTable.attributes) ORDER BY soupName"
    }
    var parts: [String] = []
    for name in names {
      // A reference cannot contain braces or a colon; then the table's own name is used.
      let isReferable = !name.contains { "{}:".contains($0) }
      let table = try isReferable ? "{\(name)}" : access.soup(named: name).table
      parts.append("SELECT '\(name.replacing("'", with: "''"))', count(*) FROM \(table)")
    }
    return parts.joined(separator: " UNION ALL ")
  }
}
