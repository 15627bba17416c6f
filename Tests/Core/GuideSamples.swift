import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing
import TestSupport

/// The samples of the guides, compiled and run. Each block of Swift in a guide stands here as it does there.
@Suite struct GuideSamples {
  private let folder: TemporaryFolder
  private let org = TestOrg { request in
    switch request.url.path() {
    case let path where path.hasSuffix("/query") || path.hasSuffix("/search"):
      TransportResponse(json: #"{"records":[{"Name":"Acme"}],"done":true,"totalSize":1}"#)
    case let path where path.hasSuffix("/sobjects"):
      TransportResponse(
        json: #"[{"success":false,"errors":[{"statusCode":"INVALID_FIELD","message":"m"}]}]"#)
    case let path where path.hasSuffix("/content"): TransportResponse(status: 200, body: [1, 2, 3])
    case let path where path.contains("/sobjects/Account/"): TransportResponse(status: 404)
    default: TransportResponse(status: 201, json: #"{"id":"069A"}"#)
    }
  }

  init() throws { folder = try TemporaryFolder() }

  @Test func `the blocks of the guides stand in this file`() throws {
    let here = URL(filePath: #filePath)
    let source = lines(try String(contentsOf: here, encoding: .utf8))
    let guides = here.deletingLastPathComponent().appending(path: "../../Docs/Guides")
    for name in ["REST", "Files", "Keys-and-values"] {
      let page = try String(
        contentsOf: guides.appending(path: "\(name).md"), encoding: .utf8)
      let blocks = page.components(separatedBy: "```swift\n").dropFirst()
        .map { lines($0.components(separatedBy: "```")[0]) }
      #expect(!blocks.isEmpty)
      for block in blocks { #expect(source.contains(block), "\(name): \(block)") }
    }
  }

  /// The lines without what sets them in, and without empty ones.
  private func lines(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }.joined(separator: "\n")
  }

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
    let request = RestRequest.query("SELECT Id, Name FROM Account", batchSize: 500)
    let page = try await client.send(request).json()
    let names = page["records"]?.elements.compactMap { $0["Name"]?.string } ?? []
    #expect(names == ["Acme"])
    do {
      struct Account: Decodable, Sendable {
        let Name: String
      }
      var all: [Account] = []
      for try await page in client.pages(
        ofModelType: Account.self, for: .query("SELECT Name FROM Account"))
      {
        all += page.records
      }
      #expect(all.map(\.Name) == ["Acme"])
    }
    let records = [RestRecord(object: "Account", fields: ["Name": "Acme"])]
    let answer = try await client.send(.collectionCreate(records))
    for outcome in try CollectionResult.all(in: answer) where !outcome.success {
      print(outcome.errors.map(\.errorCode))
    }
    do {
      _ = try await client.send(.delete(object: "Account", id: id))
    } catch let error as RestError where error.code == .notFound {
      // Somebody was faster.
    } catch let error as RestError where error.code.isNetworkFailure {
      // Later, when there is a network.
    }
    let options = RestClient.Options(
      retries: RetryPolicy(maxAttempts: 5, maxWait: .seconds(10)),
      observer: { metrics in print(metrics.method, metrics.host, metrics.duration) })
    let patient = RestClient(
      account: account, accounts: accounts, transport: transport, options: options)
    let stopped = patient.cancel { $0.path.hasPrefix("/services/apexrest/") }
    #expect(stopped == 0)
    let sosl = SOSLBuilder(searchTerm: typed).searchGroup("NAME FIELDS")
      .returning(SOSLReturningBuilder("Account").fields("Id,Name").limit(5))
      .build()
    let found = try await client.send(.search(sosl ?? ""))
    #expect(found.isSuccess)
  }

  @Test func `the samples of files work`() async throws {
    let (client, _, _) = try await client()
    let (url, destination, id) = (folder.file("plan.pdf"), folder.file("copy.pdf"), "069A")
    try Data([1, 2, 3]).write(to: url)
    let plan = try UploadBody(file: url)
    let uploaded = try await client.send(
      .uploadFile(plan, name: "plan.pdf", description: "Draft", mimeType: "application/pdf"))
    let fileId = try uploaded.json()["id"]?.string
    #expect(fileId == "069A")
    var form = MultipartBody()
    form.add("entity_document", text: #"{"Name":"Brochure"}"#, contentType: "application/json")
    form.add(
      "Body", try UploadBody(file: url), fileName: "brochure.pdf", contentType: "application/pdf")
    var insert = RestRequest(method: .post, path: "/{v}/sobjects/Document")
    insert.setBody(form)
    var batch = RestRequest(method: .put, path: "/{v}/jobs/ingest/750A/batches")
    batch.upload = try UploadBody(file: url)
    batch.headers[.contentType] = "text/csv"
    for request in [insert, batch] { #expect(try await client.send(request).status == 201) }
    do {
      let progress = TransferProgress()
      async let file = client.download(.fileContents(id: id), to: destination, progress: progress)
      for await amounts in progress.updates() {
        print(amounts.received, amounts.toReceive ?? 0)
      }
      let bytes = try await file.bytes
      #expect(bytes == 3)
    }
    let size = try await client.withStream(to: .fileContents(id: id)) { stream in
      var size = 0
      for try await piece in stream.body { size += piece.count }
      return size
    }
    #expect(size == 3)
  }

  struct ServiceKeys: EncryptionKeyProvider {
    let keys: [KeyLabel: EncryptionKey]

    func encryptionKey(_ label: KeyLabel) throws(EncryptionError) -> EncryptionKey {
      guard let key = keys[label] else { throw EncryptionError(.keyMissing, "no key \(label)") }
      return key
    }
  }

  @Test func `the samples of keys and values work`() async throws {
    let (_, account, accounts) = try await client()
    let (secrets, folder, video) = (InMemorySecretStore(), folder.url, folder.file("video"))
    try Data(count: 100_000).write(to: video)
    var size = 0
    let keys = KeyGenerator(secrets)
    let key = try keys.encryptionKey(KeyLabel("com.example.orders"))
    let sealed = try Encryptor.encrypt(Array("secret".utf8), using: key)
    let opened = try Encryptor.decrypt(sealed, using: key)
    #expect(opened == Array("secret".utf8))
    #expect(throws: EncryptionError.self) { try ServiceKeys(keys: [:]).encryptionKey(.urlCache) }
    let stores = KeyValueStores(folders: UserFolders(root: folder), keys: keys)
    await accounts.addLogoutObserver(stores)
    let drafts = try stores.store(named: "drafts", for: account)
    try drafts.saveValue("Hello", forKey: "greeting")
    let greeting = try drafts.readValue(forKey: "greeting")
    #expect(greeting == "Hello")
    try drafts.saveFile(video, forKey: "video")
    if let pieces = try drafts.readStream(forKey: "video") {
      for try await piece in pieces { size += piece.count }
    }
    #expect(size == 100_000)
  }
}
