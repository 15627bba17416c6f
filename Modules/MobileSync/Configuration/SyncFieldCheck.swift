import SalesforceSDKCommon

/// A comparison of the fields that the syncs of a store download with those that they send.
///
/// A field's name stands in the list of each sync of its soup. One that is misspelled or left out in one of them makes an
/// edit stay on the device.
struct SyncFieldCheck {
  /// A probable mistake.
  struct Finding: Sendable, Equatable, CustomStringConvertible {
    enum Kind: Sendable, Equatable {
      /// A sync up sends fields that no sync down of its soup downloads.
      case notDownloaded
      /// Syncs down bring fields that no sync up of the soup sends.
      case notSent
    }

    let kind: Kind
    /// The position of the sync up among the checked syncs; of several, the last.
    let sync: Int
    let soupName: String
    let fields: [String]

    var description: String {
      let names = fields.map { "'\($0)'" }.joined(separator: ", ")
      return switch kind {
      case .notDownloaded:
        "No sync down of the soup '\(soupName)' downloads \(names). Correct a misspelled name, or download the field."
      case .notSent:
        "No sync up of the soup '\(soupName)' sends \(names): an edit stays on the device, and its entry unsynced. "
          + "Add what users can edit to the fields that are sent."
      }
    }
  }

  /// Fields that the server alone sets in a new record, and users do not edit.
  private static let readOnly = [
    "CreatedDate", "CreatedById", "IsDeleted", "LastActivityDate", "attributes",
  ]

  private let syncs: [SyncState]
  private let registry: SyncTargetRegistry

  init(_ syncs: [SyncState], registry: SyncTargetRegistry) {
    self.syncs = syncs
    self.registry = registry
  }

  /// The findings, soup by soup, by name. Nothing is said of a soup that no sync up sends from, nor of one with a sync
  /// down whose fields are not known.
  var findings: [Finding] {
    let uses = syncs.map(registry.soups)
    let soups = Dictionary(
      uses.joined().map { ($0.soupName, $0) }, uniquingKeysWith: { first, _ in first })
    return soups.values.sorted { $0.soupName < $1.soupName }.flatMap { soup in
      findings(
        soup,
        syncs.indices.filter { index in uses[index].contains { $0.soupName == soup.soupName } })
    }
  }

  private func findings(_ soup: SyncSoup, _ indices: [Int]) -> [Finding] {
    let links = syncs.flatMap(registry.soups).filter { $0.soupName == soup.soupName }
      .compactMap(\.parent?.fieldName)
    var downloaded: [String] = []
    var sent: [(sync: Int, lists: SentFields)] = []
    for index in indices {
      let sync = syncs[index]
      switch sync.type {
      case .syncDown:
        guard
          let target = try? registry.downTarget(from: sync.target) as? any DownloadedFieldListing,
          let fields = target.downloadedFields(into: soup.soupName)
        else { return [] }
        downloaded += fields
      case .syncUp:
        guard let target = try? registry.upTarget(from: sync.target) else { return [] }
        sent.append((index, SentFields(target, sync.options, of: soup.soupName)))
      }
    }
    guard let last = sent.last?.sync, !downloaded.isEmpty else { return [] }
    func isOfLists(_ name: String) -> Bool {
      soup.names.isData(name) && !name.contains(".") && !SOQLNames.contains(name, in: links)
    }
    var findings: [Finding] = []
    for (index, lists) in sent {
      let missing = SOQLNames.missing(lists.compared.filter(isOfLists), in: downloaded)
      if !missing.isEmpty {
        findings.append(
          Finding(kind: .notDownloaded, sync: index, soupName: soup.soupName, fields: missing))
      }
    }
    let updated = sent.flatMap(\.lists.updated)
    let kept = SOQLNames.missing(
      SOQLNames.appending(downloaded, to: []).filter(isOfLists), in: updated + Self.readOnly)
    if !kept.isEmpty {
      findings.append(
        Finding(kind: .notSent, sync: last, soupName: soup.soupName, fields: kept))
    }
    return findings
  }

  /// The fields that a sync up sends of the records of a soup.
  private struct SentFields {
    /// The fields of updates.
    let updated: [String]
    /// All fields, without the one that identifies a record on the server.
    let compared: [String]

    init(_ target: any SyncUpTarget, _ options: SyncOptions, of soupName: String) {
      var fields = target.fields
      var general = options.fieldlist ?? []
      if let tree = target as? any TreeSyncUpTarget, tree.childSoup.soupName == soupName {
        fields = tree.childFields
        general = []
      }
      updated = fields.updateFieldlist ?? general
      let all = SOQLNames.appending(fields.createFieldlist ?? general, to: updated)
      compared = SOQLNames.missing(all, in: [fields.externalIdFieldName].compactMap(\.self))
    }
  }
}
