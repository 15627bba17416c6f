import MobileSync
import SalesforceSDKCommon
import StandardSyncTargets
import TestSupport
import Testing

/// Do the built-in targets read and write the names that the platform's SDKs use?
@Suite struct BuiltInNameTests {
  /// A built-in target: its type name, its class name and a description that it reads.
  struct BuiltIn: Sendable, CustomTestStringConvertible {
    let direction: SyncType
    let typeName: String
    let className: String
    /// The class name on Android, without its package.
    var androidName: String
    var keys: JSONObject = [:]

    init(
      _ direction: SyncType, _ typeName: String, _ className: String, android: String? = nil,
      _ keys: JSONObject = [:]
    ) {
      self.direction = direction
      self.typeName = typeName
      self.className = className
      androidName = android ?? String(className.dropFirst(2))
      self.keys = keys
    }

    var testDescription: String { className }
  }

  private static func with(_ object: JSONObject, _ more: JSONObject) -> JSONObject {
    var object = object
    for (key, value) in more { object[key] = value }
    return object
  }

  private static let fields: JSONObject = ["sobjectType": "Account", "fieldlist": ["Name"]]
  private static let tree: JSONObject = [
    "relationshipType": "LOOKUP", "parent": ["sobjectType": "Account", "soupName": "accounts"],
    "children": [
      "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts",
      "parentIdFieldName": "AccountId",
    ],
  ]
  static let all: [BuiltIn] = [
    BuiltIn(.syncDown, "soql", "SFSoqlSyncDownTarget", ["query": "select Id from Account"]),
    BuiltIn(.syncDown, "sosl", "SFSoslSyncDownTarget", ["query": "FIND {a}"]),
    BuiltIn(.syncDown, "mru", "SFMruSyncDownTarget", fields),
    BuiltIn(
      .syncDown, "refresh", "SFRefreshSyncDownTarget",
      with(fields, ["soupName": "accounts"])),
    BuiltIn(.syncDown, "metadata", "SFMetadataSyncDownTarget", ["sobjectType": "Account"]),
    BuiltIn(.syncDown, "layout", "SFLayoutSyncDownTarget", ["sobjectType": "Account"]),
    BuiltIn(
      .syncDown, "briefcase", "SFBriefcaseSyncDownTarget",
      ["infos": [["sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"]]]]),
    BuiltIn(
      .syncDown, "parent_children", "SFParentChildrenSyncDownTarget",
      with(
        tree,
        ["parentFieldlist": ["Name"], "parentSoqlFilter": "", "childrenFieldlist": ["LastName"]])),
    BuiltIn(.syncUp, "basic", "SFSyncUpTarget"),
    BuiltIn(.syncUp, "batch", "SFBatchSyncUpTarget"),
    BuiltIn(.syncUp, "collection", "SFCollectionSyncUpTarget"),
    BuiltIn(
      .syncUp, "parent_children", "SFParentChildrenSyncUpTarget",
      with(tree, ["createFieldlist": ["Name"], "updateFieldlist": ["Name"]])),
  ]

  /// What a description with these names stands for, as it writes itself.
  private func written(_ names: JSONObject, _ builtIn: BuiltIn) throws -> JSONObject {
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let description = Self.with(builtIn.keys, names)
    return builtIn.direction == .syncDown
      ? try registry.downTarget(from: description).json
      : try registry.upTarget(from: description).json
  }

  @Test(.covers("MS-259", "MS-261", "MS-262"), arguments: all)
  func `each name of a built-in target leads to it, and it writes the platform's`(
    builtIn: BuiltIn
  ) throws {
    let android = "com.salesforce.androidsdk."
    let names: [JSONObject] = [
      ["type": .string(builtIn.typeName)], ["iOSImpl": .string(builtIn.className)],
      ["androidImpl": .string("\(android)mobilesync.target.\(builtIn.androidName)")],
      ["androidImpl": .string("\(android)smartsync.target.\(builtIn.androidName)")],
    ]
    for name in names {
      let json = try written(name, builtIn)
      #expect(json["iOSImpl"]?.string == builtIn.className, "\(name)")
      #expect(
        json["type"]?.string == (builtIn.direction == .syncUp ? "rest" : builtIn.typeName),
        "\(name)")
      // Read again, it is the same.
      #expect(try written(json, builtIn) == json)
    }
  }

  @Test(.covers("MS-262"), arguments: [["type": "rest"], [:]] as [JSONObject])
  func `rest and no name at all mean the collection target`(names: JSONObject) throws {
    let json = try written(names, BuiltIn(.syncUp, "collection", "SFCollectionSyncUpTarget"))
    #expect(json["iOSImpl"] == "SFCollectionSyncUpTarget")
  }

  @Test(.covers("MS-128"), arguments: all.filter { $0.keys["sobjectType"] != nil })
  func `every target reads sObjectType, too`(builtIn: BuiltIn) throws {
    var other = builtIn.keys
    other["sObjectType"] = other["sobjectType"]
    other["sobjectType"] = nil
    let spelled = BuiltIn(builtIn.direction, builtIn.typeName, builtIn.className, other)
    let name: JSONObject = ["type": .string(builtIn.typeName)]
    #expect(try written(name, spelled) == written(name, builtIn))
  }

  @Test(.covers("MS-128"))
  func `the infos of a briefcase read sObjectType, too`() throws {
    func briefcase(_ key: String) throws -> JSONObject {
      let info: JSONValue = [key: "Account", "soupName": "accounts", "fieldlist": ["Name"]]
      let keys: JSONObject = ["infos": [info]]
      return try written(
        ["type": "briefcase"], BuiltIn(.syncDown, "briefcase", "SFBriefcaseSyncDownTarget", keys))
    }
    #expect(try briefcase("sObjectType") == briefcase("sobjectType"))
  }

  @Test(.covers("MS-128"), arguments: ["countIdsPerSoql", "coundIdsPerSoql"])
  func `the refresh target writes the right spelling of its count`(key: String) throws {
    let refresh = BuiltIn(
      .syncDown, "refresh", "SFRefreshSyncDownTarget",
      Self.with(Self.fields, ["soupName": "accounts", key: 20]))
    #expect(
      try written(["type": "refresh"], refresh) == [
        "type": "refresh", "iOSImpl": "SFRefreshSyncDownTarget", "soupName": "accounts",
        "sobjectType": "Account", "fieldlist": ["Name"], "countIdsPerSoql": 20,
        "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
      ])
  }

  @Test(.covers("MS-147"))
  func `the parent-children target writes its JSON form key by key`() throws {
    let keys: JSONObject = [
      "parent": [
        "sobjectType": "Account", "soupName": "accounts", "idFieldName": "Id",
        "modificationDateFieldName": "LastModifiedDate", "externalIdFieldName": "ExtId__c",
      ],
      "parentFieldlist": ["Name"], "parentSoqlFilter": "Name like 'A%'",
      "children": [
        "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts",
        "parentIdFieldName": "AccountId", "idFieldName": "Id",
        "modificationDateFieldName": "LastModifiedDate", "externalIdFieldName": "ChildExt__c",
      ],
      "childrenFieldlist": ["LastName"], "relationshipType": "MASTER_DETAIL",
    ]
    let json = try written(
      ["type": "parent_children"],
      BuiltIn(.syncDown, "parent_children", "SFParentChildrenSyncDownTarget", keys))
    for (key, value) in keys { #expect(json[key] == value, "\(key)") }
  }
}
