import ArgumentParser
import Crypto
import Foundation
import SalesforceSDKCommon
import SmartStore

/// The rows of the SmartStore table, apart from bulk load and alter.
struct SmartStoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "smartstore",
    subcommands: [Elements.self, Rows.self, Convert.self, Prepare.self, Open.self])

  enum Way: String, ExpressibleByArgument {
    case encrypted, plain

    /// The key is no secret: the stores are.
    var encryption: StoreEncryption {
      switch self {
      case .plain: .plaintext
      case .encrypted:
        .encrypted(FixedKeyProvider(SymmetricKey(data: Data(repeating: 7, count: 32))))
      }
    }
  }

  /// Twenty elements of `count` share each of these words.
  static func notes(_ index: Int, of count: Int) -> String {
    "word\(index % (count / 20)) seen on day\(index % 365) by team\(index % 40)"
  }

  static let soup = "accounts"

  /// Writes the elements as the C loop reads them.
  struct Elements: ParsableCommand {
    @Option var elements = 100_000
    @Option var out: String

    func run() throws {
      var text = ""
      for index in 0..<elements {
        let record = SamplePage.record(index)
        text += "\(record.text)\t\(record.name)\t\(record.accountNumber)\t\(record.employees)\t"
        text += "\(record.revenue)\t\(SmartStoreCommand.notes(index, of: elements))\n"
      }
      try Data(text.utf8).write(to: URL(fileURLWithPath: out))
      try Measurement(bytes: text.utf8.count, records: elements).print()
    }
  }

  /// Times a long statement's conversion: it is refused at its very end, before SQLite sees it.
  struct Convert: AsyncParsableCommand {
    func run() async throws {
      try await withTemporaryFolder { folder in
        let store = try await SmartStore.open(at: folder, encryption: .plaintext)
        try await store.registerSoup(
          withName: SmartStoreCommand.soup, withIndices: StoreCommand.indexes)
        var text = "select {accounts:Name} from {accounts} where {accounts:Name} = 'x'"
        while text.utf8.count < 25_000 {
          text += " or ({accounts:Phone} like '%{x}%' and {accounts:AnnualRevenue} > 12)"
        }
        let spec = try QuerySpec.buildSmartQuerySpec(smartSql: text + " ; x", pageSize: 1)
        let seconds = try await store.read { reader in
          try medianSeconds(rounds: 99) {
            do {
              _ = try reader.query(using: spec)
            } catch let error as SmartStoreError where error.code == .refusedStatement {
              return
            }
          }
        }
        try Measurement(seconds: seconds, bytes: text.utf8.count).print()
        try await store.close()
      }
    }
  }

  /// Creates the store that ``Open`` opens.
  struct Prepare: AsyncParsableCommand {
    @Option var elements = 1_000_000
    @Argument var folder: String

    func run() async throws {
      let store = try await SmartStore.open(
        at: URL(fileURLWithPath: folder), encryption: Way.encrypted.encryption)
      try await store.registerSoup(
        withName: SmartStoreCommand.soup, withIndices: StoreCommand.indexes)
      for start in stride(from: 0, to: elements, by: 2000) {
        let texts = (start..<min(start + 2000, elements)).map { SamplePage.record($0).text }
        let page = Array("[\(texts.joined(separator: ","))]".utf8)
        try await store.upsert(
          slices: Array(try JSONSlice(parsing: page).elements), soup: SmartStoreCommand.soup,
          durability: .normal)
      }
      try await store.close()
      try Measurement(records: elements).print()
    }
  }

  /// Opens a store in a fresh process and asks it one question.
  struct Open: AsyncParsableCommand {
    @Argument var folder: String

    func run() async throws {
      let start = ContinuousClock.now
      let store = try await SmartStore.open(
        at: URL(fileURLWithPath: folder), encryption: Way.encrypted.encryption)
      let found = try await store.queryEntries(
        using: .buildExactQuerySpec(
          soupName: SmartStoreCommand.soup, path: "AccountNumber", matchKey: "AC-00123456",
          pageSize: 1))
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      guard found.count == 1 else { throw ValidationError("the element was not found") }
      try Measurement(seconds: seconds, peakMegabytes: peakMegabytes()).print()
      try await store.close()
    }
  }
}

/// Calls `body` with a folder that is removed afterwards.
func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory
    .appending(path: "fieldforce-bench-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder)
}
