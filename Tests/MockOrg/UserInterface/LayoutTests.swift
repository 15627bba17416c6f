import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct LayoutTests {
  @Test func `a layout shows every field that a page can show, once`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", "/sobjects/Contact/describe/layouts")
    let layout = try #require(reply.json?["layouts"]?[0])
    var values: [String] = []
    for section in layout["detailLayoutSections"].map({ Array($0.elements) }) ?? [] {
      for row in section["layoutRows"].map({ Array($0.elements) }) ?? [] {
        for item in row["layoutItems"].map({ Array($0.elements) }) ?? [] {
          values += item["layoutComponents"]?.elements.compactMap { $0["value"]?.string } ?? []
        }
      }
    }
    #expect(values.count == Set(values).count)
    #expect(
      Set(values).isSuperset(of: ["FirstName", "LastName", "Email", "MailingCity", "AccountId"]))
    #expect(!values.contains("MailingAddress") && !values.contains("SystemModstamp"))
    let mapping = reply.json?["recordTypeMappings"]?[0]
    #expect(mapping?["layoutId"]?.string == layout["id"]?.string)
    #expect(mapping?["recordTypeId"]?.string == "012000000000000AAA")
    let one = await org.send("GET", "/sobjects/Contact/describe/layouts/012000000000000AAA")
    #expect(one.json?["id"]?.string == layout["id"]?.string)
    #expect(
      await org.send("GET", "/sobjects/Contact/describe/layouts/012000000000009AAA").status == 404)
  }

  @Test func `compact layouts begin with the name`() async throws {
    let org = try OrgUnderTest()
    let primary = await org.send("GET", "/sobjects/Account/describe/compactLayouts/primary")
    #expect(primary.json?["fieldItems"]?[0]?["layoutComponents"]?[0]?["value"]?.string == "Name")
    #expect(primary.json?["objectType"]?.string == "Account")
    let all = await org.send("GET", "/sobjects/Account/describe/compactLayouts")
    #expect(all.json?["defaultCompactLayoutId"]?.string == primary.json?["id"]?.string)
    let several = await org.send("GET", "/compactLayouts?q=Account,Contact")
    #expect(several.json?.members.map(\.key) == ["Account", "Contact"])
    #expect(await org.send("GET", "/compactLayouts").status == 400)
  }

  @Test func `record types appear in descriptions and layouts`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made(
      "RecordType",
      ["Name": "Partner", "DeveloperName": "Partner", "SobjectType": "Account", "IsActive": true])
    let describe = await org.send("GET", "/sobjects/Account/describe")
    let types = describe.json?["recordTypeInfos"]
    #expect(types?[0]?["recordTypeId"]?.string == id)
    #expect(types?[0]?["defaultRecordTypeMapping"]?.bool == true)
    #expect(types?[1]?["master"]?.bool == true)
    #expect(types?[1]?["available"]?.bool == false)
    let layout = await org.send("GET", "/ui-api/layout/Account?recordTypeId=\(id)")
    #expect(layout.json?["recordTypeId"]?.string == id)
    let made = await org.send(
      "POST", "/sobjects/Account", #"{"Name":"x","RecordTypeId":"\#(id)"}"#)
    #expect(made.status == 201)
  }

  // MARK: User Interface API

  @Test func `a page's layout follows its parameters`() async throws {
    let org = try OrgUnderTest()
    let full = await org.send(
      "GET", "/ui-api/layout/Account?formFactor=Medium&layoutType=Full&mode=Edit")
    #expect(full.json?["objectApiName"]?.string == "Account")
    #expect(full.json?["mode"]?.string == "Edit")
    let component = full.json?["sections"]?[0]?["layoutRows"]?[0]?["layoutItems"]?[0]?[
      "layoutComponents"]?[0]
    #expect(component?["apiName"]?.string == "Name")
    let compact = await org.send("GET", "/ui-api/layout/Account?layoutType=Compact")
    #expect(compact.json?["sections"]?.count == 1)
    let bad = await org.send("GET", "/ui-api/layout/Account?mode=Dream")
    #expect(bad.errorCode == "ILLEGAL_QUERY_PARAMETER_VALUE")
    #expect(await org.send("GET", "/ui-api/layout/Nothing").status == 404)
  }

  @Test func `an object's info has its fields by name`() async throws {
    let org = try OrgUnderTest()
    let info = await org.send("GET", "/ui-api/object-info/Contact")
    #expect(
      info.json?["nameFields"]?.elements.compactMap(\.string) == ["FirstName", "LastName", "Name"])
    let field = info.json?["fields"]?["AccountId"]
    #expect(field?["dataType"]?.string == "Reference")
    #expect(field?["referenceToInfos"]?[0]?["apiName"]?.string == "Account")
    #expect(info.json?["fields"]?["MailingCity"]?["compoundComponentName"]?.string == "city")
    let batch = await org.send("GET", "/ui-api/object-info/batch/Account,Nothing")
    #expect(batch.json?["hasErrors"]?.bool == true)
    #expect(batch.json?["results"]?[0]?["statusCode"]?.int64 == 200)
    #expect(batch.json?["results"]?[1]?["statusCode"]?.int64 == 404)
    let values = await org.send(
      "GET", "/ui-api/object-info/Account/picklist-values/012000000000000AAA/Rating")
    #expect(
      values.json?["values"]?.elements.compactMap { $0["value"]?.string } == [
        "Hot", "Warm", "Cold",
      ])
  }

  @Test func `a record is made, read with a parent, changed and deleted`() async throws {
    let org = try OrgUnderTest()
    let account = await org.send(
      "POST", "/ui-api/records", #"{"apiName":"Account","fields":{"Name":"Acme","Rating":"Hot"}}"#)
    #expect(account.status == 201)
    #expect(account.json?["fields"]?["Name"]?["value"]?.string == "Acme")
    let contact = try await org.made(
      "Contact", ["LastName": "Roe", "AccountId": .string(account.id)])
    let read = await org.send(
      "GET",
      "/ui-api/records/\(contact)?fields=Contact.LastName,Contact.Account.Name&optionalFields=Contact.Nope"
    )
    #expect(read.json?["fields"]?["LastName"]?["value"]?.string == "Roe")
    #expect(
      read.json?["fields"]?["Account"]?["value"]?["fields"]?["Name"]?["value"]?.string == "Acme")
    #expect(read.json?["fields"]?["Account"]?["displayValue"]?.string == "Acme")
    let changed = await org.send(
      "PATCH", "/ui-api/records/\(contact)", #"{"fields":{"LastName":"Doe"}}"#)
    #expect(changed.json?["fields"]?["LastName"]?["value"]?.string == "Doe")
    #expect(changed.json?["lastModifiedDate"]?.string == "2026-05-15T12:00:00.000Z")
    let none = await org.send("GET", "/ui-api/records/\(contact)")
    #expect(none.errorCode == "MISSING_PARAMETER")
    let batch = await org.send(
      "GET", "/ui-api/records/batch/\(contact),003000000000000AAA?fields=Contact.Name")
    #expect(batch.json?["results"]?[0]?["result"]?["id"]?.string == contact)
    #expect(batch.json?["results"]?[1]?["statusCode"]?.int64 == 404)
    let whole = await org.send(
      "GET", "/ui-api/record-ui/\(contact)?layoutTypes=Full,Compact&modes=View")
    #expect(whole.json?["records"]?[contact]?["apiName"]?.string == "Contact")
    #expect(
      whole.json?["layouts"]?["Contact"]?["012000000000000AAA"]?["Compact"]?["View"]?["id"] != nil)
    let defaults = await org.send("GET", "/ui-api/record-defaults/create/Account")
    #expect(defaults.json?["record"]?["fields"]?["OwnerId"]?["value"]?.string == org.org.userID)
    #expect(await org.send("DELETE", "/ui-api/records/\(contact)").status == 204)
    #expect(
      await org.send("GET", "/ui-api/records/\(contact)?fields=Contact.Name").status == 404)
  }

  // MARK: Recent items, limits, search resources

  @Test func `recent items are those that the user saw last`() async throws {
    let org = try OrgUnderTest()
    let first = await org.send("POST", "/sobjects/Account", #"{"Name":"first"}"#)
    let second = await org.send("POST", "/sobjects/Contact", #"{"LastName":"second"}"#)
    _ = await org.send("GET", "/sobjects/Account/\(first.id)")
    let recent = await org.send("GET", "/recent?limit=5")
    #expect(recent.json?.elements.compactMap { $0["Id"]?.string } == [first.id, second.id])
    #expect(recent.json?[0]?["attributes"]?["type"]?.string == "Account")
    let account = await org.send("GET", "/sobjects/Account")
    #expect(account.json?["recentItems"]?[0]?["Name"]?.string == "first")
    #expect(account.json?["recentItems"]?.count == 1)
    _ = await org.send("DELETE", "/sobjects/Account/\(first.id)")
    #expect(await org.send("GET", "/recent").json?.count == 1)
    #expect(await org.send("GET", "/recent?limit=0").status == 400)
  }

  @Test func `limits go down with use`() async throws {
    let org = try OrgUnderTest { $0.dailyRequests = 100 }
    let limits = await org.send("GET", "/limits")
    #expect(limits.json?["DailyApiRequests"]?["Max"]?.int64 == 100)
    #expect(limits.json?["DataStorageMB"]?["Remaining"]?.int64 == 5)
    try await org.made("Account", ["Name": "x"])
    let counts = await org.send("GET", "/limits/recordCount?sObjects=Account")
    #expect(counts.json?["sObjects"]?[0]?["count"]?.int64 == 1)
  }

  @Test func `search resources tell scope, columns and suggestions`() async throws {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "Blue Harbor"])
    let scope = await org.send("GET", "/search/scopeOrder")
    #expect(scope.json?[0]?["type"]?.string == "Account")
    let layout = await org.send("GET", "/search/layout?q=Account,Contact")
    #expect(layout.json?[1]?["objectType"]?.string == "Contact")
    #expect(layout.json?[0]?["searchColumns"]?[0]?["name"]?.string == "Name")
    let suggested = await org.send("GET", "/search/suggestions?q=har&sobject=Account")
    #expect(suggested.json?["autoSuggestResults"]?[0]?["Name"]?.string == "Blue Harbor")
    let none = await org.send("GET", "/search/suggestions?q=%25%25&sobject=Account")
    #expect(none.json?["autoSuggestResults"]?.count == 0)
  }
}
