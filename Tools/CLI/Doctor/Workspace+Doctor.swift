import Foundation
import HTTPTypes
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
      let start = ContinuousClock.now
      do {
        let response = try await limits(of: account)
        let time = Int((ContinuousClock.now - start) / .milliseconds(1))
        if response.status == 401 {
          findings.append(Self.ended(account, at: address))
          continue
        }
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

  /// Requests the limits of the user's org with the access token as it is: a refresh would change the account.
  private func limits(of account: UserAccount) async throws -> RestResponse {
    guard let token = account.credentials.accessToken, let base = account.credentials.instanceURL
    else { throw RestError(.notAuthenticated, "\(account) has no session. Log in again.") }
    let url = try RestRequest(path: "/{v}/limits")
      .url(base: base, apiVersion: RestRequest.defaultAPIVersion)
    var request = RestRequest(
      path: url.absoluteString, requiresAuthentication: false, timeout: .seconds(10))
    request.headers[.authorization] = "Bearer \(token)"
    return try await RestClient(transport: transport, userAgent: userAgent).response(to: request)
  }

  private static func ended(_ account: UserAccount, at address: String) -> Finding {
    let login = "fieldforce login --url \(address) --browser"
    return account.credentials.refreshToken?.isEmpty == false
      ? Finding(
        "server", .warning,
        "\(address) responds, but \(account.username)'s access token has ended.",
        remedy: "The next command renews it. If the server refuses that: \(login)")
      : Finding(
        "server", .failed, "\(address) no longer accepts the session of \(account.username).",
        remedy: login)
  }

  /// Checks the stores: those that cannot be used, and their unsynced, conflicting or interrupted work.
  func storeFindings() async -> [Finding] {
    guard !screenLock.isLocked else {
      return [
        Finding(
          "stores", .warning, "They are locked, as an org demands, and were not examined.",
          remedy: "fieldforce unlock")
      ]
    }
    var findings: [Finding] = []
    var owners: [(name: String, owner: StoreOwner)] = [("the app", .global)]
    owners += await accounts.accounts.map { ($0.username, StoreOwner($0)) }
    for (user, owner) in owners {
      do {
        for found in try stores.foundStores(of: owner) {
          findings += await self.findings(
            ofStore: found.name, owner, subject: "store \(found.name) of \(user)")
        }
      } catch {
        findings.append(Finding("stores of \(user)", error))
      }
    }
    return findings
  }

  /// Whether a process works alone on a store, which exists.
  private func isWrittenAlone(_ name: String, _ owner: StoreOwner) throws(SmartStoreError) -> Bool {
    do {
      try stores.checkWritable(name, owner: owner)
      return false
    } catch {
      guard error.code == .busyOtherProcess else { throw error }
      return true
    }
  }

  private func findings(
    ofStore name: String, _ owner: StoreOwner, subject: String
  ) async -> [Finding] {
    do {
      return try await readers.readingWithoutTrace(name, owner: owner) { store in
        try await findings(of: store, name, owner, subject)
      }
    } catch let error as SmartStoreError where error.code == .readOnly {
      return [
        Finding(
          subject, .warning, "Work of an earlier process is not finished, so it was not examined.",
          remedy: "The next command that opens it finishes the work.")
      ]
    } catch {
      return [Finding(subject, error)]
    }
  }

  private func findings(
    of store: SmartStore, _ name: String, _ owner: StoreOwner, _ subject: String
  ) async throws -> [Finding] {
    var findings: [Finding] = []
    let soups = try await store.dataSoups()
    findings.append(Finding(subject, .fine, counted(soups.count, "soup")))
    if try isWrittenAlone(name, owner) {
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
  }
}
