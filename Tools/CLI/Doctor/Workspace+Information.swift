import MobileSync
import SalesforceSDKCore
import SmartStore

extension Workspace {
  /// The report for developers on the folder: the SDK, users, servers, policies, stores, soups and syncs. A store that
  /// cannot be read has the reason in its section.
  func developerInfo() async throws -> DeveloperInfo {
    var sources = DeveloperInfo.Sources()
    sources.accounts = accounts
    sources.userAgent = userAgent.text()
    // One that cannot be read blocks logins, which say why.
    sources.managed = try? managed.current
    sources.loginHosts = loginHosts
    var report = try await DeveloperInfo(app: "fieldforce", sources)
    let current = await accounts.current
    try report.append(storesOf: stores, forUserAccount: current.map { StoreOwner($0) })
    var owners: [(user: String, owner: StoreOwner)] = [("the app", .global)]
    owners += await accounts.accounts.map { ($0.username, StoreOwner($0)) }
    for (user, owner) in owners {
      for found in try stores.foundStores(of: owner) {
        let name = found.name
        let title = "Store \(name) of \(user)"
        do {
          report = try await readers.readingWithoutTrace(name, owner: owner) { [report] store in
            var report = report
            try await report.append(syncsOf: store, titled: title)
            return report
          }
        } catch is CancellationError {
          throw CancellationError()
        } catch {
          report.append(section: title, [("Error", CommandFailure(error).message)])
        }
      }
    }
    return report
  }
}
