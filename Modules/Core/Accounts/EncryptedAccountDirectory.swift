import Crypto
import Dispatch
public import Foundation
public import SalesforceSDKCommon

/// A storage for accounts in encrypted files below one folder, with their secrets in a secret store.
///
/// The stored tokens always belong to one login: the secrets are written before the file that lists
/// them, the file is replaced in one step, and the secrets of the former login are removed last.
/// Several processes may use the same folder.
///
/// A file that cannot be read is never deleted. If its key may become available again the file
/// stays in place; if it is damaged it is renamed in the same folder. Both are reported.
public struct EncryptedAccountDirectory: AccountPersister {
  /// The folders of the users' files.
  public let folders: UserFolders
  private let secrets: AccountSecrets
  private let patience: Duration
  /// Whether damaged files are renamed.
  private let setsAside: Bool

  /// Creates a storage for accounts below `root`.
  ///
  /// - Parameter patience: The maximum time to wait for another process that uses the same account.
  ///   That process may be requesting tokens, which can take 120 seconds. Default: 150 seconds.
  public init(root: URL, secrets: any SecretStore, patience: Duration = .seconds(150)) {
    self.init(root: root, secrets: secrets, patience: patience, setsAside: true)
  }

  /// Creates a storage whose reads change nothing: a damaged file is reported and keeps its name.
  package static func reader(root: URL, secrets: any SecretStore) -> EncryptedAccountDirectory {
    EncryptedAccountDirectory(
      root: root, secrets: secrets, patience: .seconds(150), setsAside: false)
  }

  private init(root: URL, secrets: any SecretStore, patience: Duration, setsAside: Bool) {
    self.setsAside = setsAside
    self.folders = UserFolders(root: root)
    self.secrets = AccountSecrets(store: secrets)
    self.patience = patience
  }

  // MARK: - Reading

  public func fetchAll() async throws(AccountError) -> StoredAccounts {
    try await onDisk { () throws(AccountError) in try readAll() }
  }

  private func readAll() throws(AccountError) -> StoredAccounts {
    let files = try accountFiles()
    var result = StoredAccounts()
    do throws(AccountError) {
      result.current = try readCurrent()
    } catch {
      guard error.code == .damagedFile else { throw error }
      guard setsAside else {
        result.unreadable.append(UnreadableAccount(url: currentFile, error: error))
        return try readAccounts(files, into: result)
      }
      // Another process may have written it again in the meantime.
      result.current = try whileCurrentIsLocked { () throws(AccountError) in
        try currentOrSetAside { result.unreadable.append($0) }
      }
    }
    return try readAccounts(files, into: result)
  }

  private func readAccounts(
    _ files: [URL], into stored: StoredAccounts
  ) throws(AccountError) -> StoredAccounts {
    var result = stored
    guard !files.isEmpty else { return result }
    let key = try existingKey()
    for url in files {
      do throws(AccountError) {
        guard var file = try open(url, with: key) else { continue }
        if let damage = try secrets.fill(&file.account, noted: file.secrets) {
          result.unreadable.append(UnreadableAccount(url: url, error: damage))
        }
        result.accounts.append(file.account)
      } catch {
        // A locked secret store concerns all accounts.
        if error.code == .keyUnavailable || error.code == .keyMissing { throw error }
        result.unreadable.append(setAside(url, error))
      }
    }
    return result
  }

