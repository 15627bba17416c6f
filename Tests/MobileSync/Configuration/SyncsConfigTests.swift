import CollectionSyncUp
import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import StandardSyncTargets
import Testing
import TestSupport

/// What does a file of syncs make, and what does it say when it is wrong?
@Suite struct SyncsConfigTests {
  private func registry() throws -> SyncTargetRegistry {
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    return registry
  }

  private func config(_ text: String) throws -> SyncsConfig {
    SyncsConfig(parsing: Array(text.utf8), file: "usersyncs.json", registry: try registry())
  }

  private static let everyTarget = """
    {"syncs": [
      {"syncName": "soql", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "soql", "query": "SELECT Name FROM Account", "maxBatchSize": 200},
       "options": {"mergeMode": "OVERWRITE"}},
      {"syncName": "soql2", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "soql", "query": "SELECT Name FROM Account"}},
      {"syncName": "sosl", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "sosl", "query": "FIND {a}"}, "options": {"mergeMode": "LEAVE_IF_CHANGED"}},
      {"syncName": "mru", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "mru", "sobjectType": "Account", "fieldlist": ["Name"]}},
      {"syncName": "refresh", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "refresh", "soupName": "accounts", "sobjectType": "Account", "fieldlist": ["Name"]}},
      {"syncName": "layout", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "layout", "sobjectType": "Account", "formFactor": "Large"}},
      {"syncName": "metadata", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "metadata", "sobjectType": "Account"}},
      {"syncName": "tree", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "parent_children", "relationshipType": "LOOKUP",
         "parent": {"sobjectType": "Account", "soupName": "accounts"}, "parentFieldlist": ["Name"],
         "parentSoqlFilter": "",
         "children": {"sobjectType": "Contact", "sobjectTypePlural": "Contacts",
           "soupName": "contacts", "parentIdFieldName": "AccountId"}, "childrenFieldlist": ["LastName"]}},
      {"syncName": "briefcase", "syncType": "syncDown", "soupName": "ignored",
       "target": {"type": "briefcase", "infos": [
         {"sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"]}]}},
      {"syncName": "basic", "syncType": "syncUp", "soupName": "accounts",
       "target": {"iOSImpl": "SFSyncUpTarget", "createFieldlist": ["Name"]},
       "options": {"fieldlist": ["Name"], "mergeMode": "LEAVE_IF_CHANGED"}},
      {"syncName": "batch", "syncType": "syncUp", "soupName": "accounts",
       "target": {"androidImpl": "com.salesforce.androidsdk.mobilesync.target.BatchSyncUpTarget"},
       "options": {"fieldlist": ["Name"]}},
      {"syncName": "default", "syncType": "syncUp", "soupName": "accounts",
       "target": {}, "options": {"fieldlist": ["Name"]}},
      {"syncName": "tree up", "syncType": "syncUp", "soupName": "accounts",
       "target": {"iOSImpl": "SFParentChildrenSyncUpTarget", "relationshipType": "MASTER_DETAIL",
         "createFieldlist": ["Name"], "updateFieldlist": ["Name"],
         "childrenCreateFieldlist": ["LastName"], "childrenUpdateFieldlist": ["LastName"],
         "parent": {"sobjectType": "Account", "soupName": "accounts"},
         "children": {"sobjectType": "Contact", "sobjectTypePlural": "Contacts",
           "soupName": "contacts", "parentIdFieldName": "AccountId"}}}
    ]}
    """

