import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SoqlSyncDown
import Testing
import TestSupport

@Suite struct SoqlSyncDownTargetTests {
  private func query(_ soql: String, id: String = "", date: String = "") throws -> String {
    try SoqlSyncDownTarget(query: soql, idFieldName: id, modificationDateFieldName: date).query
  }

  @Test(.covers("BX-66", "MS-105"))
  func `a query is completed with id, date and order`() throws {
    #expect(
      try query("select FirstName, LastName from Contact limit 100")
        == "select Id,LastModifiedDate,FirstName, LastName from Contact order by LastModifiedDate limit 100"
    )
  }

  @Test(
    .covers("MS-105"),
    arguments: [
      "SELECT Id, LastModifiedDate FROM Account  ORDER BY Name",
      "select LastModifiedDate, Name, Id\nfrom Contact where Name like 'from %' order by LastModifiedDate desc",
    ])
  func `a complete query stays byte for byte`(soql: String) throws {
    #expect(try query(soql) == soql)
  }

  @Test(
    .covers("MS-106"),
    arguments: [
      "select Name from Account", "SELECT Id FROM A WHERE B = 'order by' LIMIT 3",
      "select (select Id, LastModifiedDate from Contacts order by Name) from Account",
    ])
  func `completion is idempotent`(soql: String) throws {
    let completed = try query(soql)
    #expect(completed != soql)
    #expect(try query(completed) == completed)
  }

  @Test(.covers("MS-116"))
  func `what a sub-select selects does not complete the query`() throws {
    #expect(
      try query("select Name, (select Id, LastModifiedDate from Contacts) from Account")
        == "select Id,LastModifiedDate,Name, (select Id, LastModifiedDate from Contacts) from Account order by LastModifiedDate"
    )
  }

  @Test(.covers("MS-107"))
  func `custom fields are used for the completion, also from JSON`() throws {
    let expected = "select Key,Changed,Name from X order by Changed"
    #expect(try query("select Name from X", id: "Key", date: "Changed") == expected)
    let target = try SoqlSyncDownTarget(configuration: [
      "type": "soql", "query": "select Name from X", "idFieldName": "Key",
      "modificationDateFieldName": "Changed",
    ])
    #expect(target.query == expected && target.idFieldName == "Key")
  }

  @Test(
    .covers("MS-108"),
    arguments: [
      ("order by LastModifiedDate", true), ("ORDER BY LastModifiedDate", true),
      ("order by lastmodifieddate", true), ("order by LastModifiedDate desc", false),
      ("order by LastModifiedDate, Id", false), ("", true),
    ])
  func `only the date alone counts as sorted`(order: String, expected: Bool) throws {
    let target = try SoqlSyncDownTarget(query: "select Id, LastModifiedDate from T \(order)")
    #expect(target.isSortedByModificationDate == expected)
  }

  @Test(.covers("MS-112", "BX-66"))
  func `a re-sync asks for what changed, in front of the condition`() throws {
    let target = try SoqlSyncDownTarget(
      query: "select Id, LastModifiedDate from Account where Name = 'John' limit 100")
    #expect(
      target.query(since: 1_423_170_723_956)
        == "select Id, LastModifiedDate from Account where LastModifiedDate > 2015-02-05T21:12:03.956+0000 and Name = 'John' order by LastModifiedDate limit 100"
    )
    #expect(target.query(since: -1) == target.query && target.query(since: 0) == target.query)
  }

  @Test(.covers("MS-113"))
  func `alternatives are put in parentheses before the date is added`() throws {
    let target = try SoqlSyncDownTarget(query: "select Id from T where A = 1 or B = 2")
    #expect(
      target.query(since: 1_423_170_723_956)
        == "select LastModifiedDate,Id from T where LastModifiedDate > 2015-02-05T21:12:03.956+0000 and (A = 1 or B = 2) order by LastModifiedDate"
    )
  }

  @Test(.covers("MS-114", "MS-115"))
  func `ghosts are searched by id alone, in order only with a limit`() throws {
    #expect(
      try SoqlSyncDownTarget(query: "SELECT Name FROM Account WHERE Name = 'James Bond'")
        .remoteIdsQuery == "select Id from Account where Name = 'James Bond'")
    #expect(
      try SoqlSyncDownTarget(query: "SELECT Name FROM Account LIMIT 5").remoteIdsQuery
        == "select Id from Account order by LastModifiedDate limit 5")
  }

  @Test(.covers("MS-114"))
  func `ghosts are searched under the query's grouping`() throws {
    #expect(
      try SoqlSyncDownTarget(
        query: "SELECT Id, LastModifiedDate FROM Account WHERE Name != 'a' "
          + "GROUP BY Id, LastModifiedDate HAVING count(Id) > 0 ORDER BY LastModifiedDate"
      ).remoteIdsQuery
        == "select Id from Account where Name != 'a' group by Id, LastModifiedDate "
        + "having count(Id) > 0")
  }

  @Test(.covers("MS-104", "MS-257", "MS-259"))
  func `the stored form names the type and the platform's class`() throws {
    let target = try SoqlSyncDownTarget(
      query: "select Id, LastModifiedDate from T order by LastModifiedDate", maxBatchSize: 500)
    #expect(
      JSONValue.object(target.json) == [
        "query": "select Id, LastModifiedDate from T order by LastModifiedDate",
        "maxBatchSize": 500, "type": "soql", "iOSImpl": "SFSoqlSyncDownTarget", "idFieldName": "Id",
        "modificationDateFieldName": "LastModifiedDate",
      ])
    // MS-266
    #expect(try SoqlSyncDownTarget(configuration: target.json) == target)
  }

  @Test(
    .covers("MS-267"),
    arguments: [[:], ["query": ""], ["query": 5], ["query": "find {x}"]] as [JSONObject])
  func `a target without a query cannot be made`(configuration: JSONObject) {
    #expect {
      try SoqlSyncDownTarget(configuration: configuration)
    } throws: { error in
      (error as? SyncError)?.code == .invalidTarget
        && (error as? SyncError)?.message.contains("'query'") == true
    }
  }

  @Test(
    .covers("MS-109", "BX-66"),
    arguments: [
      (2_000, nil), (5_000, nil), (200, "batchSize=200"), (50, "batchSize=200"),
      (500, "batchSize=500"),
    ] as [(Int, String?)])
  func `the page size is requested only if it is not the server's own`(
    size: Int, header: String?
  ) async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let target = try SoqlSyncDownTarget(query: Device.query, maxBatchSize: size)
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    #expect(org.requests[0].headers["Sforce-Query-Options"] == header)
    #expect(org.lines == ["GET /{v}/query"] && org.requests[0].query["q"] == target.query)
  }

  @Test(.covers("MS-111"))
  func `following pages are fetched as the server names them`() async throws {
    let org = InMemoryOrg()
    for number in 0..<3 { org.create("Account", ["Name": .string("\(number)")]) }
    org.pageSize = 1
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query, maxBatchSize: 200),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    #expect(org.requests.count == 3)
    for request in org.requests.dropFirst() {
      #expect(request.line.hasPrefix("GET /services/data/v66.0/query/01g"))
      #expect(request.headers.isEmpty && request.query.isEmpty)
    }
  }

  @Test(
    arguments: [
      #""nextRecordsUrl":"/services/data/v66.0/query/01g-1""#, #""nextRecordsUrl":"""#,
      #""nextRecordsUrl":null,"done":false"#, #""done":false"#,
    ])
  func `a page that leads nowhere ends the run instead of being taken for the last or for ever`(
    end: String
  ) async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    try await device.download([id])
    org.intervene { number, _ in
      .response(
        status: 200,
        body: number == 1
          ? #"{"totalSize":2,"records":[],"nextRecordsUrl":"/services/data/v66.0/query/01g-1"}"#
          : #"{"totalSize":2,"records":[],\#(end)}"#)
    }
    let target = try SoqlSyncDownTarget(query: Device.query)
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect((error?.cause as? SyncError)?.code == .unexpectedResponse)
    #expect(org.requests.count == 2)
    #expect(try await device.rows().count == 1)
  }

  @Test(arguments: [Int64.min, -1, Int64.max])
  func `a total that no query has predicts no page and ends no process`(
    total: Int64
  ) async throws {
    let target = try SoqlSyncDownTarget(query: Device.query)
    for cursor in ["/q/01g-1", "/q/01g-\(Int64.max)", "/q/01g-\(Int64.min)", "/q/01g-"] {
      let next = target.cursor(after: cursor, pageSize: 1, totalSize: Int(total))
      #expect(next == nil || total == .max)
    }
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    org.intervene { number, _ in
      .response(
        status: 200,
        body: number == 1
          ? #"{"totalSize":\#(total),"done":false,"records":[{"Id":"001000000000001AAA"}],"#
            + #""nextRecordsUrl":"/services/data/v66.0/query/01g-1"}"#
          : #"{"totalSize":1,"done":true,"records":[]}"#)
    }
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(await run.lastState() != nil)
    // No more than the pages that are requested ahead.
    #expect(org.requests.count <= 10)
  }

  @Test func `a page that says that it is the last one is it`() async throws {
    let org = InMemoryOrg()
    org.intervene { _, _ in
      .response(status: 200, body: #"{"done":true,"records":[],"nextRecordsUrl":"/elsewhere"}"#)
    }
    let device = try await Device.open(org)
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    #expect(org.requests.count == 1)
  }

  @Test(.covers("MS-117"))
  func `child records are stored nested as they came`() async throws {
    let org = InMemoryOrg()
    let record =
      #"{"Id":"001","LastModifiedDate":"2015-02-05T21:12:03.956+0000","Contacts":{"totalSize":1,"done":true,"records":[{"Id":"003"}]}}"#
    org.intervene { _, _ in
      .response(status: 200, body: #"{"totalSize":1,"done":true,"records":[\#(record)]}"#)
    }
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: "select Id, (select Id from Contacts) from Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    let row = try #require(try await device.rows().first)
    #expect(row["Contacts"]?["records"]?[0]?["Id"] == "003")
  }

  @Test(.covers("MS-117"))
  func `children that the server puts on pages of their own are stored with their parent`()
    async throws
  {
    let org = InMemoryOrg()
    org.relate("Contacts", parent: "Account", child: "Contact", by: "AccountId")
    org.setChildPageSize(2)
    for count in [5, 0, 2] {
      let id = org.create("Account", ["Name": .string("\(count)")])
      for number in 0..<count {
        org.create("Contact", ["AccountId": .string(id), "LastName": .string("L\(number)")])
      }
    }
    let device = try await Device.open(org)
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(
        query: "select Name, (select Id, LastName from Contacts) from Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    for row in try await device.rows() {
      let children = row["Contacts"]?["records"]?.array ?? []
      #expect("\(children.count)" == row["Name"]?.string)
      #expect(Set(children.compactMap { $0["LastName"]?.string }).count == children.count)
      if !children.isEmpty { #expect(row["Contacts"]?["done"] == true) }
      #expect(row["Contacts"]?["nextRecordsUrl"]?.string == nil)
    }
  }

  @Test(.covers("MS-117"))
  func `lists in lists are completed, and one that leads nowhere is an error`() async throws {
    let pages = [
      "/a-0":
        #"{"done":true,"records":[{"Id":"1","nextRecordsUrl":"a text","B":{"done":true,"records":[{"Id":"2","C":{"totalSize":3,"done":false,"nextRecordsUrl":"/c-1","records":[{"Id":"3"}]}}]}}]}"#,
      "/c-1": #"{"done":false,"nextRecordsUrl":"/c-2","records":[{"Id":"4"}]}"#,
      "/c-2": #"{"done":true,"records":[{"Id":"5"}]}"#,
      "/lost":
        #"{"done":true,"records":[{"Id":"1","B":{"done":false,"nextRecordsUrl":null,"records":[]}}]}"#,
      "/circle":
        #"{"done":true,"records":[{"Id":"1","B":{"done":false,"nextRecordsUrl":"/r-1","records":[]}}]}"#,
      "/r-1": #"{"done":false,"nextRecordsUrl":"/r-2","records":[]}"#,
      "/r-2": #"{"done":false,"nextRecordsUrl":"/r-1","records":[]}"#,
    ]
    let org = InMemoryOrg()
    org.intervene { _, request in
      .response(
        status: 200,
        body: pages.first { request.line.hasSuffix($0.key) }?.value ?? "{}")
    }
    let device = try await Device.open(org)
    let context = SyncContext(
      store: device.store, soupName: Device.soup, mergeMode: .overwrite, sender: org)
    let records = try await IdQuery.allRecords(of: RestRequest(path: "/a-0"), in: context)
    let inner = records[0]["B"]?["records"]?[0]?["C"]
    #expect(inner?["records"]?.elements.compactMap { $0["Id"]?.string } == ["3", "4", "5"])
    #expect(inner?["done"]?.bool == true && inner?["totalSize"]?.int64 == 3)
    #expect(records[0]["nextRecordsUrl"]?.string == "a text")
    for path in ["/lost", "/circle"] {
      let error = await #expect(throws: SyncError.self) {
        try await IdQuery.allRecords(of: RestRequest(path: path), in: context)
      }
      #expect(error?.code == .unexpectedResponse)
    }
  }

  @Test(
    .covers("MS-283"),
    arguments: [
      "select id, name, lastmodifieddate from Account order by LASTMODIFIEDDATE",
      "SELECT a.Id, a.LastModifiedDate FROM Account a ORDER BY a.LastModifiedDate",
      "SELECT Account.Id, Account.LastModifiedDate FROM Account ORDER BY LastModifiedDate",
    ])
  func `a field that is selected in other letters, or with its object, is not added again`(
    soql: String
  ) throws {
    let target = try SoqlSyncDownTarget(query: soql)
    #expect(target.query == soql && target.isSortedByModificationDate)
  }
}
