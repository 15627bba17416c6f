import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

@testable import SalesforceMockOrg

@Suite struct SourceFormatTests {
  private func project(_ files: [String: String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (path, text) in files {
      let file = folder.url.appending(path: "force-app/main/default/objects/\(path)")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return folder
  }

  private func field(_ name: String, _ type: String, _ more: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <CustomField xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>\(name)</fullName>
    <label>\(name) label</label><type>\(type)</type>\(more)</CustomField>
    """
  }

  private func trip() throws -> TemporaryFolder {
    try project([
      "Trip__c/Trip__c.object-meta.xml": """
      <CustomObject xmlns="http://soap.sforce.com/2006/04/metadata"><label>Trip</label>
      <pluralLabel>Trips</pluralLabel><nameField><label>Trip No</label><type>AutoNumber</type>
      <displayFormat>T-{000}</displayFormat></nameField></CustomObject>
      """,
      "Trip__c/fields/Stops__c.field-meta.xml": field(
        "Stops__c", "Summary",
        "<summaryForeignKey>Stop__c.Trip__c</summaryForeignKey><summaryOperation>count</summaryOperation>"
      ),
      "Trip__c/fields/Distance__c.field-meta.xml": field(
        "Distance__c", "Summary",
        "<summarizedField>Stop__c.Km__c</summarizedField><summaryForeignKey>Stop__c.Trip__c</summaryForeignKey><summaryOperation>sum</summaryOperation>"
      ),
      "Trip__c/recordTypes/Express.recordType-meta.xml": """
      <RecordType xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>Express</fullName>
      <active>true</active><label>Express trip</label></RecordType>
      """,
      "Stop__c/Stop__c.object-meta.xml":
        "<CustomObject><label>Stop</label><nameField><label>Name</label><type>Text</type></nameField></CustomObject>",
      "Stop__c/fields/Trip__c.field-meta.xml": field(
        "Trip__c", "MasterDetail",
        "<referenceTo>Trip__c</referenceTo><relationshipName>Stops</relationshipName>"),
      "Stop__c/fields/Km__c.field-meta.xml": field(
        "Km__c", "Number", "<precision>6</precision><scale>1</scale><required>true</required>"),
      "Stop__c/fields/Kind__c.field-meta.xml": field(
        "Kind__c", "Picklist",
        """
        <valueSet><restricted>true</restricted><valueSetDefinition><value><fullName>Load</fullName>
        <default>true</default><label>Loading</label></value><value><fullName>Rest</fullName>
        <default>false</default><label>Resting</label></value></valueSetDefinition></valueSet>
        """),
      "Stop__c/fields/Place__c.field-meta.xml": field("Place__c", "Location"),
      "Stop__c/fields/Ship_Address__c.field-meta.xml": field("Ship_Address__c", "Address"),
      "Stop__c/fields/Key__c.field-meta.xml": field(
        "Key__c", "Text", "<length>10</length><externalId>true</externalId><unique>true</unique>"),
      "Account/fields/Tier__c.field-meta.xml": field("Tier__c", "Text", "<length>5</length>"),
    ])
  }

  @Test func `a project's definitions become objects with their rules`() async throws {
    let org = try OrgUnderTest()
    let project = try trip()
    defer { withExtendedLifetime(project) {} }
    let names = try await org.org.load(sourceFormat: project.url)
    #expect(names == ["Account", "Stop__c", "Trip__c"])
    let trip = try await org.made("Trip__c", [:])
    let missing = await org.send("POST", "/sobjects/Stop__c", #"{"Name":"x"}"#)
    #expect(missing.message == "Required fields are missing: [Km__c, Trip__c]")
    let wrong = await org.send(
      "POST", "/sobjects/Stop__c", #"{"Trip__c":"\#(trip)","Km__c":1,"Kind__c":"Fly"}"#)
    #expect(wrong.errorCode == "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")
    let made = await org.send(
      "PATCH", "/sobjects/Stop__c/Key__c/K1",
      #"{"Trip__c":"\#(trip)","Km__c":12.34,"Place__Latitude__s":1,"Place__Longitude__s":2,"#
        + #""Ship_Address__City__s":"Oslo","Ship_Address__CountryCode__s":"NO"}"#)
    #expect(made.status == 201, "\(made.text)")
    let stop = try await org.org.query(
      "SELECT Km__c, Kind__c, Place__c, Ship_Address__c, Trip__r.Name FROM Stop__c "
        + "WHERE Ship_Address__City__s = 'oslo'")
    #expect(stop[0]["Km__c"]?.double == 12.3)
    #expect(stop[0]["Kind__c"]?.string == "Load")
    #expect(stop[0]["Place__c"]?["longitude"]?.double == 2)
    #expect(stop[0]["Ship_Address__c"]?["city"]?.string == "Oslo")
    #expect(stop[0]["Ship_Address__c"]?["countryCode"]?.string == "NO")
    #expect(stop[0]["Trip__r"]?["Name"]?.string == "T-001")
    let long = await org.send("POST", "/sobjects/Account", #"{"Name":"x","Tier__c":"golden"}"#)
    #expect(long.errorCode == "STRING_TOO_LONG")
    let describe = await org.send("GET", "/sobjects/Trip__c/describe")
    #expect(describe.json?["recordTypeInfos"]?[0]?["developerName"]?.string == "Express")
    #expect(describe.json?["childRelationships"]?[0]?["relationshipName"]?.string == "Stops__r")
  }

  @Test func `roll-ups follow every change of the children`() async throws {
    let org = try OrgUnderTest()
    let project = try trip()
    defer { withExtendedLifetime(project) {} }
    try await org.org.load(sourceFormat: project.url)
    let first = try await org.made("Trip__c", [:])
    let second = try await org.made("Trip__c", [:])
    func sums() async throws -> [Double?] {
      try await org.org.query("SELECT Stops__c, Distance__c FROM Trip__c ORDER BY Name").flatMap {
        [$0["Stops__c"]?.double, $0["Distance__c"]?.double]
      }
    }
    #expect(try await sums() == [0, 0, 0, 0])
    let a = try await org.made("Stop__c", ["Trip__c": .string(first), "Km__c": 1.5])
    let b = try await org.made("Stop__c", ["Trip__c": .string(first), "Km__c": 2])
    #expect(try await sums() == [2, 3.5, 0, 0])
    try await org.org.update("Stop__c", id: a, ["Km__c": 4])
    #expect(try await sums() == [2, 6, 0, 0])
    try await org.org.delete("Stop__c", id: b)
    #expect(try await sums() == [1, 4, 0, 0])
    try await org.org.delete("Trip__c", id: first)
    #expect(try await org.org.count("Stop__c") == 0)
    _ = second
  }

  @Test func `a roll-up counts the children that its filters choose, and those that were there`()
    async throws
  {
    let org = try OrgUnderTest()
    let first = try trip()
    defer { withExtendedLifetime(first) {} }
    try await org.org.load(sourceFormat: first.url)
    let trip = try await org.made("Trip__c", [:])
    for (km, kind) in [(1.0, "Load"), (2, "Rest"), (10, "Load")] {
      try await org.made(
        "Stop__c", ["Trip__c": .string(trip), "Km__c": .double(km), "Kind__c": .string(kind)])
    }
    func item(_ field: String, _ operation: String, _ value: String) -> String {
      "<summaryFilterItems><field>Stop__c.\(field)</field><operation>\(operation)</operation>"
        + "<value>\(value)</value></summaryFilterItems>"
    }
    let key =
      "<summaryForeignKey>Stop__c.Trip__c</summaryForeignKey><summarizedField>Stop__c.Km__c</summarizedField>"
    let second = try project([
      "Trip__c/fields/Loads__c.field-meta.xml": field(
        "Loads__c", "Summary",
        key + "<summaryOperation>count</summaryOperation>"
          + item("Kind__c", "equals", "Load, Other")),
      "Trip__c/fields/Far__c.field-meta.xml": field(
        "Far__c", "Summary",
        key + "<summaryOperation>sum</summaryOperation>" + item("Km__c", "greaterThan", "1")
          + item("Kind__c", "notEqual", "")),
    ])
    defer { withExtendedLifetime(second) {} }
    try await org.org.load(sourceFormat: second.url)
    func sums() async throws -> [Double?] {
      let row = try await org.org.query("SELECT Loads__c, Far__c, Stops__c FROM Trip__c")[0]
      return ["Loads__c", "Far__c", "Stops__c"].map { row[$0]?.double }
    }
    #expect(try await sums() == [2, 12, 3])
    let rows = try await org.org.query("SELECT Id FROM Stop__c WHERE Km__c = 2")
    try await org.org.update(
      "Stop__c", id: rows[0]["Id"]?.string ?? "", ["Km__c": 1, "Kind__c": "Load"])
    #expect(try await sums() == [3, 10, 3])
  }

  @Test func `a definition says how open its records are`() async throws {
    let org = try OrgUnderTest()
    let project = try project([
      "Note__c/Note__c.object-meta.xml":
        "<CustomObject><label>Note</label><sharingModel>Private</sharingModel></CustomObject>"
    ])
    defer { withExtendedLifetime(project) {} }
    try await org.org.load(sourceFormat: project.url)
    #expect(org.org.schema.object(named: "Note__c")?.sharing == .private)
  }

  @Test func `what is no definition is refused`() async throws {
    let org = try OrgUnderTest()
    let empty = try TemporaryFolder()
    await #expect(throws: MockOrgError.self) { try await org.org.load(sourceFormat: empty.url) }
    for text in ["<CustomField>", "<Other/>", field("X__c", "Dream")] {
      let folder = try project(["A__c/fields/X__c.field-meta.xml": text])
      let error = await #expect(throws: MockOrgError.self) {
        try await org.org.load(sourceFormat: folder.url)
      }
      #expect(error?.code == .invalidSchema)
    }
  }

  @Test func `a record has one of its object's record types`() async throws {
    let org = try OrgUnderTest()
    let project = try trip()
    defer { withExtendedLifetime(project) {} }
    try await org.org.load(sourceFormat: project.url)
    let usual = try await org.made("Trip__c", [:])
    let rows = try await org.org.query("SELECT RecordType.DeveloperName, RecordTypeId FROM Trip__c")
    #expect(rows[0]["RecordType"]?["DeveloperName"]?.string == "Express")
    let type = try #require(rows[0]["RecordTypeId"]?.string)
    let named = await org.send("POST", "/sobjects/Trip__c", #"{"RecordTypeId":"\#(type)"}"#)
    #expect(named.status == 201)
    let none = await org.send("PATCH", "/sobjects/Trip__c/\(usual)", #"{"RecordTypeId":null}"#)
    #expect(none.status == 204)
    let other = await org.send(
      "POST", "/sobjects/Account", #"{"Name":"x","RecordTypeId":"\#(type)"}"#)
    #expect(other.errorCode == "INVALID_CROSS_REFERENCE_KEY")
    #expect(other.message == "Record Type ID: this ID value isn't valid for the user: \(type)")
  }

  @Test func `picklists share their values, and undefined ones refuse none`()
    async throws
  {
    let org = try OrgUnderTest()
    func picklist(_ name: String, _ set: String) -> String {
      field(
        name, "Picklist",
        "<valueSet><restricted>true</restricted><valueSetName>\(set)</valueSetName></valueSet>")
    }
    let project = try project([
      "Stop__c/Stop__c.object-meta.xml":
        "<CustomObject><label>Stop</label><nameField><label>Name</label><type>Text</type></nameField></CustomObject>",
      "Stop__c/fields/Kind__c.field-meta.xml": picklist("Kind__c", "Kinds"),
      "Stop__c/fields/Other__c.field-meta.xml": picklist("Other__c", "Elsewhere"),
      "Stop__c/fields/Setting__c.field-meta.xml": field("Setting__c", "MetadataRelationship"),
      "../globalValueSets/Kinds.globalValueSet-meta.xml": """
      <GlobalValueSet><customValue><fullName>Load</fullName><default>true</default>
      <label>Loading</label></customValue></GlobalValueSet>
      """,
      "Account/recordTypes/Big.recordType-meta.xml":
        "<RecordType><fullName>Big</fullName><label>Big one</label></RecordType>",
    ])
    defer { withExtendedLifetime(project) {} }
    #expect(try await org.org.load(sourceFormat: project.url) == ["Account", "Stop__c"])
    let good = await org.send("POST", "/sobjects/Stop__c", #"{"Other__c":"Anything"}"#)
    #expect(good.status == 201, "\(good.text)")
    #expect(try await org.org.query("SELECT Kind__c FROM Stop__c")[0]["Kind__c"]?.string == "Load")
    let bad = await org.send("POST", "/sobjects/Stop__c", #"{"Kind__c":"Rest"}"#)
    #expect(bad.errorCode == "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")
    try await org.made("Account", ["Name": "x"])
    let types = try await org.org.query("SELECT RecordType.Name FROM Account")
    #expect(types[0]["RecordType"]?["Name"]?.string == "Big one")
  }

  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func `a definition that is a pipe, or has gigabytes, is refused`(isPipe: Bool) async throws {
    let org = try OrgUnderTest()
    let project = try trip()
    let fields = "force-app/main/default/objects/Trip__c/fields"
    let file = project.url.appending(path: "\(fields)/Late__c.field-meta.xml")
    if isPipe {
      #expect(mkfifo(file.path, 0o600) == 0)
    } else {
      try Data().write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      try handle.truncate(atOffset: 3 << 30)
      try handle.close()
    }
    let error = await #expect(throws: MockOrgError.self) {
      try await org.org.load(sourceFormat: project.url)
    }
    #expect(error?.code == .unreadable)
  }
}
