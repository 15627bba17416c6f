import Foundation
import SalesforceSDKCommon
import StoreCrashScript
import Testing

@testable import SmartStore
@testable import SmartStoreTests

extension CrashModel {
  /// What a store holds, after a check that finds nothing wrong. Exactly one of the keys opens it,
  /// or none if it is not sealed.
  static func found(
    at directory: URL, keys: [Int], script: CrashScript
  ) async throws -> CrashModel {
    var opened: [CrashModel] = []
    for key in keys {
      guard let store = try await store(at: directory, key: key) else { continue }
      let report = try await store.verify()
      #expect(report.isClean, "\(report.findings)")
      opened.append(try await found(in: store, key: key, script: script))
      try await store.close()
    }
    #expect(opened.count == 1)
    guard let model = opened.first else { throw CocoaError(.fileReadUnknown) }
    return model
  }

  /// The open store, or nil if another key opens it.
  private static func store(at directory: URL, key: Int) async throws -> SmartStore? {
    do {
      return try await SmartStore.open(
        at: directory, encryption: CrashScript.encryption(key),
        options: SmartStoreOptions(encryptsPlaintextStore: false))
    } catch {
      guard error.code == .wrongKey || error.code == .keyMissing else { throw error }
      return nil
    }
  }

  /// What an open store holds; every element as some step wrote it.
  static func found(
    in store: SmartStore, key: Int, script: CrashScript
  ) async throws -> CrashModel {
    var model = CrashModel(key: key)
    let soups = try await store.allSoupNames()
    if soups.contains(CrashScript.soup) {
      let indexes = try await store.indices(forSoupNamed: CrashScript.soup).map(\.path)
      model.indexes = CrashScript.indexes.firstIndex { $0.map(\.path) == indexes } ?? -1
      model.elements = try await elements(of: CrashScript.soup, in: store, script: script)
    }
    if soups.contains(CrashScript.plainSoup) {
      model.plainElements = try await elements(
        of: CrashScript.plainSoup, in: store, script: script)
    }
    if soups.contains(CrashScript.externalSoup.name) {
      let external = try await elements(
        of: CrashScript.externalSoup.name, in: store, script: script)
      let both = model.elements.filter { $0.key < CrashScript.bulkKeys }
      #expect(external == both, "rows and files of one transaction")
    }
    return model
  }

  /// The step that wrote each element of a soup.
  private static func elements(
    of soup: String, in store: SmartStore, script: CrashScript
  ) async throws -> [Int: Int] {
    var steps: [Int: Int] = [:]
    for element in try await store.elements(of: soup) {
      guard let number = element["key"]?.int64, let step = element["step"]?.int64 else {
        Issue.record("an element that no step wrote")
        continue
      }
      let written = script.element(Int(number), step: Int(step))
      #expect(element["text"] == written["text"])
      let other = steps.updateValue(Int(step), forKey: Int(number))
      #expect(other == nil, "twice: \(number)")
    }
    return steps
  }
}
