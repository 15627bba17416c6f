import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// The samples of Docs/Guides/Foundations.md, as they stand there.
struct CommonSamples {
  @Test func `the guide's samples on settings, secrets and addresses do what they say`() throws {
    let folder = try TemporaryFolder()
    let root = folder.url
    // sample: app-folders
    let folders = AppFolders(appId: "org.example.notes", root: root)
    let data = try folders.make(.data)
    // end of sample
    #expect(FileManager.default.fileExists(atPath: data.path))

    // sample: secrets
    let secrets = FileSecretStore(
      in: data, masterKey: KeyFile(data.appending(path: "master.key")))
    let name = SecretName(service: "org.example.notes.key", account: "jane")
    let key = try secrets.readOrCreate(name) { RandomBytes.make(32) }
    // end of sample
    #expect(try secrets.read(name) == key)

    // sample: preferences
    let settings = try Preferences(data.appending(path: "settings.json"))
    try settings.set(true, forKey: "sync.onlyOnWiFi")
    let onlyOnWiFi = settings["sync.onlyOnWiFi"]?.bool ?? false
    // end of sample
    #expect(onlyOnWiFi)

    // sample: logging
    let log = SalesforceLogger.logger(forComponent: "Notes")
    log.level = .info
    log.info("synced \(12) notes", tag: "Sync")
    log.debug("not formatted at this level: \(Int.max)")
    // end of sample

    // sample: reachability
    let isWorthTrying = Reachability().status.isReachable
    // end of sample
    _ = isWorthTrying
  }
}
