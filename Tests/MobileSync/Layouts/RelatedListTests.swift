import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// Which queries and indexes follow from a layout and a description?
@Suite struct RelatedListTests {
  private static let layout = """
    {"id": "00h", "relatedLists": [
      {"name": "Contacts", "label": "Contacts", "sobject": "Contact", "field": "AccountId", "limitRows": 5,
       "columns": [{"name": "Name"}, {"name": "Owner.Alias"}, {"name": "toLabel(Level__c)"}],
       "sort": [{"column": "toLabel(Level__c)", "ascending": false}, {"column": "Name", "ascending": true}]},
      {"name": "ActivityHistories", "label": "History", "sobject": "ActivityHistory", "field": null, "limitRows": 0,
       "columns": [{"name": "Subject"}], "sort": []},
      {"name": "Bad", "sobject": "Contact", "field": "AccountId", "columns": [{"name": "Name FROM User"}]},
      {"name": "Bad); DELETE", "sobject": "Contact", "field": "AccountId", "columns": [{"name": "Name"}]},
      {"name": "Empty", "sobject": "Contact", "field": "AccountId", "columns": []}]}
    """

  private func lists(_ text: String = layout) throws -> [RelatedList] {
    RelatedList.all(inLayout: try JSONSlice(parsing: Array(text.utf8)))
  }

  @Test(.covers("BX-113"))
  func `a layout gives the query of each related list`() throws {
    let lists = try lists()
    #expect(lists.map(\.name) == ["Contacts", "ActivityHistories"])
    #expect(
      try lists[0].query(parentType: "Account", parentId: "001'x")
        == "select Id, Name, Owner.Alias, toLabel(Level__c) from Contact where AccountId = '001\\'x' "
        + "order by Level__c desc, Name limit 5")
    #expect(
      try lists[1].query(parentType: "Account", parentId: "001")
        == "select Id, (select Id, Subject from ActivityHistories) from Account where Id = '001'")
    #expect(throws: RestError.self) {
      try lists[1].query(parentType: "Account where", parentId: "001")
    }
    #expect(try self.lists("{\"layouts\": [\(Self.layout)]}") == lists)
    #expect(try self.lists("{}").isEmpty)
  }

  @Test(.covers("BX-113"))
  func `the same list is a query of a soup with the suggested indexes`() async throws {
    let list = try #require(try lists().first)
    #expect(
      list.soupIndices.map(\.path) == ["Id", "AccountId", "Level__c", "__local__", "__sync_id__"])
    let spec = try #require(try list.query(soupName: "contacts", parentId: "001"))
    #expect(spec.indexPath == "AccountId" && spec.orderPath == "Level__c" && spec.pageSize == 5)
    #expect(try lists()[1].query(soupName: "contacts", parentId: "001") == nil)
  }

  @Test(.covers("BX-113"))
  func `a description gives the indexes of a soup`() throws {
    let description = try JSONSlice(
      parsing: Array(
        """
        {"fields": [{"name": "Id", "type": "id"}, {"name": "Name", "type": "string", "nameField": true},
          {"name": "AccountId", "type": "reference"}, {"name": "Key__c", "type": "string", "externalId": true},
          {"name": "Phone", "type": "phone"}, {"name": "LastModifiedDate", "type": "datetime"}]}
        """.utf8))
    let all = SoupIndex.suggested(forDescription: description)
    #expect(
      all.map(\.path) == [
        "Id", "Name", "AccountId", "Key__c", "LastModifiedDate", "__local__", "__sync_id__",
      ])
    let some = SoupIndex.suggested(forDescription: description, fields: ["Name", "Phone"])
    #expect(some.map(\.path) == ["Id", "Name", "__local__", "__sync_id__"])
  }
}
