import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore

// What tests do with the files of a store whose write-ahead log (WAL) was removed, cut or exchanged.
extension StoreFolder {
  static let names = (log: "store.sqlite-wal", anchor: "store.sqlite-anchor")

  var provider: FixedKeyProvider { FixedKeyProvider(key) }
  var encryption: StoreEncryption { .encrypted(provider) }

  func place(_ files: [String: Data]) throws -> URL {
    let place = url.appending(path: "changed")
    try? FileManager.default.removeItem(at: place)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: place.appending(path: name)) }
    return place
  }

  /// Opening refuses the files and a check names the WAL; neither changes anything.
  func expectRefusal(_ files: [String: Data], _ comment: Comment) throws {
    let place = try place(files)
    for access in [StoreDatabaseOptions.Access.readWrite, .readOnly] {
      var options = StoreDatabaseOptions()
      options.access = access
      do {
        try open(options, at: place).close()
        Issue.record(comment)
      } catch {
        #expect(error.code == .corruptLog, comment)
        #expect(error.message.contains("accept-loss"))
      }
    }
    let report = try StoreMaintenance(at: place).verify(encryption)
    #expect(report.findings.contains { $0.kind == .log }, comment)
    #expect(try stored(at: place) == files, comment)
  }

  /// The files but the locks, which are empty.
  func stored(at place: URL) throws -> [String: Data] {
    try contents(of: place).filter { !Self.lockFiles.contains($0.key) }
  }

  /// The loss is accepted, and the store can be used again.
  func expectAcceptance(_ files: [String: Data], _ comment: Comment) throws {
    let place = try place(files)
    let log = files[StoreFolder.names.log]
    let report = try StoreMaintenance(at: place).acceptLostLog(encryption)
    let hasLog = log.map { !$0.isEmpty } ?? false
    #expect(report.findings.contains { $0.kind == .log } == hasLog, comment)
    if hasLog {
      #expect(
        try Data(contentsOf: place.appending(path: "store.sqlite-wal.damaged-1")) == log, comment)
    }
    let store = try open(at: place)
    try store.fill(1)
    try store.close()
    try open(at: place).close()
  }
}
