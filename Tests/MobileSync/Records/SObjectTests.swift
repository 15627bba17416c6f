import MobileSync
import SalesforceSDKCommon
import Testing
import TestSupport

/// Does a record of any list show its id, name and type?
@Suite struct SObjectTests {
  @Test(.covers("MS-306"))
  func `a record of the server has id, name and type`() {
    let record: JSONObject = [
      "attributes": ["type": "Account", "url": "/x"], "Id": "001", "Name": "Acme", "Phone": "1",
    ]
    let object = SObject(record)
    #expect(object.objectId == "001" && object.name == "Acme" && object.objectType == "Account")
    #expect(object.rawData == record)
  }

  @Test(.covers("MS-306"))
  func `what was viewed recently has the type of its record`() {
    let object = SObject([
      "attributes": ["type": "RecentlyViewed"], "Id": "003", "Name": "Ann", "Type": "Contact",
    ])
    #expect(object.objectType == "Contact")
  }

  @Test(.covers("MS-306"))
  func `a record without Id is read by the other names`() {
    let object = SObject(["id": "001", "name": "Acme", "Type": "Account"])
    #expect(object.objectId == "001" && object.name == "Acme" && object.objectType == "Account")
    let empty = SObject([:])
    #expect(empty.objectId == nil && empty.name == nil && empty.objectType == nil)
  }

  @Test(.covers("MS-306"))
  func `records are equal by id, name and content`() {
    let record: JSONObject = ["Id": "001", "Name": "Acme"]
    #expect(SObject(record) == SObject(record))
    #expect(SObject(record) != SObject(["Id": "001", "Name": "Acme", "Phone": "1"]))
    #expect(SObject(record) != SObject(["Id": "002", "Name": "Acme"]))
  }
}
