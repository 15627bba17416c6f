import SalesforceSDKCommon

/// A comparison of the fields that the syncs of a store download with those that they send, and with those of the object.
///
/// A field's name stands in the list of each sync of its soup. One that is misspelled or left out in one of them makes an
/// edit stay on the device.
struct SyncFieldCheck {
  /// A probable mistake.
  struct Finding: Sendable, Equatable {
    /// The position of the sync up among the checked syncs; of several, the last.
    let sync: Int
    let warning: SyncFieldWarning

    /// Whether it concerns the soup's syncs together, and not one sync up.
    var isOfSoup: Bool { warning.code == .fieldNotSent }
  }

  /// Fields that the server alone sets in a new record, and users do not edit.
  private static let readOnly = [
    "CreatedDate", "CreatedById", "IsDeleted", "LastActivityDate", "attributes",
  ]

  private let syncs: [SyncState]
  private let registry: SyncTargetRegistry
  /// The fields that the store knows, by soup.
  private let known: [String: KnownFields]

  init(_ syncs: [SyncState], registry: SyncTargetRegistry, known: [String: KnownFields] = [:]) {
    self.syncs = syncs
    self.registry = registry
    self.known = known
  }

  /// The findings, soup by soup, by name. Nothing is said of a soup that no sync up sends from.
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
    let known = known[soup.soupName] ?? KnownFields()
    var downloaded = Downloaded()
    var sent: [(sync: Int, lists: SentFields)] = []
    for index in indices {
      let sync = syncs[index]
      switch sync.type {
      case .syncDown:
        let target = try? registry.downTarget(from: sync.target) as? any DownloadedFieldListing
        downloaded.add(target?.downloadedFields(into: soup.soupName), known)
      case .syncUp:
        // Fields that a target of another program sends are not known.
        guard let target = try? registry.upTarget(from: sync.target) else { return [] }
        sent.append((index, SentFields(target, sync.options, of: soup.soupName)))
      }
    }
    guard let last = sent.last?.sync else { return [] }
    func isOfLists(_ name: String) -> Bool {
      soup.names.isData(name) && !name.contains(".") && !SOQLNames.contains(name, in: links)
    }
    var findings: [Finding] = []
    for (index, lists) in sent {
      let names = lists.compared.filter(isOfLists)
      findings += warnings(of: names, lists.all.filter(isOfLists), soup, downloaded, known)
        .map { Finding(sync: index, warning: $0) }
    }
    let kept = notSent(downloaded, sent.flatMap(\.lists.updated), known).filter(isOfLists)
    if !kept.isEmpty {
      findings.append(Finding(sync: last, warning: .notSent(kept, in: soup.soupName)))
    }
    return findings
  }

  /// The mistakes in the list of one sync up.
  ///
  /// - Parameters:
  ///   - names: The fields without the one that identifies a record on the server.
  ///   - all: The same with that field.
  private func warnings(
    of names: [String], _ all: [String], _ soup: SyncSoup, _ downloaded: Downloaded,
    _ known: KnownFields
  ) -> [SyncFieldWarning] {
    var warnings: [SyncFieldWarning] = []
    var rest = names
    if let described = known.described {
      let missing = SOQLNames.missing(all, in: described.map(\.name))
      if !missing.isEmpty {
        warnings.append(
          .notOnServer(missing, of: known.objectType ?? "the object", in: soup.soupName))
        rest = SOQLNames.missing(rest, in: missing)
      }
    }
    let other = all.compactMap { name in
      spelling(of: name, downloaded, known).flatMap { $0 == name ? nil : (sent: name, known: $0) }
    }
    if !other.isEmpty { warnings.append(.inOtherCase(other, in: soup.soupName)) }
    if downloaded.isComplete, !downloaded.fields.isEmpty {
      let missing = SOQLNames.missing(rest, in: downloaded.fields)
      if !missing.isEmpty { warnings.append(.notDownloaded(missing, in: soup.soupName)) }
    }
    return warnings
  }

  /// The field's name in the letters of the server, otherwise in those of the syncs down; nil if nothing has it.
  private func spelling(
    of name: String, _ downloaded: Downloaded, _ known: KnownFields
  ) -> String? {
    for names in [known.described?.map(\.name) ?? [], known.ofEntries, downloaded.fields] {
      if names.contains(name) { return name }
      if let same = names.first(where: { SOQLNames.areSame($0, name) }) { return same }
    }
    return nil
  }

  /// The downloaded fields that users may edit and that no sync up sends.
  private func notSent(
    _ downloaded: Downloaded, _ updated: [String], _ known: KnownFields
  ) -> [String] {
    let fixed = known.described?.filter { !$0.isEditable }.map(\.name) ?? []
    return SOQLNames.missing(
      SOQLNames.appending(downloaded.fields, to: []), in: updated + Self.readOnly + fixed)
  }

  /// The fields that the syncs down of a soup bring.
  private struct Downloaded {
    var fields: [String] = []
    /// Whether ``fields`` are all.
    var isComplete = true

    /// - Parameter list: The fields of one sync down; nil if they are not known.
    mutating func add(_ list: [String]?, _ known: KnownFields) {
      guard let list else {
        isComplete = false
        return
      }
      for name in list {
        guard let group = SOQLFieldGroup(name) else {
          fields.append(name)
          continue
        }
        if let described = known.described {
          fields += described.map(\.name).filter(group.contains)
        } else {
          // Every name may be one of them.
          isComplete = false
        }
      }
    }
  }

  /// The fields that a sync up sends of the records of a soup.
  private struct SentFields {
    /// The fields of updates.
    let updated: [String]
    /// All fields.
    let all: [String]
    /// All fields, without the one that identifies a record on the server.
    let compared: [String]

    init(_ target: any SyncUpTarget, _ options: SyncOptions, of soupName: String) {
      let lists = target.fieldLists(of: soupName, options)
      updated = lists.update ?? []
      var all = updated
      // The same name in two spellings is two: an entry has one of them.
      for name in lists.create ?? [] where !all.contains(name) { all.append(name) }
      self.all = all
      compared = SOQLNames.missing(all, in: [target.fields.externalIdFieldName].compactMap(\.self))
    }
  }
}
