import SalesforceSDKCommon
import SmartStore

/// The soups that a sync down has filled, as they were when its watermark was stored.
///
/// They show whether a soup was emptied, or removed and registered again, since: its records would not come again from
/// the watermark on. The sync compares: entry ids are never used twice, and each registration of a soup has a number of
/// its own. So it does not matter what emptied the soup; it may be a program without this module.
///
/// JSON: `{"accounts": [12, 3000]}`, the number of the soup and its newest entry id.
struct DownloadedSoups: Sendable, Equatable {
  private struct Soup: Equatable {
    let number: Int64
    let newestEntryId: Int64
  }

  private var soups: [String: Soup] = [:]

  /// The soups as they are in a snapshot.
  init(_ names: some Sequence<String>, in reader: borrowing some StoreReading & ~Copyable) throws {
    for name in names {
      guard let number = reader.registrationNumber(ofSoupNamed: name) else { continue }
      let newest = try SyncSoup(soupName: name, idField: "").newestEntryId(in: reader)
      soups[name] = Soup(number: number, newestEntryId: newest)
    }
  }

  init?(json: JSONSlice) {
    guard json.kind == .object else { return nil }
    for (name, values) in json.members {
      guard let number = values[0]?.int64, let newest = values[1]?.int64 else { return nil }
      soups[name] = Soup(number: number, newestEntryId: newest)
    }
  }

  var json: JSONObject {
    JSONObject(
      soups.sorted { $0.key < $1.key }.map { name, soup in
        (key: name, value: [.integer(soup.number), .integer(soup.newestEntryId)])
      })
  }

  /// Whether one of the soups was removed, or has none of the entries left that it had.
  func isEmptied(in reader: borrowing some StoreReading & ~Copyable) throws -> Bool {
    for (name, soup) in soups {
      guard reader.registrationNumber(ofSoupNamed: name) == soup.number else { return true }
      if soup.newestEntryId == 0 { continue }
      let oldest = try SyncSoup(soupName: name, idField: "").oldestEntryId(in: reader)
      if oldest == 0 || oldest > soup.newestEntryId { return true }
    }
    return false
  }
}

extension SyncState {
  /// Reads a stored sync as it is with the present content of its soups: if one of them was emptied since the last
  /// page, the next run downloads everything again.
  init(json: JSONSlice, in reader: borrowing some StoreReading & ~Copyable) throws {
    try self.init(json: json)
    if try isEmptied(in: reader) { forgetDownloads() }
  }

  private func isEmptied(in reader: borrowing some StoreReading & ~Copyable) throws -> Bool {
    guard type == .syncDown else { return false }
    if let downloaded { return try downloaded.isEmptied(in: reader) }
    // A sync that an earlier version has run.
    guard maxTimeStamp >= 0 else { return false }
    guard reader.soupExists(forName: soupName) else { return true }
    return try SyncSoup(soupName: soupName, idField: "").newestEntryId(in: reader) == 0
  }

  /// Notes that a page was saved into the soups. If one of them was emptied during the run, that stays to be seen, and
  /// the next run brings what came before.
  mutating func noteDownload(
    into soupNames: some Sequence<String>, in transaction: borrowing StoreTransaction
  ) throws {
    if let downloaded, try downloaded.isEmptied(in: transaction) { return }
    downloaded = try DownloadedSoups(soupNames, in: transaction)
  }

  /// Forgets up to where the sync has downloaded.
  mutating func forgetDownloads() {
    maxTimeStamp = -1
    isSecondOpen = false
    checkpoint = nil
    targetState = nil
    partitions = nil
    serialReason = nil
    deletionsUntil = nil
    // A download of everything brings these, too.
    fieldsToBackfill = []
    backfilledTarget = nil
    downloaded = nil
  }
}