  @Test(.covers("MS-270", "MS-275", "MS-276"))
  func `a file with every target loads, and a second time changes nothing`()
    async throws
  {
    let config = try config(Self.everyTarget)
    #expect(config.problems.isEmpty, "\(config.problems)")
    #expect(config.entries.count == 13)
    let device = try await Device.open(InMemoryOrg())
    let loaded = try await device.manager.load(config)
    #expect(loaded.created.map(\.name) == config.entries.map(\.syncName))
    let said = try #require(try JSONValue(parsing: Self.everyTarget)["syncs"]?.array)
    for (sync, said) in zip(loaded.created, said) {
      #expect(sync.soupName == said["soupName"]?.string)
      #expect(sync.type.rawValue == said["syncType"]?.string)
      #expect(
        sync.options.mergeMode.rawValue == said["options"]?["mergeMode"]?.string ?? "OVERWRITE")
      let fields = said["options"]?["fieldlist"]?.array
      #expect(sync.options.fieldlist == fields?.compactMap(\.string), "\(sync.name ?? "")")
      for (key, value) in said["target"]?.object ?? [:]
      where !["androidImpl", "query", "parent", "children", "infos"].contains(key) {
        #expect(sync.target[key] == value, "\(sync.name ?? "") \(key)")
      }
      for key in ["parent", "children"] {
        for (name, value) in said["target"]?[key]?.object ?? [:] {
          #expect(sync.target[key]?[name] == value, "\(sync.name ?? "") \(key).\(name)")
        }
      }
    }
    for sync in loaded.created {
      #expect(sync.status == .new && sync.progress == 0 && sync.totalSize == -1)
      let stored = try #require(
        try await device.manager.syncStatus(forName: sync.name ?? ""))
      #expect(stored == sync)
      let target =
        sync.type == .syncDown
        ? try device.registry.downTarget(from: stored.target).json
        : try device.registry.upTarget(from: stored.target).json
      #expect(target == stored.target)
    }
    let impl = try await device.manager.syncStatus(forName: "default")?.target["iOSImpl"]
    #expect(impl == "SFCollectionSyncUpTarget")
    let again = try await device.manager.load(config)
    #expect(again.created.isEmpty && again.existing.count == 13)
    #expect(try await device.manager.syncs() == loaded.created)
    #expect(device.org.requests.isEmpty)
  }

  @Test(.covers("MS-272"), arguments: ["", " \n", "{}", #"{"syncs": []}"#, #"{"syncs": null}"#])
  func `nothing to load is no problem`(text: String) throws {
    let config = try config(text)
    #expect(config.entries.isEmpty && config.problems.isEmpty)
  }

  @Test(.covers("MS-273", "BX-71.1"))
  func `a problem names file, line, column, place and remedy`() throws {
    let config = try config(
      """
      {
        "syncs": [
          {"syncName": "good", "syncType": "syncDown", "soupName": "accounts",
           "target": {"type": "metadata", "sobjectType": "Account"}},
          {"syncName": "bad", "syncType": "syncDown", "soupName": "accounts",
           "target": {"type": "soql", "quary": "SELECT"}}
        ]
      }
      """)
    #expect(config.entries.map(\.syncName) == ["good"])
    let problem = try #require(config.problems.first)
    #expect(config.problems.count == 1 && problem.code == .invalidTarget)
    #expect((problem.line, problem.column) == (6, 16))
    #expect(problem.path == "syncs[1].target" && problem.message.contains("'query'"))
    #expect(problem.description.hasPrefix("usersyncs.json:6:16: error: "))
  }

  @Test(
    .covers("MS-209", "MS-273"),
    arguments: [
      (#"{"syncs": [}"#, "notJSON", ""), ("[]", "wrongForm", ""),
      (#"{"syncs": {}}"#, "wrongForm", "syncs"), (#"{"syncs": [5]}"#, "wrongForm", "syncs[0]"),
      (#"{"sinks": []}"#, "unknownKey", "sinks"),
      (
        #"{"syncs": [{"syncType": "syncUp", "soupName": "a", "options": {"fieldlist": []}}]}"#,
        "missingKey", "syncs[0]"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "down", "soupName": "a"}]}"#, "unknownSyncType",
        "syncs[0].syncType"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncDown", "soupName": "a"}]}"#, "missingKey",
        "syncs[0]"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "", "options": {"fieldlist": []}}]}"#,
        "wrongForm",
        "syncs[0].soupName"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "option": {}, "options": {"fieldlist": []}}]}"#,
        "unknownKey", "syncs[0].option"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "target": {"type": "collection", "maxBatchSise": 9}, "options": {"fieldlist": []}}]}"#,
        "unknownKey", "syncs[0].target.maxBatchSise"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncDown", "soupName": "a", "target": {"type": "parent_children", "relationshipType": "LOOKUP", "parent": {"sObjectType": "Account", "soupName": "a", "idfield": "X"}, "parentFieldlist": [], "parentSoqlFilter": "", "children": {"sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "c", "parentIdFieldName": "AccountId"}, "childrenFieldlist": []}}]}"#,
        "unknownKey", "syncs[0].target.parent.idfield"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "options": {"fieldlist": ["Name", "__local__"]}}]}"#,
        "bookkeepingField", "syncs[0].options.fieldlist"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "target": {"createFieldlist": ["_soupEntryId"]}, "options": {"fieldlist": []}}]}"#,
        "bookkeepingField", "syncs[0].target.createFieldlist"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "options": {"mergeMode": "MINE", "fieldlist": []}}]}"#,
        "unknownMergeMode", "syncs[0].options.mergeMode"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "options": {"mergeMode": 1, "fieldlist": []}}]}"#,
        "unknownMergeMode", "syncs[0].options.mergeMode"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "options": {"mergeMode": "OVERWRITE", "mergeMode": "overwrite", "fieldlist": []}}]}"#,
        "unknownMergeMode", "syncs[0].options.mergeMode"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "options": {"mergemode": "LEAVE_IF_CHANGED", "fieldlist": []}}]}"#,
        "unknownOption", "syncs[0].options.mergemode"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "options": {"lateCommitWindowMilliseconds": "10000", "fieldlist": []}}]}"#,
        "wrongForm", "syncs[0].options.lateCommitWindowMilliseconds"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "options": {"fetchModificationDates": "true", "fieldlist": []}}]}"#,
        "wrongForm", "syncs[0].options.fetchModificationDates"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "target": {"maxBatchSize": "100"}, "options": {"fieldlist": []}}]}"#,
        "wrongForm", "syncs[0].target.maxBatchSize"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a"}]}"#, "noFields",
        "syncs[0]"
      ),
      (
        #"{"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "a", "target": {"type": "mine"}}]}"#,
        "invalidTarget", "syncs[0].target"
      ),
    ])
  func `every problem is reported with its code and location`(
    text: String, code: String, path: String
  ) throws {
    let problems = try config(text).problems
    #expect(problems.contains { "\($0.code)" == code && $0.path == path }, "\(problems)")
    let isWarning = ["unknownKey", "noFields"].contains(code)
    #expect(problems.allSatisfy { $0.isWarning == isWarning })
  }

  @Test(.covers("MS-36"), arguments: [#""LEAVE_IF_CHANGE""#, #""overwrite""#, #""""#, "7", "[]"])
  func `an entry with an unknown merge mode is no sync`(mode: String) throws {
    let config = try config(
      #"{"syncs": [{"syncName": "a", "syncType": "syncDown", "soupName": "a", "#
        + #""target": {"type": "soql", "query": "SELECT Id FROM A"}, "#
        + #""options": {"mergeMode": \#(mode)}}]}"#)
    #expect(config.entries.isEmpty)
    #expect(config.problems.map(\.code) == [.unknownMergeMode])
    #expect(config.problems.allSatisfy { !$0.isWarning })
  }

  @Test(
    .covers("MS-35"), arguments: ["", #", "options": null"#, #", "options": {"mergeMode": null}"#])
  func `an entry without a merge mode has that of the platform`(options: String) throws {
    let config = try config(
      #"{"syncs": [{"syncName": "a", "syncType": "syncDown", "soupName": "a", "#
        + #""target": {"type": "soql", "query": "SELECT Id FROM A"}\#(options)}]}"#)
    #expect(config.entries.map(\.options.mergeMode) == [.overwrite])
    #expect(config.problems.isEmpty)
  }

  @Test(.covers("MS-239"))
  func `a key that a target reads under a second name is not misspelled`()
    throws
  {
    let config = try config(
      """
      {"syncs": [
      {"syncName": "a", "syncType": "syncDown", "soupName": "one",
       "target": {"type": "refresh", "soupName": "one", "sObjectType": "Account",
         "fieldlist": ["Name"], "coundIdsPerSoql": 100}},
      {"syncName": "b", "syncType": "syncUp", "soupName": "one", "options": {"fieldlist": []},
       "target": {"iOSImpl": "SFParentChildrenSyncUpTarget", "relationshipType": "LOOKUP",
         "parentCreateFieldlist": ["Name"], "parentUpdateFieldlist": ["Name"], "maxBatchSize": 5,
         "childrenCreateFieldlist": [], "childrenUpdateFieldlist": [],
         "parent": {"sobjectType": "Account", "soupName": "one"},
         "children": {"sobjectType": "Contact", "sobjectTypePlural": "Contacts",
           "soupName": "two", "parentIdFieldName": "AccountId"}}}]}
      """)
    #expect(config.problems.isEmpty, "\(config.problems)")
    #expect(config.entries.count == 2)
  }

  @Test func `a sync whose options are not understood is not made, and others are`() throws {
    let config = try config(
      """
      {"syncs": [
      {"syncName": "a", "syncType": "syncUp", "soupName": "one",
       "options": {"merge_mode": "LEAVE_IF_CHANGED", "fieldlist": []}},
      {"syncName": "b", "syncType": "syncUp", "soupName": "two",
       "options": {"mergeMode": "LEAVE_IF_CHANGED", "fieldlist": [], "fetchModificationDates": true,
         "lateCommitWindowMilliseconds": 10000}}]}
      """)
    #expect(config.entries.map(\.syncName) == ["b"])
    #expect(config.entries.first?.options.lateCommitWindow == .seconds(10))
    #expect(config.problems.map(\.code) == [.unknownOption])
  }

  @Test(.covers("MS-273"))
  func `of two syncs with one name the first is made`() throws {
    let config = try config(
      """
      {"syncs": [
      {"syncName": "a", "syncType": "syncUp", "soupName": "one", "options": {"fieldlist": []}},
      {"syncName": "a", "syncType": "syncUp", "soupName": "two", "options": {"fieldlist": []}}]}
      """)
    #expect(config.entries.map(\.soupName) == ["one"])
    #expect(config.problems.map(\.code) == [.nameTwice] && config.problems[0].line == 3)
  }

  @Test(.covers("MS-269", "MS-271", "MS-274"))
  func `the user's file is found, and existing syncs stay as they are`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg())
    let text = #"""
      {"syncs": [{"syncName": "a", "syncType": "syncUp", "soupName": "missing",
      "options": {"fieldlist": ["Name"]}}]}
      """#
    let files = StoreConfigurationSource { file in
      file == (device.store.isGlobal ? "globalsyncs.json" : "usersyncs.json")
        ? Array(text.utf8) : nil
    }
    let loaded = try await device.manager.setupSyncsFromDefaultConfig(from: files)
    #expect(loaded.created.map(\.soupName) == ["missing"])
    let changed = StoreConfigurationSource { _ in
      Array(text.replacing("missing", with: "other").utf8)
    }
    let again = try await device.manager.setupSyncsFromDefaultConfig(from: changed)
    #expect(again.existing == ["a"] && again.created.isEmpty)
    #expect(try await device.manager.syncStatus(forName: "a")?.soupName == "missing")
    let none = try await device.manager.setupSyncsFromDefaultConfig(
      from: StoreConfigurationSource { _ in nil })
    #expect(none.created.isEmpty && none.problems.isEmpty)
    let broken = try await device.manager.setupSyncsFromDefaultConfig(
      from: StoreConfigurationSource { _ in throw CocoaError(.fileReadNoPermission) })
    #expect(broken.problems.map(\.code) == [.unreadable])
  }
}
