import ArgumentParser
import CStoreLoop
import Crypto
import Foundation
import SalesforceSDKCommon
import SmartStore

/// Inserts elements with five index specs, through the store or through a loop over SQLite's C API;
/// or alters a soup that holds them.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "store")
  enum Way: String, ExpressibleByArgument {
    case encrypted, plain, c
    /// With other indexes for elements that are there.
    case alter
  }
  @Argument var way: Way
  @Option var elements = 100_000
  @Option var batch = 2000

  func run() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "fieldforce-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let records = (0..<elements).map(SamplePage.record)
    let seconds =
      switch way {
      case .c: try insertWithLoop(records, in: folder)
      case .plain: try await insert(records, in: folder, .plaintext)
      case .encrypted, .alter:
        try await insert(
          records, in: folder, .encrypted(FixedKeyProvider(SymmetricKey(size: .bits256))))
      }
    try Measurement(seconds: seconds, records: elements).print()
  }

  /// The soup whose schema and indexes the C loop copies.
  static let indexes = [
    SoupIndex(path: "Name", type: .string), SoupIndex(path: "AccountNumber", type: .string),
    SoupIndex(path: "NumberOfEmployees", type: .integer),
    SoupIndex(path: "AnnualRevenue", type: .floating), SoupIndex(path: "Industry", type: .json1),
  ]

  /// Two paths stay, two change their type, two are new.
  static let otherIndexes = [
    SoupIndex(path: "Name", type: .string), SoupIndex(path: "AccountNumber", type: .string),
    SoupIndex(path: "NumberOfEmployees", type: .string),
    SoupIndex(path: "AnnualRevenue", type: .integer),
    SoupIndex(path: "BillingCity", type: .string), SoupIndex(path: "Phone", type: .string),
  ]

  /// Does what `way` says, and gives the seconds that its own part took.
  private func insert(
    _ records: [SamplePage.Record], in folder: URL, _ encryption: StoreEncryption
  ) async throws -> Double {
    let stores = SmartStoreManager(root: folder, encryption: encryption)
    let store = try await stores.sharedGlobal()
    try await store.registerSoup(withName: "accounts", withIndices: Self.indexes)
    // What arrives is a page of bytes; reading it is part of the work.
    let pages = stride(from: 0, to: records.count, by: batch).map { start in
      let texts = records[start..<min(start + batch, records.count)].map(\.text)
      return Array("[\(texts.joined(separator: ","))]".utf8)
    }
    var start = ContinuousClock.now
    for page in pages {
      let elements = Array(try JSONSlice(parsing: page).elements)
      try await store.upsert(slices: elements, soup: "accounts")
    }
    if way == .alter {
      start = ContinuousClock.now
      try await store.alterSoup(
        named: "accounts", indexSpecs: Self.otherIndexes, reIndexData: true)
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try await stores.close()
    return seconds
  }

  private func insertWithLoop(
    _ records: [SamplePage.Record], in folder: URL
  ) throws -> Double {
    let path = folder.appending(path: "loop.sqlite").path
    var texts: [UnsafeMutablePointer<CChar>] = []
    defer { for text in texts { free(text) } }
    func keep(_ text: String) -> (UnsafePointer<CChar>?, Int32) {
      guard let copy = strdup(text) else { return (nil, 0) }
      texts.append(copy)
      return (UnsafePointer(copy), Int32(text.utf8.count))
    }
    let elements = records.map { record in
      let (text, textLength) = keep(record.text)
      let (name, nameLength) = keep(record.name)
      let (number, numberLength) = keep(record.accountNumber)
      return StoreLoopElement(
        text: text, text_length: textLength, name: name, name_length: nameLength,
        external_id: number, external_id_length: numberLength, employees: record.employees,
        revenue: record.revenue)
    }
    let start = ContinuousClock.now
    let result = store_loop_insert(path, elements, Int32(elements.count), Int32(batch))
    guard result == 0 else { throw LoopFailure(code: result) }
    return (ContinuousClock.now - start) / .seconds(1)
  }
}

/// SQLite refused a call of the loop.
struct LoopFailure: Error {
  let code: Int32
}
