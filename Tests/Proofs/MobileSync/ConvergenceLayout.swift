import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
@testable import MobileSyncTests

/// A soup of a world, its object, and the field by which its records refer to others.
struct ConvergenceLevel: Sendable, Equatable {
  let soup: String
  let object: String
  /// The field that holds another record's id, and the number of that record's level.
  var lookup: String?
  var parent = 0
}

/// Names of fields.
enum ConvergenceFields {
  /// Tells records apart, across devices and ids.
  static let tag = "Tag__c"
  static let externalId = "Key__c"
  /// Tells records apart for the search for a create whose response was lost.
  static let name = "Name"
  /// The first sync down fetches records of the region `in`, the second those of the kind `b`.
  static let region = "Region__c"
  static let kind = "Kind__c"
  /// What the flow sets.
  static let stamp = "Stamp__c"
  /// What a device fetches only after a back-fill.
  static let extra = "Extra__c"
  /// The fields whose values are in the ledger.
  static let written = [name, "Phone", "Amount__c"]
  /// The values that all records have in a world that shares them.
  static let shared: JSONObject = [
    "Status__c": "New", "City__c": "Oslo", "Origin__c": "Web", "Priority__c": "High",
  ]
}

/// The soups, targets and syncs that a world needs.
extension ConvergenceWorld {
  var levels: [ConvergenceLevel] {
    let accounts = ConvergenceLevel(soup: "accounts", object: "Account")
    let contacts = ConvergenceLevel(soup: "contacts", object: "Contact", lookup: "AccountId")
    switch shape {
    case .flat: return [accounts]
    case .selfReference:
      return [ConvergenceLevel(soup: "accounts", object: "Account", lookup: "ParentId")]
    case .chain:
      return [
        accounts, contacts,
        ConvergenceLevel(soup: "cases", object: "Case", lookup: "ContactId", parent: 1),
      ]
    case .masterDetail, .lookupTree: return [accounts, contacts]
    }
  }

  /// The fields that a device sends.
  func sentFields(_ level: ConvergenceLevel) -> [String] {
    var fields = ConvergenceFields.written + [ConvergenceFields.tag, ConvergenceFields.region]
    if hasExternalId { fields.append(ConvergenceFields.externalId) }
    if hasSecondDown { fields.append(ConvergenceFields.kind) }
    if sharesValues { fields += ConvergenceFields.shared.keys }
    if let lookup = level.lookup { fields.append(lookup) }
    return fields
  }

  /// The fields that a device fetches.
  func fetchedFields(_ level: ConvergenceLevel, withExtra: Bool) -> [String] {
    var fields = sentFields(level)
    if hasFlow { fields.append(ConvergenceFields.stamp) }
    if withExtra { fields.append(ConvergenceFields.extra) }
    return fields
  }

  /// Whether a device's syncs down fetch a record.
  func isFetched(_ record: JSONObject, _ level: ConvergenceLevel, _ org: InMemoryOrg) -> Bool {
    if shape.isTree, level.lookup != nil {
      // Children come with their parents.
      guard let id = record[level.lookup ?? ""]?.string,
        let parent = org.record(levels[level.parent].object, id)
      else { return false }
      return isFetched(parent, levels[level.parent], org)
    }
    if hasSecondDown, level == levels[0], record[ConvergenceFields.kind]?.string == "b" {
      return true
    }
    return record[ConvergenceFields.region]?.string == "in"
  }

  // MARK: Targets

  /// The JSON of the targets of the syncs down of a level, the second only where there is one. Trees
  /// have one for all levels.
  func downTargets(_ number: Int, withExtra: Bool) throws -> [JSONObject] {
    let level = levels[number]
    if shape.isTree {
      return [
        ParentChildrenSyncDownTarget(
          parent: parentInfo,
          parentFieldlist: fetchedFields(levels[0], withExtra: withExtra),
          parentSoqlFilter: "\(ConvergenceFields.region) = 'in'", children: childrenInfo,
          childrenFieldlist: fetchedFields(levels[1], withExtra: withExtra),
          relationshipType: relationship
        ).json
      ]
    }
    let fields = fetchedFields(level, withExtra: withExtra).joined(separator: ", ")
    var filters = ["\(ConvergenceFields.region) = 'in'"]
    if hasSecondDown, number == 0 { filters.append("\(ConvergenceFields.kind) = 'b'") }
    return try filters.map { filter in
      let query = "select \(fields) from \(level.object) where \(filter)"
      if source == .bulk {
        return ["type": "bulk", "query": .string(query), "pollInterval": 1]
      }
      var target = try SoqlSyncDownTarget(query: query).json
      if source == .ranges {
        for name in ["partitionsFrom", "deletionsFrom"] { target[name] = 1 }
      }
      return target
    }
  }

