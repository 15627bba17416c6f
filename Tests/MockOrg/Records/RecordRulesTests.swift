import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct RecordRulesTests {
  @Test func `a record that is created can be read with all its fields`() async throws {
    let org = try OrgUnderTest()
    let created = await org.send("POST", "/sobjects/Account", #"{"Name":"Acme","phone":" 12 "}"#)
    #expect(created.status == 201)
    #expect(created.json?["success"]?.bool == true)
    #expect(created.json?["errors"]?.count == 0)
    #expect(created.id.utf8.count == 18)
    #expect(created.header("Location") == "/services/data/v66.0/sobjects/Account/\(created.id)")

    let read = await org.send("GET", "/sobjects/Account/\(created.id)")
    #expect(read.status == 200)
    #expect(read.json?["attributes"]?["type"]?.string == "Account")
    #expect(
      read.json?["attributes"]?["url"]?.string
        == "/services/data/v66.0/sobjects/Account/\(created.id)")
    #expect(read.json?["Name"]?.string == "Acme")
    // Blanks around a text fall away, and names of fields have no case.
    #expect(read.json?["Phone"]?.string == "12")
    #expect(read.json?["Fax"]?.isNull == true)
    #expect(read.json?["IsDeleted"]?.bool == false)
    #expect(read.json?["OwnerId"]?.string == org.org.userID)
    #expect(read.json?["CreatedById"]?.string == org.org.userID)
    #expect(read.json?["CreatedDate"]?.string == "2026-05-15T12:00:00.000+0000")
    #expect(read.json?["SystemModstamp"]?.string == "2026-05-15T12:00:00.000+0000")
  }

  @Test func `an update changes the fields it names and the stamps`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "Acme", "Phone": "1"])
    org.clock.advance(by: .seconds(90))
    let updated = await org.send("PATCH", "/sobjects/Account/\(id)", #"{"Phone":null}"#)
    #expect(updated.status == 204)
    #expect(updated.text == "")
    let read = await org.send("GET", "/sobjects/Account/\(id)")
    #expect(read.json?["Phone"]?.isNull == true)
    #expect(read.json?["Name"]?.string == "Acme")
    #expect(read.json?["CreatedDate"]?.string == "2026-05-15T12:00:00.000+0000")
    #expect(read.json?["LastModifiedDate"]?.string == "2026-05-15T12:01:30.000+0000")
    #expect(read.json?["SystemModstamp"]?.string == "2026-05-15T12:01:30.000+0000")
  }

  @Test(arguments: [
    (#"{}"#, "REQUIRED_FIELD_MISSING", "Required fields are missing: [LastName]"),
    (#"{"LastName":""}"#, "REQUIRED_FIELD_MISSING", "Required fields are missing: [LastName]"),
    (
      #"{"LastName":"x","Foo":1}"#, "INVALID_FIELD",
      "No such column 'Foo' on sobject of type Contact"
    ),
    (
      #"{"LastName":"x","Name":"y"}"#, "INVALID_FIELD_FOR_INSERT_UPDATE",
      "Unable to create/update fields: Name. Please check the security settings of this field and "
        + "verify that it is read/write for your profile or permission set."
    ),
    (
      #"{"LastName":"x","Email":"nobody"}"#, "INVALID_EMAIL_ADDRESS",
      "Email: invalid email address: nobody"
    ),
    (
      #"{"LastName":"x","AccountId":"001"}"#, "MALFORMED_ID",
      "Account ID: id value of incorrect type: 001"
    ),
    (
      #"{"LastName":"x","AccountId":"001000000000000AAA"}"#, "INVALID_CROSS_REFERENCE_KEY",
      "invalid cross reference id"
    ),
    (
      #"{"LastName":"x","Birthdate":"1.5.2026"}"#, "JSON_PARSER_ERROR",
      "Cannot deserialize instance of date from VALUE_STRING value 1.5.2026 or request may be missing "
        + "a required field at [line:1, column:29]"
    ),
    (
      #"{"LastName":["x"]}"#, "JSON_PARSER_ERROR",
      "Cannot deserialize instance of string from START_ARRAY value [ or request may be missing a "
        + "required field at [line:1, column:13]"
    ),
    (
      #"{"LastName":"x","MailingGeocodeAccuracy":"Somewhere"}"#,
      "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
      "Mailing Geocode Accuracy: bad value for restricted picklist field: Somewhere"
    ),
  ])
  func `a contact that breaks a rule is refused`(
    body: String, code: String, message: String
  ) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("POST", "/sobjects/Contact", body)
    #expect(reply.status == 400)
    #expect(reply.errorCode == code)
    #expect(reply.message == message)
    #expect(try await org.org.count("Contact") == 0)
  }

  @Test func `a text is refused beyond its length and taken up to it`() async throws {
    let org = try OrgUnderTest()
    let long = String(repeating: "é", count: 81)
    let refused = await org.send("POST", "/sobjects/Contact", #"{"LastName":"\#(long)"}"#)
    #expect(refused.errorCode == "STRING_TOO_LONG")
    #expect(refused.message == "Last Name: data value too large: \(long) (max length=80)")
    #expect(refused.json?[0]?["fields"]?[0]?.string == "LastName")
    let taken = await org.send("POST", "/sobjects/Contact", #"{"LastName":"\#(long.dropLast())"}"#)
    #expect(taken.status == 201)
  }

  @Test func `numbers keep to the scale and range of their field`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made(
      "Opportunity",
      [
        "Name": "o", "StageName": "Prospecting", "CloseDate": "2026-06-01", "Amount": 10.005,
        "TotalOpportunityQuantity": "3.5",
      ])
    let read = await org.send("GET", "/sobjects/Opportunity/\(id)")
    #expect(read.json?["Amount"]?.double == 10.01)
    #expect(read.json?["TotalOpportunityQuantity"]?.double == 3.5)
    let large = await org.send("PATCH", "/sobjects/Opportunity/\(id)", #"{"Amount":1e17}"#)
    #expect(large.errorCode == "NUMBER_OUTSIDE_VALID_RANGE")
    let fraction = await org.send(
      "POST", "/sobjects/Account", #"{"Name":"x","NumberOfEmployees":1.5}"#)
    #expect(fraction.errorCode == "JSON_PARSER_ERROR")
  }

  @Test func `a datetime is kept in UTC and whole seconds`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made(
      "Task", ["Subject": "t", "ReminderDateTime": "2026-05-01T10:00:00.750+02:00"])
    let read = await org.send("GET", "/sobjects/Task/\(id)?fields=ReminderDateTime")
    #expect(read.json?["ReminderDateTime"]?.string == "2026-05-01T08:00:00.000+0000")
    #expect(read.json?["Id"]?.string == id)
  }

  @Test func `a person is called by both names`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Contact", ["FirstName": "Ada", "LastName": "Byron"])
    try await org.org.update("Contact", id: id, ["LastName": "Lovelace"])
    let read = await org.send("GET", "/sobjects/Contact/\(id)?fields=Name")
    #expect(read.json?["Name"]?.string == "Ada Lovelace")
  }

  @Test func `an address is shown with its parts`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made(
      "Account", ["Name": "x", "BillingCity": "Oslo", "BillingPostalCode": "0150"])
    let read = await org.send("GET", "/sobjects/Account/\(id)?fields=BillingAddress")
    #expect(read.json?["BillingAddress"]?["city"]?.string == "Oslo")
    #expect(read.json?["BillingAddress"]?["postalCode"]?.string == "0150")
    #expect(read.json?["BillingAddress"]?["street"]?.isNull == true)
    let refused = await org.send("PATCH", "/sobjects/Account/\(id)", #"{"BillingAddress":{}}"#)
    #expect(refused.errorCode == "INVALID_FIELD_FOR_INSERT_UPDATE")
  }

  @Test func `both forms of an id name the same record, in whatever case the long one comes`()
    async throws
  {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x"])
    for form in [String(id.prefix(15)), id, id.lowercased(), id.uppercased()] {
      #expect(await org.send("GET", "/sobjects/Account/\(form)").status == 200, "\(form)")
    }
    let contact = try await org.made(
      "Contact", ["LastName": "x", "AccountId": .string(String(id.prefix(15)))])
    let read = await org.send("GET", "/sobjects/Contact/\(contact)")
    #expect(read.json?["AccountId"]?.string == id)
  }

  @Test func `an org has the standard price book from the start, as every org`() async throws {
    let org = try OrgUnderTest()
    let found = await org.query("SELECT Name, IsActive FROM Pricebook2 WHERE IsStandard = true")
    #expect(found.json?["totalSize"]?.int64 == 1)
    #expect(found.json?["records"]?[0]?["Name"]?.string == "Standard Price Book")
  }

  @Test func `an entry of a price book has the name and the code of its product`() async throws {
    let org = try OrgUnderTest()
    let product = try await org.made("Product2", ["Name": "Soap", "ProductCode": "S1"])
    let book = try #require(
      await org.query("SELECT Id FROM Pricebook2").json?["records"]?[0]?["Id"]?.string)
    let entry = try await org.made(
      "PricebookEntry",
      ["Product2Id": .string(product), "Pricebook2Id": .string(book), "UnitPrice": 80])
    let found = await org.query("SELECT Name, ProductCode FROM PricebookEntry WHERE Name = 'soap'")
    #expect(found.json?["records"]?[0]?["ProductCode"]?.string == "S1")
    let read = await org.send("GET", "/sobjects/PricebookEntry/\(entry)")
    #expect(read.json?["Name"]?.string == "Soap")
  }

  @Test func `what is not there is not found, and what was deleted says so`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x"])
    #expect(await org.send("GET", "/sobjects/Nope").errorCode == "NOT_FOUND")
    #expect(await org.send("GET", "/sobjects/Account/nope").status == 404)
    let nowhere = await org.send("GET", "/sobjects/Account/001000000000000AAA")
    #expect(nowhere.status == 404)
    #expect(nowhere.errorCode == "NOT_FOUND")
    #expect(nowhere.message == "The requested resource does not exist")
    for (method, body) in [("PATCH", #"{"Name":"y"}"#), ("DELETE", nil)] {
      let reply = await org.send(method, "/sobjects/Account/001000000000000AAA", body)
      #expect(reply.status == 404)
      #expect(reply.errorCode == "INVALID_CROSS_REFERENCE_KEY")
      #expect(reply.message == "invalid cross reference id")
    }
    #expect(await org.send("DELETE", "/sobjects/Account/\(id)").status == 204)
    for (method, body) in [("PATCH", #"{"Name":"y"}"#), ("DELETE", nil)] {
      let reply = await org.send(method, "/sobjects/Account/\(id)", body)
      #expect(reply.status == 404)
      #expect(reply.errorCode == "ENTITY_IS_DELETED")
      #expect(reply.message == "entity is deleted")
    }
    let child = await org.send(
      "POST", "/sobjects/Contact", #"{"LastName":"x","AccountId":"\#(id)"}"#)
    #expect(child.errorCode == "ENTITY_IS_DELETED")
    #expect(await org.query("SELECT Id FROM Account").json?["totalSize"]?.int64 == 0)
    let all = await org.query("SELECT Id, IsDeleted FROM Account", all: true)
    #expect(all.json?["records"]?[0]?["IsDeleted"]?.bool == true)
  }

  @Test func `deleting a parent takes its dependents along and sets the others free`() async throws
  {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "x"])
    let child = try await org.made("Account", ["Name": "c", "ParentId": .string(account)])
    let contact = try await org.made("Contact", ["LastName": "x", "AccountId": .string(account)])
    #expect(await org.send("DELETE", "/sobjects/Account/\(account)").status == 204)
    #expect(await org.send("GET", "/sobjects/Contact/\(contact)").errorCode == "NOT_FOUND")
    let left = await org.send("GET", "/sobjects/Account/\(child)")
    #expect(left.json?["ParentId"]?.isNull == true)
  }

  @Test func `a parent with records that hold it is not deleted, and nothing else is`() async throws
  {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "x"])
    let contact = try await org.made("Contact", ["LastName": "x", "AccountId": .string(account)])
    _ = try await org.made("Case", ["AccountId": .string(account)])
    let reply = await org.send("DELETE", "/sobjects/Account/\(account)")
    #expect(reply.errorCode == "DELETE_FAILED")
    #expect(await org.send("GET", "/sobjects/Account/\(account)").status == 200)
    #expect(await org.send("GET", "/sobjects/Contact/\(contact)").status == 200)
  }

  @Test func `a conditional update is refused once the record has changed`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x"])
    let before = ["if-unmodified-since": "Fri, 15 May 2026 11:59:59 GMT"]
    let at = ["if-unmodified-since": "Fri, 15 May 2026 12:00:00 GMT"]
    let path = "/sobjects/Account/\(id)"
    let refused = await org.send("PATCH", path, #"{"Name":"y"}"#, headers: before)
    #expect(refused.status == 412)
    #expect(await org.send("PATCH", path, #"{"Name":"y"}"#, headers: at).status == 204)
    let odd = await org.send(
      "PATCH", path, #"{"Name":"z"}"#, headers: ["if-unmodified-since": "yesterday"])
    #expect(odd.status == 400)
    #expect(await org.send("GET", path).json?["Name"]?.string == "y")
  }

  @Test func `stages and statuses say what they say on the platform`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made(
      "Opportunity",
      ["Name": "o", "StageName": "Closed Won", "CloseDate": "2026-11-30", "Amount": 50])
    let read = await org.send("GET", "/sobjects/Opportunity/\(id)")
    #expect(read.json?["IsWon"]?.bool == true)
    #expect(read.json?["Probability"]?.double == 100)
    #expect(read.json?["Fiscal"]?.string == "2026 4")
    let number = try await org.made("Case", ["Subject": "c"])
    let made = await org.send("GET", "/sobjects/Case/\(number)")
    #expect(made.json?["CaseNumber"]?.string == "00001001")
    #expect(made.json?["Status"]?.string == "New")
    try await org.org.update("Case", id: number, ["Status": "Closed"])
    let closed = await org.send("GET", "/sobjects/Case/\(number)")
    #expect(closed.json?["IsClosed"]?.bool == true)
    #expect(closed.json?["ClosedDate"]?.string == "2026-05-15T12:00:00.000+0000")
  }

  @Test(arguments: [
    (
      #""Birthdate":"1600-01-01""#, "FIELD_INTEGRITY_EXCEPTION",
      "Birthdate: invalid date: Sat Jan 01 00:00:00 GMT 1600"
    ),
    (
      #""Birthdate":"20013-02-03""#, "FIELD_INTEGRITY_EXCEPTION",
      "Birthdate: invalid date: Sun Feb 03 00:00:00 GMT 20013"
    ),
    (
      #""Birthdate":"1600-02-30""#, "JSON_PARSER_ERROR",
      "Cannot deserialize instance of date from VALUE_STRING value 1600-02-30 or request may be "
        + "missing a required field at [line:1, column:29]"
    ),
    (
      #""MailingLatitude":91"#, "NUMBER_OUTSIDE_VALID_RANGE",
      "Mailing Latitude: value outside of valid range on numeric field: 91.0"
    ),
    (
      #""MailingLongitude":-181"#, "NUMBER_OUTSIDE_VALID_RANGE",
      "Mailing Longitude: value outside of valid range on numeric field: -181.0"
    ),
  ])
  func `no date and no place lies beyond the world's end`(
    member: String, code: String, message: String
  ) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("POST", "/sobjects/Contact", #"{"LastName":"x",\#(member)}"#)
    #expect(reply.status == 400)
    #expect(reply.errorCode == code)
    #expect(reply.message == message)
  }

  @Test func `date and time stand with a T between them`() async throws {
    let org = try OrgUnderTest()
    for (text, status) in [("2026-05-15T10:00:00Z", 201), ("2026-05-15 10:00:00", 400)] {
      let reply = await org.send(
        "POST", "/sobjects/Event",
        #"{"Subject":"x","DurationInMinutes":5,"ActivityDateTime":"\#(text)"}"#)
      #expect(reply.status == status, "\(reply.text)")
    }
  }
}
