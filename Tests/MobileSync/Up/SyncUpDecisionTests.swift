import SalesforceSDKCommon
import Testing

@testable import MobileSync
import TestSupport

@Suite struct SyncUpDecisionTests {
  private struct Target: SyncUpTarget {
    static let kind = SyncTargetKind(.syncUp, typeName: "t", implementationName: "T")
    var fields = SyncUpFields()
    init(fields: SyncUpFields) { self.fields = fields }
    init(configuration: JSONObject) throws {}
    var configuration: JSONObject { [:] }
    func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome] {
      []
    }
    func remoteDates(of: [SyncUpRecord], in: SyncContext) async throws -> [RemoteDate] { [] }
  }

  private func choice(
    _ fields: SyncUpFields = SyncUpFields(), options: [String]? = ["Name"]
  ) throws -> SyncUpFieldChoice {
    try SyncUpFieldChoice(
      target: Target(fields: fields),
      options: SyncOptions(mergeMode: .overwrite, fieldlist: options))
  }

  private func decide(
    _ members: String, _ fields: SyncUpFields = SyncUpFields()
  ) throws -> SyncUpDecision {
    let record = try JSONSlice(
      parsing: #"{"attributes":{"type":"Account"},"__local__":true,\#(members)}"#)
    return SyncUpDecision(entryId: 1, record: record, fields: try choice(fields))
  }

  private func action(_ members: String, _ fields: SyncUpFields = SyncUpFields()) throws -> String {
    switch try decide(members, fields) {
    case .send(let record): record.action.rawValue
    case .removeEntry: "removeEntry"
    case .nothing: "nothing"
    case .refuse: "refuse"
    }
  }

  @Test(
    .covers("MS-63", "MS-183", "MS-187"),
    arguments: [
      (#""Id":"001","__locally_updated__":true"#, "update"),
      (#""Id":"local_1","__locally_created__":true,"__locally_updated__":true"#, "create"),
      (#""Id":"001","__locally_deleted__":true,"__locally_updated__":true"#, "delete"),
      (#""Id":"001","__locally_deleted__":true,"__locally_created__":true"#, "removeEntry"),
      (#""Id":"local_1","__locally_deleted__":true"#, "removeEntry"),
      (#""__locally_created__":true"#, "create"),
      (#""Id":"local_2","__locally_updated__":true"#, "create"),
      (#""Id":"001""#, "nothing"),
    ])
  func `flags say what a record needs, deleted before created before updated`(
    members: String, expected: String
  ) throws {
    #expect(try action(members) == expected)
  }

  @Test(.covers("MS-190"))
  func `a record without an object type is refused without a request`() throws {
    let record = try JSONSlice(
      parsing: #"{"Id":"001","__local__":true,"__locally_updated__":true}"#)
    guard
      case .refuse(_, let error) = SyncUpDecision(
        entryId: 1, record: record, fields: try choice())
    else {
      Issue.record("not refused")
      return
    }
    #expect(error["message"]?.string?.contains("attributes.type") == true)
  }

  @Test(
    .covers("MS-210"),
    arguments: [
      (#""Ext__c":"7""#, "upsert"), (#""Ext__c":7"#, "upsert"), (#""Ext__c":null"#, "create"),
      (#""Ext__c":"""#, "create"), (#""Ext__c":"local_3""#, "create"), (#""Other":"x""#, "create"),
    ])
  func `a create becomes an upsert if the record has a value for the external id`(
    member: String, expected: String
  ) throws {
    let fields = SyncUpFields(externalIdFieldName: "Ext__c")
    #expect(
      try action(#""Id":"local_1","__locally_created__":true,\#(member)"#, fields) == expected)
    #expect(try action(#""Id":"001","__locally_updated__":true,\#(member)"#, fields) == "update")
  }

  @Test(.covers("MS-206"))
  func `creates use the create list, updates the update list, else the options'`()
    throws
  {
    let fields = try choice(SyncUpFields(createFieldlist: ["A"]), options: ["C"])
    #expect(fields.create == ["A"] && fields.update == ["C"])
    let both = try choice(
      SyncUpFields(createFieldlist: ["A"], updateFieldlist: ["B"]), options: nil)
    #expect(both.create == ["A"] && both.update == ["B"])
  }

  @Test(.covers("MS-207"))
  func `no list at all is an error and an empty list is not`() throws {
    #expect {
      try choice(options: nil)
    } throws: {
      ($0 as? SyncError)?.code == .noFields
    }
    #expect(try choice(options: []).update == [])
  }

  @Test(
    .covers("MS-207"),
    arguments: [
      (SyncUpFields(createFieldlist: ["A"]), ["create", "upsert", "delete"]),
      (SyncUpFields(updateFieldlist: ["A"]), ["update", "delete"]),
    ])
  func `a list for one action uploads that one and refuses the other by name`(
    fields: SyncUpFields, sent: [String]
  ) throws {
    var fields = fields
    fields.externalIdFieldName = "Ext__c"
    let choice = try choice(fields, options: nil)
    for (action, members) in [
      ("create", #""Id":"local_1","__locally_created__":true"#),
      ("upsert", #""Id":"local_1","__locally_created__":true,"Ext__c":"7""#),
      ("update", #""Id":"001","__locally_updated__":true"#),
      ("delete", #""Id":"001","__locally_deleted__":true"#),
    ] {
      let record = try JSONSlice(
        parsing: #"{"attributes":{"type":"Account"},"__local__":true,\#(members)}"#)
      switch SyncUpDecision(entryId: 1, record: record, fields: choice) {
      case .send(let record):
        #expect(sent.contains(action) && record.action.rawValue == action)
      case .refuse(_, let error):
        #expect(!sent.contains(action))
        let key = action == "update" ? "updateFieldlist" : "createFieldlist"
        #expect(error["message"]?.string?.contains(key) == true)
      default: Issue.record("\(action) is neither sent nor refused")
      }
    }
  }

  @Test(.covers("MS-208", "MS-209"))
  func `fields are cut out of the stored text as written`() throws {
    let record = try JSONSlice(
      parsing: """
        {"attributes":{"type":"T"},"Id":"001","LastModifiedDate":"x","Name":"A\\u0041","N":1.50,\
        "Empty":null,"Owner":{"Name":"Ann"},"__local__":true,"__locally_updated__":true,"_soupEntryId":4}
        """)
    let fields = try choice(options: [
      "Id", "LastModifiedDate", "Name", "N", "Empty", "Missing", "Owner.Name", "__local__",
      "_soupEntryId", "attributes",
    ])
    guard
      case .send(let dirty) = SyncUpDecision(entryId: 4, record: record, fields: fields)
    else {
      Issue.record("not sent")
      return
    }
    #expect(
      dirty.values.map { "\($0.name)=\($0.value)" } == [
        #"Name="A\u0041""#, "N=1.50", "Empty=null", #"Owner.Name="Ann""#,
      ])
  }

  @Test(
    .covers("MS-182", "MS-198", "MS-196", "MS-197"),
    arguments: [
      (nil, false, RemoteDate.modified(9), true), (5, false, .modified(5), true),
      (5, false, .modified(4), true), (5, false, .modified(6), false), (5, false, .gone, false),
      (5, true, .gone, true), (5, true, .modified(6), false), (5, false, .unknown, false),
      (5, true, .unknown, false), (nil, false, .gone, true),
    ] as [(Int64?, Bool, RemoteDate, Bool)])
  func `a record is newer by the date that was downloaded with it`(
    local: Int64?, isDeleted: Bool, remote: RemoteDate, expected: Bool
  ) {
    #expect(
      DateRule.isNewer(localDate: local, isDeleted: isDeleted, than: remote) == expected)
  }

  private func record(_ action: SyncUpAction, id: String?) throws -> SyncUpRecord {
    SyncUpRecord(
      entryId: 1, record: try JSONSlice(parsing: "{}"), action: action, objectType: "Account",
      id: id, fieldNames: [], externalId: nil, unsentFields: [])
  }

  @Test(arguments: [SyncUpAction.create, .upsert], [nil, "", "local_1", "own 1"])
  func `a record that was made without getting an id is only done if it has one of its own`(
    action: SyncUpAction, id: String?
  ) throws {
    #expect(
      try SyncUpEffect(.succeeded(id: nil), of: record(action, id: id), mayRecreate: false)
        == (id == "own 1" ? .clean(newId: nil) : .unanswered))
  }

  @Test func `what is left out of a record stays so when it is created again`() throws {
    let row = try JSONSlice(parsing: #"{"Name":"a","ParentId":"local_1"}"#)
    let record = SyncUpRecord(
      entryId: 1, record: row, action: .update, objectType: "Account", id: "001",
      fieldNames: ["Name", "ParentId"], externalId: nil, unsentFields: []
    ).leavingOut(["ParentId"])
    let again = record.recreated(with: try choice(options: ["Name", "ParentId"]))
    #expect(again.action == .create && again.values.map(\.name) == ["Name"] && again.isPartial)
    #expect(again.accepted(as: "002").id == "002" && again.accepted(as: "002").isPartial)
  }

  @Test(.covers("MS-219"))
  func `an outcome says what becomes of the row`() throws {
    let error: JSONValue = ["message": "no"]
    for mayRecreate in [true, false] {
      func settled(_ outcome: SyncUpOutcome, _ action: SyncUpAction) throws -> SyncUpEffect {
        try SyncUpEffect(outcome, of: record(action, id: "local_1"), mayRecreate: mayRecreate)
      }
      #expect(try settled(.succeeded(id: nil), .delete) == .removeEntry)
      #expect(try settled(.gone(error), .delete) == .removeEntry)
      #expect(try settled(.succeeded(id: "7"), .create) == .clean(newId: "7"))
      #expect(try settled(.succeeded(id: "7"), .upsert) == .clean(newId: "7"))
      #expect(try settled(.succeeded(id: "7"), .update) == .clean(newId: nil))
      #expect(
        try settled(.gone(error), .update) == (mayRecreate ? .recreate : .keepError(error)))
      #expect(try settled(.gone(error), .create) == .keepError(error))
      for action in [SyncUpAction.create, .update, .upsert, .delete] {
        #expect(try settled(.rejected(error), action) == .keepError(error))
        #expect(try settled(.unanswered, action) == .unanswered)
      }
    }
  }

  @Test(.covers("MS-70"))
  func `a row that changed on its way keeps its edit and takes the id`() throws {
    func row(_ name: String, _ flags: String) throws -> JSONSlice {
      try JSONSlice(parsing: #"{"Name":"\#(name)","__local__":true,\#(flags)}"#)
    }
    let created = #""__locally_created__":true"#
    let sent = try row("a", created)
    #expect(EntryChange.accepted(sent: sent, now: sent, newId: "1") == .write(.clean, id: "1"))
    #expect(
      EntryChange.accepted(sent: sent, now: try row("b", created), newId: "1")
        == .write(RecordFlags(local: true, created: false, updated: true, deleted: false), id: "1"))
    #expect(
      EntryChange.accepted(
        sent: sent, now: try row("a", created + #","__locally_deleted__":true"#), newId: "1")
        == .write(RecordFlags(local: true, created: false, updated: false, deleted: true), id: "1"))
    let updated = try row("a", #""__locally_updated__":true"#)
    #expect(
      EntryChange.accepted(sent: updated, now: updated, newId: nil) == .write(.clean, id: nil))
    #expect(
      EntryChange.accepted(
        sent: updated, now: try row("b", #""__locally_updated__":true"#), newId: nil) == .leave)
    let deleted = try row("a", #""__locally_deleted__":true"#)
    #expect(EntryChange.deleted(sent: deleted, now: deleted) == .remove)
    #expect(
      EntryChange.deleted(sent: deleted, now: try row("b", #""__locally_updated__":true"#))
        == .write(RecordFlags(local: true, created: true, updated: true, deleted: false), id: nil))
  }

  @Test(.covers("MS-47"))
  func `every record but the last reports its share, however they are grouped`() {
    for total in 1...12 {
      for size in 1...total {
        var progress = SyncUpProgress(total: total)
        var steps: [Int] = []
        for start in stride(from: 0, to: total, by: size) {
          steps += progress.advance(by: min(size, total - start))
        }
        let expected: [Int] = (1..<total).map { $0 * 100 / total }
        #expect(steps == expected)
      }
    }
  }
}