  /// The JSON of the target of the sync up of a level.
  func upTarget() -> JSONObject {
    let fields = SyncUpFields(
      externalIdFieldName: hasExternalId ? ConvergenceFields.externalId : nil)
    if shape.isTree {
      return ParentChildrenSyncUpTarget(
        parent: parentInfo, children: childrenInfo, relationshipType: relationship,
        createFieldlist: sentFields(levels[0]), updateFieldlist: sentFields(levels[0]),
        childrenCreateFieldlist: sentFields(levels[1]),
        childrenUpdateFieldlist: sentFields(levels[1])
      ).json
    }
    return switch target {
    case .collection: CollectionSyncUpTarget(fields: fields, maxBatchSize: batchSize).json
    case .batch: BatchSyncUpTarget(fields: fields, maxBatchSize: batchSize).json
    case .basic: BasicSyncUpTarget(fields: fields).json
    case .bulk: bulkTarget(fields)
    }
  }

  private func bulkTarget(_ fields: SyncUpFields) -> JSONObject {
    var target: JSONObject = [
      "type": "bulk", "leastRecords": 1, "pollInterval": 1,
      "maxBatchSize": .integer(Int64(batchSize)),
    ]
    fields.write(into: &target)
    return target
  }

  private var relationship: RelationshipType {
    shape == .masterDetail ? .masterDetail : .lookup
  }

  private var parentInfo: ParentInfo {
    ParentInfo(
      sobjectType: levels[0].object, soupName: levels[0].soup,
      externalIdFieldName: hasExternalId ? ConvergenceFields.externalId : nil)
  }

  private var childrenInfo: ChildrenInfo {
    ChildrenInfo(
      sobjectType: levels[1].object, sobjectTypePlural: "Contacts", soupName: levels[1].soup,
      parentIdFieldName: "AccountId",
      externalIdFieldName: hasExternalId ? ConvergenceFields.externalId : nil)
  }

  // MARK: Syncs

  /// A sync of a device, as ``syncs`` creates it.
  struct Sync: Sendable {
    let name: String
    let soup: String
    /// The numbers of the levels that it works on.
    let levels: [Int]
  }

  /// The numbers of levels that have syncs of their own.
  private var syncedLevels: [Int] { shape.isTree ? [0] : Array(levels.indices) }

  var downs: [Sync] {
    syncedLevels.flatMap { number -> [Sync] in
      let touched = shape.isTree ? Array(levels.indices) : [number]
      let count = hasSecondDown && number == 0 ? 2 : 1
      return (0..<count).map {
        Sync(name: "down \(number) \($0)", soup: levels[number].soup, levels: touched)
      }
    }
  }

  var ups: [Sync] {
    syncedLevels.map { number in
      let touched = shape.isTree ? Array(levels.indices) : [number]
      return Sync(name: "up \(number)", soup: levels[number].soup, levels: touched)
    }
  }

  /// The mode of a device's sync down.
  func downMode(of sync: Sync, device: Int) -> SyncMergeMode {
    sync.name == "down 0 1" ? modes[device].secondDown : modes[device].down
  }

  /// Registers the soups.
  func registerSoups(in store: SmartStore) async throws {
    for level in levels {
      var paths = ["Id", SyncKeys.local]
      if let lookup = level.lookup { paths.append(lookup) }
      try await store.registerSoup(
        withName: level.soup,
        withIndices: paths.map { SoupIndex(path: $0, type: .string) } + [
          SoupIndex(path: SyncKeys.syncId, type: .integer)
        ])
    }
  }
}
