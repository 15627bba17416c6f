public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// Brings down the records that an administrator has put into the user's briefcase.
///
/// JSON: `{"type": "briefcase", "countIdsPerRetrieve": 2000, "infos": [{…}]}`, `infos` required and
/// read as ``BriefcaseObjectInfo``.
///
/// The briefcase gives ids, page by page; their records are fetched up to 2,000 at a time and go to
/// one soup per object. The soup of the sync itself is not used. A re-sync brings what changed since,
/// as the server sees it, which may be more than what changed: the watermark goes no further than the
/// newest stamp on the first page of ids, since what changes while a run goes on may be on no page.
public struct BriefcaseSyncDownTarget: MultiSoupSyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "briefcase", implementationName: "SFBriefcaseSyncDownTarget",
    aliases: ["com.salesforce.androidsdk.mobilesync.target.BriefcaseSyncDownTarget"])

  /// How many records are fetched at a time at most, which is also the default.
  public static let maxCountIdsPerRetrieve = RestRequest.maxCollectionIds

  /// The objects.
  public let infos: [BriefcaseObjectInfo]
  /// How many records are fetched at a time.
  public let countIdsPerRetrieve: Int

  /// Makes a target.
  ///
  /// - Parameters:
  ///   - infos: The objects; of two with the same type the later counts.
  ///   - countIdsPerRetrieve: Values outside of 1 to 2,000 mean 2,000.
  public init(
    infos: [BriefcaseObjectInfo], countIdsPerRetrieve: Int = maxCountIdsPerRetrieve
  ) {
    var distinct: [BriefcaseObjectInfo] = []
    for info in infos {
      if let index = distinct.firstIndex(where: { $0.sobjectType == info.sobjectType }) {
        distinct[index] = info
      } else {
        distinct.append(info)
      }
    }
    self.infos = distinct
    self.countIdsPerRetrieve =
      (1...Self.maxCountIdsPerRetrieve).contains(countIdsPerRetrieve)
      ? countIdsPerRetrieve : Self.maxCountIdsPerRetrieve
    FeatureMarkers.shared.register("BC")
  }

  public init(configuration: JSONObject) throws(SyncError) {
    guard let list = configuration["infos"]?.array, !list.isEmpty else {
      throw SyncError(
        .invalidTarget, "The target has no list under the key 'infos'. Add it to the target's JSON."
      )
    }
    var infos: [BriefcaseObjectInfo] = []
    for (number, info) in list.enumerated() {
      guard let info = info.object else {
        throw SyncError(
          .invalidTarget,
          "Entry \(number) of the target's key 'infos' is no object. Correct the target's JSON.")
      }
      infos.append(try BriefcaseObjectInfo(json: info))
    }
    self.init(
      infos: infos,
      countIdsPerRetrieve: configuration.syncCount("countIdsPerRetrieve")
        ?? Self.maxCountIdsPerRetrieve)
  }

  public var configuration: JSONObject {
    [
      "infos": .array(infos.map { .object($0.json) }),
      "countIdsPerRetrieve": .integer(Int64(countIdsPerRetrieve)),
    ]
  }

  // MARK: Fetching

  /// Where a run stands.
  public struct Cursor: Sendable {
    /// The records of the present page of ids that were not fetched yet.
    fileprivate let waiting: ArraySlice<PrimingPage.Item>
    /// What leads to the next page of ids.
    fileprivate let relayToken: String?
    /// The watermark that the run began with.
    fileprivate let since: Int64
    /// How many ids have come so far.
    fileprivate let total: Int
    /// The newest stamp of the first page of ids. Records are fetched after they were listed: what changed
    /// in between was perhaps not listed, although newer records came. -1 once a page was incomplete.
    fileprivate let listedUntil: Int64?
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    let first = try await PrimingPage(
      of: types, since: maxTimeStamp, relayToken: nil, in: context)
    let cursor = Cursor(
      waiting: first.items[...], relayToken: first.relayToken, since: maxTimeStamp,
      total: first.items.count, listedUntil: first.isComplete ? first.latest : -1)
    return try await page(cursor, tellsTotal: true, in: context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    if !cursor.waiting.isEmpty { return try await page(cursor, tellsTotal: false, in: context) }
    guard let token = cursor.relayToken else { return nil }
    let next = try await PrimingPage(
      of: types, since: cursor.since, relayToken: token, in: context)
    let following = Cursor(
      waiting: next.items[...], relayToken: next.relayToken, since: cursor.since,
      total: cursor.total + next.items.count,
      listedUntil: next.isComplete ? cursor.listedUntil : -1)
    return try await page(following, tellsTotal: true, in: context)
  }

  private var types: [String] { infos.map(\.sobjectType) }

  /// Fetches the records of the next slice of ids, one request for each object in it.
  private func page(
    _ cursor: Cursor, tellsTotal: Bool, in context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    let slice = cursor.waiting.prefix(countIdsPerRetrieve)
    var records: [JSONSlice] = []
    for (object, info) in infos.enumerated() {
      let ids = slice.filter { $0.object == object }.map(\.id)
      if ids.isEmpty { continue }
      let request = try RestRequest.collectionRetrieve(
        object: info.sobjectType, ids: ids, fields: info.names.completing(info.fieldlist))
      let json = try await context.json(for: request)
      guard json.kind == .array else {
        throw SyncContext.unexpectedForm(
          json, of: request, expected: "a list with one record per id")
      }
      // Null stands for a record that was deleted or hidden meanwhile.
      records += json.elements.filter { !$0.isNull }
    }
    let rest = Cursor(
      waiting: cursor.waiting.dropFirst(slice.count), relayToken: cursor.relayToken,
      since: cursor.since, total: cursor.total, listedUntil: cursor.listedUntil)
    let isLast = rest.waiting.isEmpty && rest.relayToken == nil
    return SyncPage(
      records: records, totalSize: tellsTotal ? cursor.total : nil,
      completeUntil: cursor.listedUntil, next: isLast ? nil : rest)
  }

  // MARK: Entries

  public var soups: [SyncSoup] { infos.map { SyncSoup(soupName: $0.soupName, names: $0.names) } }

  public func entries(of record: JSONSlice) throws -> [SyncEntry] {
    let type = record[SyncKeys.attributes]?[SyncKeys.type]?.string
    guard let object = infos.firstIndex(where: { $0.sobjectType == type }) else {
      MobileSyncLogger.log.error(
        "A record of type '\(type ?? "")' came that is not among the target's infos; it is dropped."
      )
      return []
    }
    return [SyncEntry(soup: object, record: record)]
  }

  // MARK: Ghosts

  public func remoteIds(
    inSoups localIds: [[String]], in context: SyncContext
  ) async throws -> [Set<String>]? {
    var ids = infos.map { _ in Set<String>() }
    var token: String?
    var trail = PageTrail<String>()
    repeat {
      try context.checkStop()
      let page = try await PrimingPage(
        of: types, since: -1, relayToken: token, in: context)
      // What the server could not list is not gone.
      guard page.isComplete else { return nil }
      for item in page.items { ids[item.object].insert(item.id) }
      token = page.relayToken
      if let token { try trail.follow(token) }
    } while token != nil
    // Objects that share a soup share its records.
    return infos.map { info in
      zip(infos, ids).filter { $0.0.soupName == info.soupName }
        .reduce(into: Set()) { $0.formUnion($1.1) }
    }
  }
}

extension BriefcaseSyncDownTarget.Cursor: Hashable {
  /// Whether both lead to the same page. What came before it does not count.
  public static func == (one: Self, other: Self) -> Bool {
    one.relayToken == other.relayToken && one.waiting == other.waiting
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(relayToken)
    hasher.combine(waiting.count)
  }
}
