import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

extension Workspace {
  /// Checks the accounts and their sessions.
  func accountFindings() async -> [Finding] {
    var findings = await accounts.unreadableAccounts.map { Finding("account", $0.error) }
    let known = await accounts.accounts
    let current = await accounts.current?.identity
    for account in known {
      let isCurrent = account.identity == current ? ", the current user" : ""
      findings.append(Finding("account", .fine, "\(account.username)\(isCurrent)"))
    }
    if known.isEmpty, findings.isEmpty {
      findings.append(
        Finding(
          "account", .warning, "No user is logged in.",
          remedy: "fieldforce login --url URL --browser"))
    }
    return findings
  }

  /// Checks whether the servers of the accounts respond.
  func serverFindings() async -> [Finding] {
    var findings: [Finding] = []
    for account in await accounts.accounts {
      let address = account.credentials.instanceURL?.absoluteString ?? "the server"
      let client = RestClient(
        account: account, accounts: accounts, transport: transport, userAgent: userAgent)
      let start = ContinuousClock.now
      do {
        let response = try await client.response(
          to: RestRequest(path: "/{v}/limits", timeout: .seconds(10)))
        let time = Int((ContinuousClock.now - start) / .milliseconds(1))
        findings.append(
          response.isSuccess
            ? Finding(
              "server", .fine, "\(address) responds to \(account.username) in \(time) ms")
            : Finding(
              "server", .failed,
              "\(address) responds with status \(response.status) to \(account.username).",
              remedy: "Check the user's permissions, or log in again."))
      } catch let error as TransportError {
        findings.append(
          Finding(
            "server", error,
            remedy: "All commands except login, rest and sync work without the server."))
      } catch {
        findings.append(
          Finding(
            "server", error, remedy: "fieldforce login --url \(address) --browser"))
      }
    }
    return findings
  }

  /// Checks the stores: those that cannot be used, and their unsynced, conflicting or interrupted work.
  func storeFindings() async -> [Finding] {
    var findings: [Finding] = []
    var owners: [(name: String, owner: StoreOwner)] = [("the app", .global)]
    owners += await accounts.accounts.map { ($0.username, StoreOwner($0)) }
    for (user, owner) in owners {
      do {
        let names =
          owner.isGlobal
          ? try stores.allGlobalStoreNames() : try stores.allStoreNames(forUserAccount: owner)
        for name in names.sorted() {
          findings += await self.findings(ofStore: name, owner, subject: "store \(name) of \(user)")
        }
      } catch {
        findings.append(Finding("stores of \(user)", error))
      }
    }
    return findings
  }

  private func findings(
    ofStore name: String, _ owner: StoreOwner, subject: String
  ) async -> [Finding] {
    let store: SmartStore?
    do {
      store = try await storeToRead(named: name, owner)
    } catch {
      return [Finding(subject, error)]
    }
    guard let store else { return [Finding(subject, .warning, "Its user has no session.")] }
    do {
      var findings: [Finding] = []
      let soups = try await store.dataSoups()
      findings.append(Finding(subject, .fine, counted(soups.count, "soup")))
      if try await isWrittenElsewhere(named: name, owner) {
        findings.append(
          Finding(
            subject, .warning, "Another process works on it alone.",
            remedy: "Commands that only read work now; others work when that process has ended."))
      }
      let place = owner.isGlobal ? " --global" : ""
      let other = name == SmartStore.defaultStoreName ? place : "\(place) --store \(name)"
      for (soup, count) in try await store.unsyncedCounts() {
        findings.append(
          Finding(
            subject, .warning, "\(counted(count, "unsynced record")) in \(soup)",
            remedy:
              "'fieldforce sync diff --soup \(soup)\(other)' shows them, a sync up sends them."))
      }
      let conflicts = try await store.conflicts()
      if !conflicts.isEmpty {
        findings.append(
          Finding(
            subject, .warning, "\(counted(conflicts.count, "record")) in conflict",
            remedy: "'fieldforce sync conflicts\(other)' lists them."))
      }
      for sync in try await store.syncs() where sync.status == .failed || sync.status == .stopped {
        findings.append(
          Finding(
            subject, .warning, "The last run ended early: \(sync.line)",
            remedy: "fieldforce sync run \(sync.name ?? "\(sync.id)")\(other)"))
      }
      return findings
    } catch {
      return [Finding(subject, error)]
    }
  }
}
