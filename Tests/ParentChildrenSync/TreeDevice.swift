import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore

/// A device with a soup of accounts and one of their contacts.
struct TreeDevice: Sendable {
  static let contacts = "contacts"
  static let parent = ParentInfo(sobjectType: "Account", soupName: Device.soup)
  static let children = ChildrenInfo(
    sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: contacts,
    parentIdFieldName: "AccountId")

  let org: InMemoryOrg
  let device: Device
  let relationship: RelationshipType
  /// The fields that a sync up sends of a parent and of a child, besides their names.
  private let furtherFields: [String]

  init(
    _ relationship: RelationshipType = .masterDetail, sendingAlso furtherFields: [String] = []
  ) async throws {
    self.relationship = relationship
    self.furtherFields = furtherFields
    org = InMemoryOrg()
    org.relate(
      "Contacts", parent: "Account", child: "Contact", by: "AccountId",
      cascades: relationship == .masterDetail)
    device = try await Device.open(org)
    try await device.registerSoup(Self.contacts, "AccountId")
  }

  var down: ParentChildrenSyncDownTarget {
    ParentChildrenSyncDownTarget(
      parent: Self.parent, parentFieldlist: ["Name"], children: Self.children,
      childrenFieldlist: ["LastName", "AccountId"], relationshipType: relationship)
  }

  var up: ParentChildrenSyncUpTarget {
    let fields = ["Name"] + furtherFields
    let childFields = ["LastName"] + furtherFields
    return ParentChildrenSyncUpTarget(
      parent: Self.parent, children: Self.children, relationshipType: relationship,
      createFieldlist: fields, updateFieldlist: fields,
      childrenCreateFieldlist: childFields, childrenUpdateFieldlist: childFields)
  }

  /// Makes an account on the server with `count` contacts.
  @discardableResult
  func serverTree(_ name: String, children count: Int) -> (parent: String, children: [String]) {
    let parent = org.create("Account", ["Name": .string(name)])
    let children = (0..<count).map {
      org.create(
        "Contact", ["LastName": .string("\(name) \($0)"), "AccountId": .string(parent)])
    }
    return (parent, children)
  }

  /// Makes an account here with `count` contacts.
  @discardableResult
  func localTree(
    _ name: String, children count: Int, with further: JSONObject = [:]
  ) async throws -> String {
    let parent = device.manager.createLocalId()
    func completed(_ record: JSONObject) -> JSONObject {
      var record = record
      for (key, value) in further { record[key] = value }
      return record
    }
    try await device.create([completed(["Id": .string(parent), "Name": .string(name)])])
    try await device.create(
      (0..<count).map {
        completed(["LastName": .string("\(name) \($0)"), "AccountId": .string(parent)])
      }, type: "Contact", in: Self.contacts)
    return parent
  }

  @discardableResult
  func syncDown(_ mode: SyncMergeMode = .overwrite) async throws -> SyncState {
    let run = try await device.manager.syncDown(
      target: down, options: SyncOptions(mergeMode: mode), soupName: Device.soup)
    return try await run.finished()
  }

  @discardableResult
  func syncUp(_ mode: SyncMergeMode = .overwrite) async throws -> SyncState {
    let run = try await device.manager.syncUp(
      target: up, options: SyncOptions(mergeMode: mode), soupName: Device.soup)
    return try await run.finished()
  }

  func dirtyCount() async throws -> Int {
    try await device.dirtyRows().count + device.dirtyRows(in: Self.contacts).count
  }

  /// `name: [last names]` of a side, by name.
  func localTrees() async throws -> [String: [String]] {
    var trees: [String: [String]] = [:]
    let contacts = try await device.rows(in: Self.contacts)
    for account in try await device.rows() {
      trees[account["Name"]?.string ?? ""] = contacts.filter { $0["AccountId"] == account["Id"] }
        .compactMap { $0["LastName"]?.string }.sorted()
    }
    return trees
  }

  func serverTrees() -> [String: [String]] {
    var trees: [String: [String]] = [:]
    let contacts = org.records("Contact")
    for account in org.records("Account") {
      trees[account["Name"]?.string ?? ""] = contacts.filter { $0["AccountId"] == account["Id"] }
        .compactMap { $0["LastName"]?.string }.sorted()
    }
    return trees
  }

  /// The ids of both sides agree.
  func idsAgree() async throws -> Bool {
    let accounts = Set(try await device.rows().compactMap { $0["Id"]?.string })
    let contacts = Set(
      try await device.rows(in: Self.contacts).compactMap { $0["Id"]?.string })
    return accounts == Set(org.records("Account").compactMap { $0["Id"]?.string })
      && contacts == Set(org.records("Contact").compactMap { $0["Id"]?.string })
  }
}