  public func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    try await onDisk { () throws(AccountError) in try read(identity) }
  }

  private func read(_ identity: UserAccountIdentity) throws(AccountError) -> UserAccount? {
    let url = accountFile(of: identity)
    guard try AccountDisk.read(url) != nil else { return nil }
    guard var file = try open(url, with: try existingKey()) else { return nil }
    _ = try secrets.fill(&file.account, noted: file.secrets)
    return file.account
  }

  // MARK: - Writing

  public func save(_ account: UserAccount) async throws(AccountError) {
    try await onDisk { () throws(AccountError) in try write(account) }
  }

  private func write(_ account: UserAccount) throws(AccountError) {
    let url = accountFile(of: account.identity)
    let key = try key()
    var former: (account: UserAccount, secrets: Set<String>?)?
    do throws(AccountError) {
      former = try open(url, with: key)
    } catch {
      guard error.code == .damagedFile || error.code == .wrongKey else { throw error }
      // A file that cannot be read has this path; it is renamed and kept.
      try AccountDisk.setAside(url)
    }
    let isSameLogin = former?.account.credentials.identifier == account.credentials.identifier
    let noted = try secrets.write(
      account.credentials, noted: isSameLogin ? former?.secrets : [])
    if account.loginState == .loggingOut { try secrets.noteLogout(account.credentials) }
    let place = placeName(of: url)
    try AccountDisk.write(
      try AccountFile.seal(account, secrets: noted, at: place, with: key), to: url)
    if let former, !isSameLogin { try secrets.remove(former.account.credentials) }
  }

  public func delete(_ account: UserAccount) async throws(AccountError) {
    try await onDisk { () throws(AccountError) in try remove(account) }
  }

  private func remove(_ account: UserAccount) throws(AccountError) {
    try AccountDisk.remove(accountFile(of: account.identity))
    try secrets.remove(account.credentials)
    // Only an empty folder is removed: other data of the user has other owners.
    AccountDisk.removeFolderIfEmpty(folders.folder(of: account.identity))
    AccountDisk.removeFolderIfEmpty(folders.folder(ofOrganization: account.organizationId))
  }

  @discardableResult
  public func updateCurrent(
    _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
  ) async throws(AccountError) -> UserAccountIdentity? {
    try await onDisk { () throws(AccountError) in
      try whileCurrentIsLocked { () throws(AccountError) in
        let former = try currentOrSetAside { _ in }
        let next = change(former)
        if next != former { try writeCurrent(next) }
        return next
      }
    }
  }

  public func withExclusiveAccess<Result: Sendable>(
    to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    // The lock file remains after the account is removed: if it were removed while others wait for
    // it, two processes could get the lock.
    let name = placeName(of: accountFile(of: identity)).replacing("/", with: "-")
    return try await AccountLock.withLock(at: lock(name), patience: patience, body)
  }

  /// Runs work that waits for the disk and for other processes on a separate thread: the threads
  /// that tasks share are few, and the caller is an actor that others wait for.
  private func onDisk<Value: Sendable>(
    _ work: @escaping @Sendable () throws(AccountError) -> Value
  ) async throws(AccountError) -> Value {
    let result: Result<Value, AccountError> = await withCheckedContinuation { continuation in
      Self.threads.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }

  private static let threads = DispatchQueue(
    label: "com.salesforce.accounts", attributes: .concurrent)

  // MARK: - Places

  private static let fileName = "UserAccount.sealed"

  private func lock(_ name: String) -> String {
    folders.root.appending(path: "locks/\(name).lock").path
  }

  private var currentFile: URL { folders.root.appending(path: "current-user.json") }

  private func accountFile(of identity: UserAccountIdentity) -> URL {
    folders.folder(of: identity).appending(path: Self.fileName)
  }

  /// Returns `<org>/<user>`, which is associated data of the file.
  private func placeName(of url: URL) -> String {
    url.pathComponents.dropLast().suffix(2).joined(separator: "/")
  }

  /// Returns all account files: in every folder, for ids of any form (CO-94).
  ///
  /// - Throws: ``AccountError`` `readFailed`; a folder that cannot be read does not count as empty.
  private func accountFiles() throws(AccountError) -> [URL] {
    var files: [URL] = []
    for organization in try AccountDisk.folders(in: folders.root) {
      for user in try AccountDisk.folders(in: organization) {
        let file = user.appending(path: Self.fileName)
        if DurableFile(file).exists { files.append(file) }
      }
    }
    return files.sorted { $0.path < $1.path }
  }

  private func readCurrent() throws(AccountError) -> UserAccountIdentity? {
    guard let text = try AccountDisk.read(currentFile) else { return nil }
    guard let json = try? JSONSlice(parsing: text), let user = json["userId"]?.string,
      let org = json["organizationId"]?.string
    else {
      throw AccountError(
        .damagedFile,
        "The current-user file is corrupt, so no account is selected. Switch to an account."
      )
    }
    return UserAccountIdentity(userId: user, organizationId: org)
  }

  private func writeCurrent(_ identity: UserAccountIdentity?) throws(AccountError) {
    guard let identity else { return try AccountDisk.remove(currentFile) }
    var text = JSONWriter()
    text.beginObject()
    text.text("userId", identity.userId)
    text.text("organizationId", identity.organizationId)
    text.endObject()
    try AccountDisk.write(text.bytes, to: currentFile)
  }

  /// Reads the current user like ``readCurrent()``; a damaged file is renamed and counts as
  /// missing. Must be called with the lock held, or a file that was just written could be renamed.
  private func currentOrSetAside(
    _ report: (UnreadableAccount) -> Void
  ) throws(AccountError) -> UserAccountIdentity? {
    do throws(AccountError) {
      return try readCurrent()
    } catch {
      guard error.code == .damagedFile else { throw error }
      report(setAside(currentFile, error))
      return nil
    }
  }

  /// Runs `body` with exclusive access to the file of the current user, for some milliseconds.
  private func whileCurrentIsLocked<Result>(
    _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result {
    try AccountLock.whileLocked(
      at: lock("current-user"), patience: min(patience, .seconds(30)), body)
  }

  // MARK: - Keys and files

  /// Returns the account in a file without its secrets, and their names; `nil` if the file does not
  /// exist.
  private func open(
    _ url: URL, with key: SymmetricKey
  ) throws(AccountError) -> (account: UserAccount, secrets: Set<String>?)? {
    guard let bytes = try AccountDisk.read(url) else { return nil }
    let file = try AccountFile.open(bytes, at: placeName(of: url), with: key)
    return (file.account, file.secrets)
  }

  private func existingKey() throws(AccountError) -> SymmetricKey {
    guard let key = try secrets.accountKey() else {
      throw AccountError(
        .keyMissing,
        "There are account files below \(folders.root.path), but the "
          + "secret store has no key for them. Restore the secret store, or move the files away.")
    }
    return key
  }

  /// Returns the key. Creates it if there are no files either, because with a new key old files
  /// would remain unreadable.
  private func key() throws(AccountError) -> SymmetricKey {
    if let key = try secrets.accountKey() { return key }
    guard try accountFiles().isEmpty else { return try existingKey() }
    return try secrets.makeAccountKey()
  }

  /// Reports an unreadable file, and renames a damaged one.
  private func setAside(_ url: URL, _ error: AccountError) -> UnreadableAccount {
    CoreLogger.log.error("\(url.lastPathComponent) cannot be read", error: error)
    guard setsAside, error.code == .damagedFile else {
      return UnreadableAccount(url: url, error: error)
    }
    let aside = try? AccountDisk.setAside(url)
    return UnreadableAccount(url: aside ?? url, error: error)
  }
}
