import Foundation
import HTTPTypes
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import TestSupport

@testable import FileSync

/// A device with a soup of accounts, one of which the org has, and the files of its records.
struct FileDevice: Sendable {
  static let soup = "accounts"

  let org: MockOrg
  let store: SmartStore
  let client: RestClient
  let wire: FaultyWire
  /// The account that the org and the soup have.
  let account: String

  /// Runs `body` with an org, a server for it and a device.
  static func with(_ body: (FileDevice) async throws -> Void) async throws {
    try await TemporaryFolder.with { folder in
      try await withMockOrg { org, server in
        let wire = FaultyWire()
        let accounts = try await UserAccountManager(
          persister: InMemoryAccountPersister(), transport: wire)
        let info = server.info
        let user = try await accounts.logIn(
          .tokens(
            accessToken: info.accessToken, refreshToken: info.refreshToken,
            instance: try LoginServer(info.instanceUrl),
            app: ConnectedApp(
              clientId: info.clientId, redirectURI: info.redirectUri, usesHybridGrants: false)))
        let store = try await SmartStore.open(
          at: folder.url.appending(path: "store"), encryption: .plaintext)
        try await store.registerSoup(
          withName: soup,
          withIndices: [
            SoupIndex(path: "Id", type: .string), SoupIndex(path: "__local__", type: .string),
            SoupIndex(path: "__sync_id__", type: .integer),
          ])
        let id = try await org.create("Account", ["Name": "Acme"])
        try await store.upsert(
          entries: [
            ["Id": .string(id), "attributes": ["type": "Account"]], ["Id": "local_1"],
          ], forSoupNamed: soup)
        let device = FileDevice(
          org: org, store: store,
          client: RestClient(
            account: user, accounts: accounts, transport: wire,
            options: .init(retries: RetryPolicy(firstWait: .milliseconds(1)))),
          wire: wire, account: id)
        do {
          try await body(device)
        } catch {
          try? await store.close()
          await accounts.close()
          throw error
        }
        try await store.close()
        await accounts.close()
      }
    }
  }

  /// Opens the files as a new process would.
  func open(
    rules: [FileRule] = [], quota: Int64? = nil, attachments: Bool = false,
    now: @escaping @Sendable () -> Int64 = { SalesforceDate(Date()).milliseconds },
    onStep: @escaping @Sendable () throws -> Void = {},
    onPiece: @escaping @Sendable (Int64) throws -> Void = { _ in }
  ) async throws -> FileSyncManager {
    try await FileSyncManager(
      store: store, client: client,
      options: FileSyncOptions(
        sources: [FileSource(soupName: Self.soup, objectType: "Account")], rules: rules,
        quota: quota, includesAttachments: attachments), now: now, onStep: onStep,
      onPiece: onPiece)
  }

  /// Runs `body` with a process's files, and ends the process.
  @discardableResult
  func process<R: Sendable>(
    rules: [FileRule] = [], quota: Int64? = nil, attachments: Bool = false,
    now: @escaping @Sendable () -> Int64 = { SalesforceDate(Date()).milliseconds },
    onStep: @escaping @Sendable () throws -> Void = {},
    onPiece: @escaping @Sendable (Int64) throws -> Void = { _ in },
    _ body: (FileSyncManager) async throws -> R
  ) async throws -> R {
    let files = try await open(
      rules: rules, quota: quota, attachments: attachments, now: now, onStep: onStep,
      onPiece: onPiece)
    do {
      let result = try await body(files)
      await files.close()
      return result
    } catch {
      await files.close()
      throw error
    }
  }

  /// Uploads a file to the account, or a new version of `document`, as another user of the org.
  @discardableResult
  func upload(
    _ bytes: [UInt8], name: String = "plan.pdf", document: String? = nil
  ) async throws -> String {
    var fields: JSONObject = [
      "Title": .string(name), "PathOnClient": .string(name),
      "VersionData": .string(Data(bytes).base64EncodedString()),
    ]
    if let document {
      fields["ContentDocumentId"] = .string(document)
    } else {
      fields["FirstPublishLocationId"] = .string(account)
    }
    return try await org.create("ContentVersion", .object(fields))
  }

  func attach(_ bytes: [UInt8], name: String = "plan.pdf") async throws -> String {
    try await org.create(
      "Attachment",
      [
        "Name": .string(name), "ParentId": .string(account),
        "Body": .string(Data(bytes).base64EncodedString()),
      ])
  }

  /// The encrypted files on disk.
  var stored: [URL] {
    get throws {
      try FileManager.default.contentsOfDirectory(
        at: store.directory.appending(path: "synced-files"), includingPropertiesForKeys: nil
      ).filter { $0.lastPathComponent != ".lock" }
    }
  }

  /// Bytes that no two offsets of a file have in common.
  static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

/// The end of a process, in the middle of its work.
struct Killed: Error {}

extension FileContent {
  /// All of it, for tests with small files.
  func bytes() async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await piece in self { bytes += piece }
    return bytes
  }
}

/// The network, which can cut or change the contents of files, and notes the ranges that were requested.
final class FaultyWire: HTTPTransport {
  private struct State {
    var ranges: [String?] = []
    var edit: (@Sendable ([UInt8]) -> [UInt8])?
    /// The number of bytes after which each of the next contents is cut.
    var cuts: [Int] = []
    var refusesRanges = false
    var respond: (@Sendable (TransportRequest) -> RestResponse?)?
    var requests = 0
  }

  private let wire = URLSessionTransport()
  private let state = Mutex(State())

  /// The ranges of the requests for contents.
  var ranges: [String?] { state.withLock { $0.ranges } }

  /// Changes the bytes of every content from now on.
  func edit(_ edit: (@Sendable ([UInt8]) -> [UInt8])?) { state.withLock { $0.edit = edit } }

  func cut(at counts: [Int]) { state.withLock { $0.cuts = counts } }

  func refuseRanges() { state.withLock { $0.refusesRanges = true } }

  /// Responds in place of the server from now on, where `respond` has a response.
  func respond(_ respond: (@Sendable (TransportRequest) -> RestResponse?)?) {
    state.withLock { ($0.respond, $0.requests) = (respond, 0) }
  }

  /// The number of requests since the last call of `respond(_:)`, without those for contents.
  var requests: Int { state.withLock { $0.requests } }

  func send(_ request: TransportRequest) async throws -> RestResponse {
    let respond = state.withLock { state in
      state.requests += 1
      return state.respond
    }
    if let response = respond?(request) { return response }
    return try await wire.send(request)
  }

  func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    var request = request
    let (edit, cut) = state.withLock { state in
      state.ranges.append(request.headers[.range])
      if state.refusesRanges { request.headers[.range] = nil }
      return (state.edit, state.cuts.isEmpty ? nil : state.cuts.removeFirst())
    }
    if edit == nil, cut == nil { return try await wire.withStream(to: request, body) }
    let response = try await wire.send(request)
    let bytes = edit?(response.body) ?? response.body
    let rest = Mutex(bytes.prefix(cut ?? bytes.count))
    let isCut = cut != nil
    return try await body(
      RestStream(
        status: response.status, headers: response.headers,
        body: RestBody {
          let piece = rest.withLock { rest in
            defer { rest = rest.dropFirst(40_000) }
            return Array(rest.prefix(40_000))
          }
          if !piece.isEmpty { return piece }
          if isCut { throw TransportError(.truncated, "The connection ended.") }
          return nil
        }))
  }
}
