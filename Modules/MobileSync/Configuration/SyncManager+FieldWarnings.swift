import SalesforceSDKCommon
import SmartStore

extension SyncManager {
  /// The probable mistakes in the fields of syncs that are being created, with the store's other syncs.
  ///
  /// Of a sync up, its own mistakes; of a sync down, those of all syncs up of its soups. Fields that no sync up sends are
  /// named in both cases. A store that cannot be read has no warnings: the creation reports that itself.
  func fieldWarnings(of new: [SyncState]) async -> [[SyncFieldWarning]] {
    do {
      let names = Set(new.compactMap(\.name))
      // A sync without an id is not stored yet; one of its name is replaced by it, or refuses it.
      let others = try await states.all().filter { stored in
        !new.contains { $0.id == stored.id } && !(stored.name.map(names.contains) ?? false)
      }
      let soups = new.map { Set(registry.soups(of: $0).map(\.soupName)) }
      let concerned = soups.reduce(into: Set<String>()) { $0.formUnion($1) }
      let syncs = others.filter { other in
        registry.soups(of: other).contains { concerned.contains($0.soupName) }
      }
      guard (syncs + new).contains(where: { $0.type == .syncUp }) else {
        return new.map { _ in [] }
      }
      let known = try await knownFields(of: concerned, syncs + new)
      let findings = SyncFieldCheck(syncs + new, registry: registry, known: known).findings
      return new.indices.map { index in
        findings.filter { finding in
          soups[index].contains(finding.warning.soupName)
            && (finding.isOfSoup || new[index].type == .syncDown
              || finding.sync == syncs.count + index)
        }.map(\.warning)
      }
    } catch {
      MobileSyncLogger.log.debug("The fields of a new sync were not compared: \(error)")
      return new.map { _ in [] }
    }
  }

  /// Logs the warnings of a sync that has been created.
  nonisolated func log(_ warnings: [SyncFieldWarning]) {
    for warning in warnings { MobileSyncLogger.log.warning("\(warning)") }
  }

  private func knownFields(
    of soups: Set<String>, _ syncs: [SyncState]
  ) async throws -> [String: KnownFields] {
    let objects = Dictionary(
      uniqueKeysWithValues: soups.map { soup in
        (
          soup,
          syncs.lazy.filter { $0.type == .syncDown }.compactMap { [registry] sync in
            (try? registry.downTarget(from: sync.target) as? any DownloadedFieldListing)?
              .downloadedObject(into: soup)
          }.first
        )
      })
    return try await store.read { reader in
      var known: [String: KnownFields] = [:]
      for (soup, object) in objects {
        known[soup] = try KnownFields.read(soup, objectType: object, in: reader)
      }
      return known
    }
  }
}
