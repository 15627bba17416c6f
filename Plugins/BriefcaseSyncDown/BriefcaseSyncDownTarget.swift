public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that downloads the records that an administrator put into the user's briefcase.
///
/// JSON: `{"type": "briefcase", "countIdsPerRetrieve": 2000, "infos": [{…}]}`, `infos` required and
/// read as ``BriefcaseObjectInfo``.
///
/// The briefcase lists ids, page by page. Their records are fetched up to 2,000 at a time and
/// stored in one soup per object; the soup of the sync itself is not used. A re-sync downloads the
/// records that changed since the watermark, by the server's clock. The watermark is at most 5
/// seconds before the server began to list the first page of ids, because a record that changes
/// during a run may be on no page; so a re-sync may download unchanged records again.
///
/// A rule that the server cannot apply keeps its own watermark: when it can be applied again, the
/// run downloads the changes since then. Other rules are not affected.
public struct BriefcaseSyncDownTarget: MultiSoupSyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "briefcase", implementationName: "SFBriefcaseSyncDownTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.BriefcaseSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.BriefcaseSyncDownTarget",
    ])

  /// The maximum number of records per request, which is also the default.
  public static let maxCountIdsPerRetrieve = RestRequest.maxCollectionIds

  /// The objects.
  public let infos: [BriefcaseObjectInfo]
  /// The number of records per request.
  public let countIdsPerRetrieve: Int

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - infos: The objects; if two have the same type, the later one is used.
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
          "Entry \(number) of the target's key 'infos' is not an object. Correct the target's JSON."
        )
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

  /// The position of a run.
  public struct Cursor: Sendable {
    /// The records of the present page of ids that were not fetched yet.
    fileprivate let waiting: ArraySlice<PrimingPage.Item>
    /// The token of the next page of ids.
    fileprivate let relayToken: String?
    /// From when on changes are listed: the watermark of the run, or that of rules that failed before.
    fileprivate let since: Int64
    /// The number of ids so far.
    fileprivate let total: Int
    /// As of the first page of ids. Records are fetched after they were listed: what changed in between was
    /// perhaps not listed, although newer records came.
    fileprivate let listedUntil: Int64?
    /// The rules that failed in this run.
    fileprivate let rules: FailedRules
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    let first = try await PrimingPage(
      of: types, since: maxTimeStamp, relayToken: nil, in: context)
    var rules = FailedRules(context.targetState, since: maxTimeStamp)
    rules.add(first.failedRules)
    let cursor = Cursor(
      waiting: first.items[...], relayToken: first.relayToken, since: maxTimeStamp,
      total: first.items.count, listedUntil: first.listedUntil, rules: rules)
    return try await page(cursor, tellsTotal: true, in: context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    if !cursor.waiting.isEmpty { return try await page(cursor, tellsTotal: false, in: context) }
    var rules = cursor.rules
    // Behind the last page: what rules that work again have to catch up with.
    guard let since = cursor.relayToken == nil ? rules.catchUp() : cursor.since else { return nil }
    let next = try await PrimingPage(
      of: types, since: since, relayToken: cursor.relayToken, in: context)
    rules.add(next.failedRules)
    let following = Cursor(
      waiting: next.items[...], relayToken: next.relayToken, since: since,
      total: cursor.total + next.items.count, listedUntil: cursor.listedUntil, rules: rules)
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
      // Null stands for a record that was deleted or hidden since.
      records += json.elements.filter { !$0.isNull }
    }
    let rest = Cursor(
      waiting: cursor.waiting.dropFirst(slice.count), relayToken: cursor.relayToken,
      since: cursor.since, total: cursor.total, listedUntil: cursor.listedUntil, rules: cursor.rules
    )
    let isLast = rest.waiting.isEmpty && rest.relayToken == nil && !cursor.rules.hasToCatchUp
    return SyncPage(
      records: records, totalSize: tellsTotal ? cursor.total : nil,
      completeUntil: cursor.listedUntil, targetState: isLast ? cursor.rules.state : nil,
      next: isLast ? nil : rest)
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
    var failed: Set<String> = []
    var token: String?
    var trail = PageTrail<String>()
    repeat {
      try context.checkStop()
      let page = try await PrimingPage(
        of: types, since: -1, relayToken: token, in: context)
      failed.formUnion(page.failedRules)
      for item in page.items { ids[item.object].insert(item.id) }
      token = page.relayToken
      if let token {
        try trail.follow(token, count: page.items.count, first: page.items.first?.id)
      }
    } while token != nil
    // What the server could not list is not gone.
    guard let unlisted = try await FailedRules.objects(of: failed, in: context) else { return nil }
    for (object, info) in infos.enumerated() where unlisted.contains(info.sobjectType) {
      ids[object].formUnion(localIds[object])
    }
    // Objects that share a soup share its records.
    return infos.map { info in
      zip(infos, ids).filter { $0.0.soupName == info.soupName }
        .reduce(into: Set()) { $0.formUnion($1.1) }
    }
  }
}

extension BriefcaseSyncDownTarget.Cursor: Hashable {
  /// Whether both lead to the same page. Earlier pages do not matter.
  public static func == (one: Self, other: Self) -> Bool {
    one.relayToken == other.relayToken && one.waiting == other.waiting && one.since == other.since
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(relayToken)
    hasher.combine(waiting.count)
  }
}
