import SalesforceSDKCommon
import SmartStore

/// The index from a store's soups to their syncs.
struct SoupSyncIndex: Sendable {
  /// A sync and the soups that its target names.
  private struct Use: Sendable {
    let sync: SyncState
    let soups: [SyncSoup]
  }

  private let uses: [Use]
  private let registry: SyncTargetRegistry

  /// Creates the index from the targets of all syncs.
  init(_ syncs: [SyncState], _ registry: SyncTargetRegistry) {
    uses = syncs.map { Use(sync: $0, soups: registry.soups(of: $0)) }
    self.registry = registry
  }

  private func uses(of soupName: String) -> some Sequence<Use> {
    uses.lazy.filter { use in use.soups.contains { $0.soupName == soupName } }
  }

  /// Whether the soup's records have base versions: a sync works on it that compares with them.
  func keepsBases(_ soupName: String) -> Bool {
    uses(of: soupName).contains { $0.sync.needsBases }
  }

  /// As ``keepsBases(_:)``, with the syncs that were made since the uses were looked at.
  ///
  /// A run that did not know of them would leave base versions behind that do not fit the entries that it writes.
  func keepsBases(
    _ soupName: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Bool {
    if keepsBases(soupName) { return true }
    guard reader.soupExists(forName: SyncStateStore.soupName) else { return false }
    return SoupSyncIndex(try SyncStateStore.comparing(in: reader), registry).keepsBases(soupName)
  }

  /// The syncs that bring records into the soup.
  func fillers(of soupName: String) -> Set<Int64> {
    Set(uses(of: soupName).filter { $0.sync.type == .syncDown }.map(\.sync.id))
  }

  /// Whether another sync brings records into the soup, too.
  func isFilled(_ soupName: String, besidesBy syncId: Int64) -> Bool {
    !fillers(of: soupName).isSubset(of: [syncId])
  }

  /// The soups that syncs work on, each once for every way in which they name its id field, by name.
  var soups: [SyncSoup] {
    var seen: Set<String> = []
    return uses.flatMap(\.soups).filter { seen.insert("\($0.names.id)/\($0.soupName)").inserted }
      .sorted { ($0.soupName, $0.names.id) < ($1.soupName, $1.names.id) }
  }

  /// The fields by which entries of other soups, or of this one, are children of a soup's entries.
  func childLinks(of soupName: String) -> Set<ChildLink> {
    Set(
      uses.lazy.flatMap(\.soups).compactMap { soup in
        soup.parent.flatMap { parent in
          parent.soupName == soupName
            ? ChildLink(soupName: soup.soupName, field: parent.fieldName) : nil
        }
      })
  }

  /// The names of the id and date fields in the syncs of a soup.
  func names(of soupName: String) -> SyncFieldNames {
    let names = uses.lazy.flatMap(\.soups).first { $0.soupName == soupName }?.names
    return SyncFieldNames(
      id: names?.id ?? SyncKeys.defaultIdField,
      modificationDate: names?.modificationDate ?? SyncKeys.defaultModificationDateField)
  }

  /// The fields that a create of the soup's records sends, as its first sync up with a list says; nil if it has none.
  func createFields(of soupName: String) -> [String]? {
    for use in uses(of: soupName) where use.sync.type == .syncUp {
      guard let target = try? registry.upTarget(from: use.sync.target),
        let fields = target.fieldLists(of: soupName, use.sync.options).create
      else { continue }
      return fields
    }
    return nil
  }

  /// Whether a sync of the soup merges fields.
  func merges(_ soupName: String) -> Bool {
    uses(of: soupName).contains { $0.sync.options.mergeMode == .mergeFields }
  }

  /// The name of the id field of the soup's records, as its syncs call it.
  func idField(of soupName: String) -> String {
    uses.lazy.flatMap(\.soups).first { $0.soupName == soupName }?.names.id
      ?? SyncKeys.defaultIdField
  }
}

extension SoupSyncIndex: EntryUnion.Uses {}

extension SyncState {
  /// Whether the sync compares records with their base versions.
  ///
  /// A sync down in mode `LEAVE_IF_CHANGED` stores the base versions for the sync up, which may be
  /// created after the first edit.
  var needsBases: Bool { options.mergeMode != .overwrite }
}

extension SyncTargetRegistry {
  /// The soups of a sync: those that its target names, else the sync's own. A target that is not
  /// registered here has the latter.
  func soups(of sync: SyncState) -> [SyncSoup] {
    let found =
      switch sync.type {
      case .syncDown: (try? downTarget(from: sync.target))?.soups(in: sync.soupName)
      case .syncUp: (try? upTarget(from: sync.target))?.soups(in: sync.soupName)
      }
    return found
      ?? [SyncSoup(soupName: sync.soupName, names: SyncFieldNames(configuration: sync.target))]
  }
}

extension SyncDownTarget {
  /// The soups that the target fills for a sync of the soup `soupName`.
  func soups(in soupName: String) -> [SyncSoup] {
    if let several = self as? any MultiSoupSyncDownTarget { return several.soups }
    let names = SyncFieldNames(id: idFieldName, modificationDate: modificationDateFieldName)
    return [SyncSoup(soupName: soupName, names: names)]
  }
}

extension SyncUpTarget {
  /// The fields that the target sends of the records of a soup; nil where nothing has a list for them.
  func fieldLists(
    of soupName: String, _ options: SyncOptions
  ) -> (create: [String]?, update: [String]?) {
    // The options' list is for parents.
    if let tree = self as? any TreeSyncUpTarget, tree.childSoup.soupName == soupName {
      return (tree.childFields.createFieldlist, tree.childFields.updateFieldlist)
    }
    return (
      fields.createFieldlist ?? options.fieldlist, fields.updateFieldlist ?? options.fieldlist
    )
  }

  /// The soups whose records the target sends for a sync of the soup `soupName`.
  func soups(in soupName: String) -> [SyncSoup] {
    if let trees = self as? any TreeSyncUpTarget { return [trees.parentSoup, trees.childSoup] }
    let names = SyncFieldNames(id: idFieldName, modificationDate: modificationDateFieldName)
    return [SyncSoup(soupName: soupName, names: names)]
  }
}
