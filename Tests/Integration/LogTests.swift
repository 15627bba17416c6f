import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import TestSupport
import Testing

/// What do the libraries log of syncs, requests and tokens?
@Suite struct LogTests {
  /// Runs `body` and returns what the libraries log in it, at every level.
  private func logged(
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> [String] {
    try await Turns.logging.run {
      let lines = Mutex<[String]>([])
      let loggers = ["SalesforceSDKCore", "SmartStore", "MobileSync"].map {
        SalesforceLogger.logger(forComponent: $0)
      }
      let levels = loggers.map(\.level)
      for logger in loggers { logger.level = .verbose }
      SalesforceLogger.setReceivers { _ in Listener { line in lines.withLock { $0.append(line) } } }
      defer {
        SalesforceLogger.setReceivers(nil)
        for (logger, level) in zip(loggers, levels) { logger.level = level }
      }
      try await body()
      return lines.withLock { $0 }
    }
  }

  @Test(.covers("BX-74.2"))
  func `syncs, requests and refreshes are logged, without tokens, queries or values`()
    async throws
  {
    // Words that stand in records, queries and ids of the outside, and nowhere else.
    let values = ["Zanzibar", "Quagga", "555-0199", "Yggdrasil", "Nonsensical"]
    let secrets = Mutex<Set<String>>([])
    let lines = try await logged {
      try await FieldDevice.with { device in
        try await device.org.create("Account", ["Name": "Zanzibar", "Phone": "555-0199"])
        let down = try await device.syncDown().finished()
        try await device.create(["Name": "Quagga"])
        let up = try await device.syncUp().finished()
        #expect(down.totalSize == 1 && up.totalSize == 1)
        device.org.expireAccessTokens()
        _ = try await device.client.send(.query("SELECT Id FROM Account WHERE Name = 'Yggdrasil'"))
        for path in [
          "sobjects/Account/Phone/Yggdrasil", "search?q=Yggdrasil", "query?q=Nonsensical",
        ] {
          await #expect(throws: RestError.self) {
            _ = try await device.client.send(RestRequest(path: "/{v}/" + path))
          }
        }
        // A run that fails: what the server says of it quotes the query.
        try await device.store.upsert(
          entries: [
            [
              "Id": "001000000000001AAA", "Name": "Nonsensical",
              "attributes": ["type": "Nonsensical"],
              "__local__": true, "__locally_updated__": true, "__locally_created__": false,
              "__locally_deleted__": false,
            ]
          ], forSoupNamed: FieldDevice.soup)
        _ = try? await device.syncUp().finished()
        let account = try #require(await device.accounts.account(for: device.account.identity))
        secrets.withLock {
          $0 = Set(
            [
              account.credentials.accessToken, account.credentials.refreshToken,
              device.account.credentials.accessToken, device.account.credentials.refreshToken,
            ].compactMap(\.self))
        }
      }
    }
    func has(_ pattern: some RegexComponent) -> Bool { lines.contains { $0.contains(pattern) } }
    #expect(has(#/^info MobileSync: Sync \d+ \(syncDown\) started\./#))
    #expect(has(#/^info MobileSync: Sync \d+ \(syncDown\) ended: DONE, 1 records, \d+ ms\./#))
    #expect(
      has(
        #/\(syncUp\) ended: DONE, 1 records \(1 succeeded, 0 skipped, 0 failed\), \d+ ms\./#))
    #expect(
      has(
        #/^debug SalesforceSDKCore: GET /services/data/v66\.0/query: 200, \d+ ms, 0 bytes sent, [1-9]\d* bytes received$/#
      ))
    #expect(has(#/^debug SalesforceSDKCore: POST /services/oauth2/token: 200, \d+ ms, [1-9]/#))
    #expect(has(#/^info SalesforceSDKCore: The token of .* was refreshed\./#))
    #expect(has(#/GET /services/data/v66\.0/sobjects/Account/Phone/…: 404/#))
    // SmartStore shows its statements at level verbose, with `?` in place of values.
    let requests = lines.filter { !$0.hasPrefix("verbose SmartStore") }
    #expect(requests.filter { $0.contains("?") } == [])
    for word in values + secrets.withLock({ $0 }) {
      #expect(lines.filter { $0.contains(word) } == [], "no line holds \(word)")
    }
  }
}

/// Passes on every record as `level component: text`.
private struct Listener: LogReceiver {
  let tell: @Sendable (String) -> Void

  init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

  func receive(_ record: LogRecord) {
    tell("\(record.level) \(record.component): \(record.text)")
  }
}
