import Foundation
import HTTPTypes
import SalesforceAnalytics
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing
import TestSupport

/// The samples of the guides about requests, files, keys and values, as `Tools/Scripts/samples.py` puts them
/// in.
@Suite struct GuideSamples {
  private let folder: TemporaryFolder
  private let org = TestOrg { request in
    switch request.url.path() {
    case let path where path.hasSuffix("/query") || path.hasSuffix("/search"):
      RestResponse(json: #"{"records":[{"Name":"Acme"}],"done":true,"totalSize":1}"#)
    case let path where path.hasSuffix("/sobjects"):
      RestResponse(
        json: #"[{"success":false,"errors":[{"statusCode":"INVALID_FIELD","message":"m"}]}]"#)
    case let path where path.hasSuffix("/content"): RestResponse(status: 200, body: [1, 2, 3])
    case let path where path.contains("/sobjects/Account/"): RestResponse(status: 404)
    default: RestResponse(status: 201, json: #"{"id":"069A"}"#)
    }
  }

  init() throws { folder = try TemporaryFolder() }

  private func client() async throws -> (RestClient, UserAccount, UserAccountManager) {
    let transport = org.transport()
    let account = org.account()
    let accounts = try await org.manager(transport: transport)
    return (
      RestClient(account: account, accounts: accounts, transport: transport), account, accounts
    )
  }

  @Test func `the samples of requests work`() async throws {
    let (client, account, accounts) = try await client()
    let transport = org.transport()
    let (id, typed) = ("001A", "Acme?")
    // sample: rest-ask
    let request = RestRequest.query("SELECT Id, Name FROM Account", batchSize: 500)
    let page = try await client.send(request).json()
    let names = page["records"]?.elements.compactMap { $0["Name"]?.string } ?? []
    // end of sample
    #expect(names == ["Acme"])
    do {
      // sample: rest-pages
      struct Account: Decodable, Sendable {
        let Name: String
      }
      var all: [Account] = []
      for try await page in client.pages(
        ofModelType: Account.self, for: .query("SELECT Name FROM Account"))
      {
        all += page.records
      }
      // end of sample
      #expect(all.map(\.Name) == ["Acme"])
    }
    // sample: rest-many
    let records = [RestRecord(object: "Account", fields: ["Name": "Acme"])]
    let response = try await client.send(.collectionCreate(records))
    for outcome in try CollectionResult.all(in: response) where !outcome.success {
      print(outcome.errors.map(\.errorCode))
    }
    // end of sample
    // sample: rest-errors
    do {
      _ = try await client.send(.delete(object: "Account", id: id))
    } catch let error as RestError where error.code == .notFound {
      // Another client was faster.
    } catch let error as RestError where error.code.isNetworkFailure {
      // Later, when there is a network.
    }
    // end of sample
    // sample: rest-options
    let options = RestClient.Options(
      retries: RetryPolicy(maxAttempts: 5, maxWait: .seconds(10)),
      observer: { metrics in print(metrics.method, metrics.host, metrics.duration) })
    let patient = RestClient(
      account: account, accounts: accounts, transport: transport, options: options)
    let stopped = patient.cancel { $0.path.hasPrefix("/services/apexrest/") }
    // end of sample
    #expect(stopped == 0)
    let field = try #require(HTTPField.Name("X-Request-Id"))
    // sample: rest-interceptor-use
    let numbered = RestClient(
      account: account, accounts: accounts, transport: transport,
      options: RestClient.Options(interceptors: [RequestNumbers(field: field)]))
    // end of sample
    _ = try await numbered.send(.limits())
    #expect(transport.requests.last?.headers[field]?.isEmpty == false)
    // sample: rest-search
    let sosl = try SOSLBuilder(searchTerm: typed).searchGroup("NAME FIELDS")
      .returning(SOSLReturningBuilder("Account").fields("Id, Name").limit(5))
      .build()
    let found = try await client.send(.search(sosl))
    // end of sample
    #expect(found.isSuccess)
  }

  @Test func `the samples of files work`() async throws {
    let (client, _, _) = try await client()
    let (url, destination, id) = (folder.file("plan.pdf"), folder.file("copy.pdf"), "069A")
    try Data([1, 2, 3]).write(to: url)
    // sample: files-up
    let plan = try UploadBody(file: url)
    let uploaded = try await client.send(
      .uploadFile(plan, name: "plan.pdf", description: "Draft", mimeType: "application/pdf"))
    let fileId = try uploaded.json()["id"]?.string
    // end of sample
    #expect(fileId == "069A")
    // sample: files-form
    var form = MultipartBody()
    form.add("entity_document", text: #"{"Name":"Brochure"}"#, contentType: "application/json")
    form.add(
      "Body", try UploadBody(file: url), fileName: "brochure.pdf", contentType: "application/pdf")
    var insert = RestRequest(method: .post, path: "/{v}/sobjects/Document")
    insert.setBody(form)
    var batch = RestRequest(method: .put, path: "/{v}/jobs/ingest/750A/batches")
    batch.upload = try UploadBody(file: url)
    batch.headers[.contentType] = "text/csv"
    // end of sample
    for request in [insert, batch] { #expect(try await client.send(request).status == 201) }
    do {
      // sample: files-down
      let progress = TransferProgress()
      async let file = client.download(.fileContents(id: id), to: destination, progress: progress)
      for await amounts in progress.updates() {
        print(amounts.received, amounts.toReceive ?? 0)
      }
      let bytes = try await file.bytes
      // end of sample
      #expect(bytes == 3)
    }
    // sample: files-stream
    let size = try await client.withStream(to: .fileContents(id: id)) { stream in
      var size = 0
      for try await piece in stream.body { size += piece.count }
      return size
    }
    // end of sample
    #expect(size == 3)
  }

  // sample: keys-own
  struct ServiceKeys: EncryptionKeyProvider {
    let keys: [KeyLabel: EncryptionKey]

    func encryptionKey(_ label: KeyLabel) throws(EncryptionError) -> EncryptionKey {
      guard let key = keys[label] else { throw EncryptionError(.keyMissing, "no key \(label)") }
      return key
    }
  }
  // end of sample

  @Test func `the samples of keys and values work`() async throws {
    let (_, account, accounts) = try await client()
    let (secrets, folder, video) = (InMemorySecretStore(), folder.url, folder.file("video"))
    try Data(count: 100_000).write(to: video)
    var size = 0
    // sample: keys
    let keys = KeyGenerator(secrets)
    let key = try keys.encryptionKey(KeyLabel("com.example.orders"))
    let encrypted = try Encryptor.encrypt(Array("secret".utf8), using: key)
    let decrypted = try Encryptor.decrypt(encrypted, using: key)
    // end of sample
    #expect(decrypted == Array("secret".utf8))
    #expect(throws: EncryptionError.self) { try ServiceKeys(keys: [:]).encryptionKey(.urlCache) }
    // sample: values
    let stores = KeyValueStores(
      folders: UserFolders(root: folder), keys: keys, accounts: accounts)
    let drafts = try stores.store(named: "drafts", for: account)
    try drafts.saveValue("Hello", forKey: "greeting")
    let greeting = try drafts.readValue(forKey: "greeting")
    // end of sample
    #expect(greeting == "Hello")
    // sample: values-stream
    try drafts.saveFile(video, forKey: "video")
    if let pieces = try drafts.readStream(forKey: "video") {
      for try await piece in pieces { size += piece.count }
    }
    // end of sample
    #expect(size == 100_000)
  }

  @Test func `the samples of analytics work`() async throws {
    let (_, account, accounts) = try await client()
    let (transport, folder) = (org.transport(), folder.url)
    let keys = KeyGenerator(InMemorySecretStore())
    // sample: analytics
    let analytics = SalesforceAnalyticsManager(
      folders: UserFolders(root: folder), keys: keys, accounts: accounts, transport: transport,
      options: AnalyticsOptions(publishMode: .periodic(.seconds(8 * 3_600))))
    let publishing = Task { await analytics.run() }
    // end of sample
    // sample: analytics-event
    await analytics.createAndStoreEvent(
      name: "routeOpened", account: account, className: "RouteView", attributes: ["stops": 12])
    let report = await analytics.publish(for: account)
    // end of sample
    #expect(report.published == 1)
    // sample: analytics-own
    let manager = analytics.manager(for: account)
    let event = try manager?.event {
      $0.name = "routeMap"
      $0.schemaType = .pageView
      $0.page = ["context": "MapView"]
      $0.previousPage = ["context": "RouteView"]
      $0.startTime = 1_700_000_000_000
      $0.endTime = 1_700_000_004_000
    }
    if let event { await manager?.store.store(event) }
    // end of sample
    #expect(await manager?.store.numStoredEvents == 1)
    // sample: analytics-off
    try await analytics.setLoggingEnabled(false, for: account)
    // end of sample
    #expect(await analytics.publish(for: account) == .nothing)
    publishing.cancel()
    // sample: analytics-end
    await analytics.close()
    await accounts.close()
    // end of sample
    await publishing.value
  }
}

// sample: rest-interceptor
/// Numbers each request, and logs how it ended.
struct RequestNumbers: RestInterceptor {
  let field: HTTPField.Name

  func intercept(_ call: RestCall, next: Next) async throws -> RestResponse {
    var call = call
    let number = UUID().uuidString
    call.request.headers[field] = number
    let response = try await next(call)
    print(number, call, response.status)
    return response
  }
}
// end of sample
