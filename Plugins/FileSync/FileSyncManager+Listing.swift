import Foundation
import MobileSync
import SalesforceSDKCommon
import SmartStore

extension FileSyncManager {
  /// Uploads the queue, lists the files, then downloads those that a rule names, the ones that changed last first.
  ///
  /// A file that cannot be downloaded does not end the sync; the report has its error. To make room, a download by rule
  /// evicts only content that was neither used nor changed since its own file changed.
  ///
  /// - Throws: As ``upload()`` and ``refresh()``; `closed`.
  @discardableResult
  public func sync() async throws -> FileSyncReport {
    let uploads = try await upload()
    var report = try await refresh()
    report.uploads = uploads
    let time = SalesforceDate(milliseconds: now())
    for file in try await files()
    where file.state != .available && options.rules.contains(where: { $0.matches(file, now: time) })
    {
      try Task.checkCancellation()
      do {
        try await download(file.id, evicting: .olderContent)
        report.downloaded.append(file.id)
      } catch let error as FileSyncError where error.code == .quotaExceeded {
        report.beyondQuota.append(file.id)
      } catch let error as FileSyncError where error.code != .closed && error.code != .diskFull {
        report.failed[file.id] = error
        // Without a network the other files fail as well.
        if error.code == .transport { break }
      }
    }
    return report
  }

  /// Lists the files of all records of the sources, without content. Files that belong to none of these records any
  /// more are removed with their content, unless a download of them runs.
  ///
  /// - Throws: ``FileSyncError`` `server`, `transport`, `unexpectedResponse`, `store`. What was listed by then stays;
  ///   nothing is removed.
  @discardableResult
  public func refresh() async throws -> FileSyncReport {
    // What an upload lists in between would look as if it were gone.
    try await working(on: Self.queueLock) { try await list() }
  }

  private func list() async throws -> FileSyncReport {
    let run = UUID().uuidString
    var known: Set<String> = []
    for source in options.sources {
      var last = ""
      while true {
        let (start, path) = (last, source.idField)
        let ids = try await catalog.read { reader in
          let soup = source.soupName
          return try reader.query(
            using: .buildSmartQuerySpec(
              smartSql: "SELECT {\(soup):\(path)} FROM {\(soup)} WHERE {\(soup):\(path)} > ? "
                + "ORDER BY {\(soup):\(path)}", pageSize: FileListing.idsPerQuery),
            startingFromPageIndex: 0, whereArgs: [.string(start)]
          ).compactMap { $0[0]?.string }
        }
        guard let end = ids.last else { break }
        last = end
        // A record that the server does not have yet has no files there.
        let records = ids.filter { !SyncKeys.isLocalId($0) }
        if !records.isEmpty {
          try await list(records, source.objectType, run: run, &known)
        }
      }
    }
    return try await removeUnlisted(run, count: known.count)
  }

  private func list(
    _ records: [String], _ objectType: String, run: String, _ known: inout Set<String>
  ) async throws {
    var links: [FileLink] = []
    var documents: [String] = []
    for link in try await listing.links(ofRecords: records) {
      if known.insert(link.file).inserted { documents.append(link.file) }
      links.append(
        FileLink(
          file: link.file, record: FileRecord(id: link.record, objectType: objectType), run: run))
    }
    var listed = try await listing.documents(documents)
    if options.includesAttachments {
      for (file, record) in try await listing.attachments(ofRecords: records) {
        if known.insert(file.id).inserted { listed.append(file) }
        links.append(
          FileLink(file: file.id, record: FileRecord(id: record, objectType: objectType), run: run))
      }
    }
    let (newLinks, files) = (links, listed)
    let changed = try await catalog.write { transaction -> [String] in
      let old = Dictionary(try transaction.files(files.map(\.id)).map { ($0.key, $0) }) { $1 }
      var changed: [String] = []
      try transaction.put(
        files.map { file in
          guard var entry = old[file.id] else {
            changed.append(file.id)
            return FileEntry(file)
          }
          if entry.version != file.version || entry.title != file.title { changed.append(file.id) }
          entry.update(by: file)
          return entry
        })
      try transaction.put(newLinks)
      return changed
    }
    await announce(changed)
  }

  private func removeUnlisted(_ run: String, count: Int) async throws -> FileSyncReport {
    let kept = busyIds
    let (names, removed) = try await catalog.write { transaction -> ([String], Int) in
      try transaction.remove(
        entryIds: try transaction.entryIds(of: FileCatalog.links, where: "run", "!=", run),
        forSoupNamed: FileCatalog.links)
      var names: [String] = []
      var removed = 0
      for id in try transaction.fileIdsWithoutRecord() where !kept.contains(id) {
        names += try transaction.file(id)?.names ?? []
        try transaction.remove(
          entryIds: try transaction.entryIds(of: FileCatalog.files, where: "key", "=", id),
          forSoupNamed: FileCatalog.files)
        removed += 1
      }
      return (names, removed)
    }
    folder.remove(names)
    var report = FileSyncReport()
    report.listed = count
    report.removed = removed
    return report
  }
}
