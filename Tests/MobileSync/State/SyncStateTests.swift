import SalesforceSDKCommon
import Testing

@testable import MobileSync
import TestSupport

@Suite struct SyncStateTests {
  private func state(_ type: SyncType = .syncDown, name: String? = nil) -> SyncState {
    SyncState(
      type: type, name: name, soupName: "accounts", target: ["type": "soql"],
      options: SyncOptions(mergeMode: .overwrite))
  }

  private func stored(_ json: String) throws -> SyncState {
    try SyncState(json: JSONSlice(parsing: json))
  }

  @Test(.covers("MS-19"))
  func `the stored form has the platform's keys in order`() throws {
    var sync = SyncState(
      type: .syncDown, name: "mySync", soupName: "accounts", target: ["type": "soql"],
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]))
    sync.id = 12
    let text =
      #"{"_soupEntryId":12,"type":"syncDown","name":"mySync","soupName":"accounts","target":{"type":"soql"},"options":{"fieldlist":["Name"],"mergeMode":"OVERWRITE"},"status":"NEW","progress":0,"totalSize":-1,"maxTimeStamp":-1,"startTime":0,"endTime":0,"error":""}"#
    #expect(JSONValue.object(sync.json).text == text)
    #expect(try stored(text) == sync)
  }

  @Test(.covers("MS-20"))
  func `a new sync has the values of one that never ran`() {
    let sync = state(.syncUp)
    #expect(sync.status == .new && sync.progress == 0 && sync.totalSize == -1)
    #expect(sync.maxTimeStamp == -1 && sync.startTime == 0 && sync.endTime == 0)
    #expect(sync.error.isEmpty)
  }

  @Test(.covers("MS-20"))
  func `an absent maxTimeStamp reads as -1`() throws {
    let sync = try stored(#"{"_soupEntryId":1,"type":"syncUp","soupName":"s","status":"DONE"}"#)
    #expect(sync.maxTimeStamp == -1 && sync.totalSize == -1 && sync.status == .done)
    let odd = try stored(
      #"{"_soupEntryId":1,"type":"syncUp","soupName":"s","maxTimeStamp":\#(Int64.min)}"#)
    #expect(odd.maxTimeStamp == -1)
  }

  @Test(.covers("MS-21"))
  func `an unknown type is refused`() {
    #expect {
      try stored(#"{"_soupEntryId":1,"type":"syncSideways","soupName":"s"}"#)
    } throws: {
      ($0 as? SyncError)?.code == .invalidState
    }
  }

  @Test(.covers("MS-22"))
  func `an unknown status reads as failed`() throws {
    let sync = try stored(
      #"{"_soupEntryId":1,"type":"syncUp","soupName":"s","status":"SLEEPING"}"#)
    #expect(sync.status == .failed)
  }

  @Test(.covers("MS-24"))
  func `an empty name is no name`() throws {
    #expect(state(name: "").name == nil)
    #expect(state(name: "").json["name"] == nil)
  }

  @Test(.covers("MS-28"))
  func `a snapshot does not change with the sync`() {
    var sync = state()
    let snapshot = sync
    sync.submit(at: 5)
    #expect(snapshot.status == .new && sync.status == .running)
  }

  @Test(.covers("MS-29"))
  func `times are those of the run`() {
    var sync = state()
    sync.submit(at: 100)
    #expect(sync.startTime == 100 && sync.endTime == 0)
    sync.finish(.done, at: 90)
    #expect(sync.endTime == 100 && sync.progress == 100)
    sync.submit(at: 200)
    #expect(sync.startTime == 200 && sync.endTime == 0)
    sync.finish(.stopped, at: 250)
    #expect(sync.endTime == 250)
  }

  @Test(.covers("MS-30"))
  func `a new run clears the error`() {
    var sync = state()
    sync.submit(at: 1)
    sync.finish(.failed, error: "x", at: 2)
    #expect(sync.error == "x")
    sync.submit(at: 3)
    #expect(sync.error.isEmpty)
  }

  @Test(.covers("MS-30"))
  func `an error is stored as a JSON object with code, message and body`() throws {
    let error = SyncError(.server, "refused", status: 500, body: #"[{"errorCode":"X"}]"#)
    #expect(error.stored == #"{"code":500,"message":"refused","body":[{"errorCode":"X"}]}"#)
    let transport = SyncError(.transport, "no network")
    #expect(transport.stored == #"{"code":0,"message":"no network","body":null}"#)
    let text = SyncError(.server, "no JSON", status: 502, body: "<html>")
    #expect(try JSONValue(parsing: text.stored)["body"]?.string == "<html>")
  }

  @Test(
    .covers("MS-59", "MS-88"),
    arguments: [
      (SyncStatus.stopped, Int64(100), Int64(99)), (.failed, 100, 99), (.done, 100, 100),
      (.new, -1, -1), (.stopped, -1, -1), (.stopped, 0, -1),
    ])
  func `an interrupted run lowers the watermark by a millisecond, not below -1`(
    status: SyncStatus, before: Int64, after: Int64
  ) {
    var sync = state()
    sync.status = status
    sync.maxTimeStamp = before
    sync.submit(at: 1)
    #expect(sync.maxTimeStamp == after)
  }

  @Test(.covers("MS-33", "MS-268"))
  func `options are written with a field list only when set`() throws {
    #expect(
      JSONValue.object(SyncOptions(mergeMode: .overwrite).json).text
        == #"{"mergeMode":"OVERWRITE"}"#)
    let options = SyncOptions(mergeMode: .leaveIfChanged, fieldlist: [])
    #expect(
      JSONValue.object(options.json).text == #"{"fieldlist":[],"mergeMode":"LEAVE_IF_CHANGED"}"#)
    #expect(try SyncOptions(json: .object(options.json)) == options)
  }

  @Test(
    .covers("MS-35", "MS-36"),
    arguments: [nil, JSONValue.null, [:], ["mergeMode": nil]] as [JSONValue?])
  func `options in JSON without a merge mode mean overwrite`(json: JSONValue?) throws {
    #expect(try SyncOptions(json: json) == SyncOptions(mergeMode: .overwrite, fieldlist: nil))
  }

  @Test(
    .covers("MS-36"),
    arguments: [
      ["mergeMode": "MIX"], ["mergeMode": "overwrite"], ["mergeMode": ""], ["mergeMode": 1],
      ["mergeMode": ["OVERWRITE"]], "OVERWRITE", [],
    ] as [JSONValue])
  func `options with an unknown merge mode are refused`(json: JSONValue) {
    let error = #expect(throws: SyncError.self) { try SyncOptions(json: json) }
    #expect(error.map { "\($0.code)" } == "invalidOptions")
  }

  @Test func `a stored sync with an unknown merge mode is unreadable, not one that overwrites`() {
    let error = #expect(throws: SyncError.self) {
      try SyncState(
        json: JSONSlice(
          parsing:
            #"{"_soupEntryId": 4, "type": "syncUp", "soupName": "s", "options": {"mergeMode": "MIX"}}"#
        ))
    }
    #expect(error?.code == .invalidState)
    #expect(error?.message.contains("4") == true)
  }

  @Test(
    .covers("MS-310"),
    arguments: [
      (SyncError.Code.managerStopped, 900, "SyncManagerStoppedError"),
      (.cannotRestart, 901, "SyncManagerCannotRestartError"),
      (.alreadyRunning, 902, "SyncAlreadyRunningError"), (.doesNotExist, 903, "SyncNotExistError"),
      (.ghostsNeedSyncDown, 904, "SyncManagerCanOnlyRunCleanGhostsForSyncDown"),
    ])
  func `the manager's errors have the platform's numbers and texts`(
    code: SyncError.Code, number: Int, text: String
  ) {
    let error = SyncError(code, "…")
    #expect(error.number == number && error.text == text)
    #expect(SyncError.domain == "com.salesforce.MobileSync.ErrorDomain")
    #expect(SyncError(.store, "…").number == nil)
  }

  @Test(
    .covers("MS-75"),
    arguments: [
      ("true", true), ("1", true), (#""1""#, true), (#""true""#, true), ("false", false),
      ("0", false), ("null", false), (#""yes""#, false), ("2", false), ("[]", false),
    ])
  func `flags are read leniently`(text: String, expected: Bool) throws {
    let flags = RecordFlags(
      of: try JSONSlice(parsing: #"{"__local__":\#(text),"__locally_deleted__":\#(text)}"#))
    #expect(flags.local == expected && flags.deleted == expected)
    #expect(!flags.created && !flags.updated)
  }
}
