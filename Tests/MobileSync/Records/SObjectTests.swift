import MobileSync
import SalesforceSDKCommon
import Testing

/// Does a record of any list show its id, name and type?
@Suite struct SObjectTests {
  @Test func `MS-306 a record of the server has id, name and type`() {
    let record: JSONObject = [
      "attributes": ["type": "Account", "url": "/x"], "Id": "001", "Name": "Acme", "Phone": "1",
    ]
    let object = SObject(record)
    #expect(object.objectId == "001" && object.name == "Acme" && object.objectType == "Account")
    #expect(object.rawData == record)
  }

  @Test func `MS-306 what was viewed recently has the type of its record`() {
    let object = SObject([
      "attributes": ["type": "RecentlyViewed"], "Id": "003", "Name": "Ann", "Type": "Contact",
    ])
    #expect(object.objectType == "Contact")
  }

  @Test func `MS-306 a record without Id is read by the other names`() {
    let object = SObject(["id": "001", "name": "Acme", "Type": "Account"])
    #expect(object.objectId == "001" && object.name == "Acme" && object.objectType == "Account")
    let empty = SObject([:])
    #expect(empty.objectId == nil && empty.name == nil && empty.objectType == nil)
  }

  @Test func `MS-306 records are equal by id, name and content`() {
    let record: JSONObject = ["Id": "001", "Name": "Acme"]
    #expect(SObject(record) == SObject(record))
    #expect(SObject(record) != SObject(["Id": "001", "Name": "Acme", "Phone": "1"]))
    #expect(SObject(record) != SObject(["Id": "002", "Name": "Acme"]))
  }
}
