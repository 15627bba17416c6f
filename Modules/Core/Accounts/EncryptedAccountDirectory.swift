import Crypto
import Dispatch
public import Foundation
public import SalesforceSDKCommon

/// A storage for accounts in encrypted files below one folder, with their secrets in a secret store.
///
/// The stored tokens always belong to one login: the secrets are written before the file that lists
/// them, the file is replaced in one step, and the secrets of the former login are removed last.
/// Several processes may use the same folder. One secret store serves one folder of accounts: it also
/// has the digest of each file. So an older copy in the place of a file is not read, and a file that
/// was removed is missed (`replacedFile`).
///
/// A file that cannot be read is never deleted. If its key may become available again the file
/// stays in place; if it is damaged or was replaced it is renamed in the same folder. All are
/// reported, and a login of the same user ends that.
public struct EncryptedAccountDirectory: AccountPersister {
  /// The folders of the users' files.
  public let folders: UserFolders
  private let secrets: AccountSecrets
  private let digests: AccountDigests
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
    self.digests = AccountDigests(store: secrets)
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
    let key = files.isEmpty ? nil : try existingKey()
    for url in try files + missingFiles(files) {
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
        if let policy = try digests.record(of: placeName(of: url))?.lockPolicy {
          result.heldPolicies[identity(of: url)] = policy
        }
      }
    }
    if let key, setsAside {
      do throws(AccountError) {
        try startDigests(with: key)
      } catch {
        CoreLogger.log.warning("The digests of the account files were not stored.", error: error)
      }
    }
    return result
  }

  /// The files that the secret store has digests of, but the folder does not have.
  private func missingFiles(_ files: [URL]) throws(AccountError) -> [URL] {
    let places: [String]
    do throws(AccountError) {
      places = try digests.places()
    } catch {
      // A program without accounts needs no secrets yet.
      guard !files.isEmpty else { return [] }
      throw error
    }
    let present = Set(files.map(placeName))
    return places.filter { !present.contains($0) }.sorted().map { file(at: $0) }
  }

  public func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    try await onDisk { () throws(AccountError) in try read(identity) }
  }

  private func read(_ identity: UserAccountIdentity) throws(AccountError) -> UserAccount? {
    let url = accountFile(of: identity)
    let key = DurableFile(url).exists ? try existingKey() : nil
    guard var file = try open(url, with: key) else { return nil }
    _ = try secrets.fill(&file.account, noted: file.secrets)
    return file.account
  }

  // MARK: - Writing

  public func save(_ account: UserAccount) async throws(AccountError) {
    try await onDisk { () throws(AccountError) in try write(account) }
  }

  private func write(_ account: UserAccount) throws(AccountError) {
    let url = accountFile(of: account.identity)
    let place = placeName(of: url)
    let key = try key()
    try startDigests(with: key)
    var former: OpenedFile?
    do throws(AccountError) {
      former = try open(url, with: key)
    } catch {
      guard [.damagedFile, .wrongKey, .replacedFile].contains(error.code) else { throw error }
      // A file that cannot be read has this path; it is renamed and kept.
      if DurableFile(url).exists { try AccountDisk.setAside(url) }
    }
    let isSameLogin = former?.account.credentials.identifier == account.credentials.identifier
    var record: AccountDigests.Record
    if let found = try digests.record(of: place) {
      record = found
    } else {
      record = AccountDigests.Record(mayBeMissing: former == nil)
      // The record of a new account is made before its tokens, whose loss costs less.
      if former == nil { try digests.write(record, of: place) }
    }
    if let former { record.digests = [former.digest] }
    let noted = try secrets.write(
      account.credentials, noted: isSameLogin ? former?.secrets : [])
    if account.loginState == .loggingOut { try secrets.noteLogout(account.credentials) }
    let isWritten = try former.map { former throws(AccountError) in
      try isSame(former, account, secrets: noted)
    }
    var next = AccountDigests.Record(lockPolicy: account.lockPolicy)
    if let former, isWritten == true {
      next.digests = [former.digest]
    } else {
      let bytes = try AccountFile.seal(account, secrets: noted, at: place, with: key)
      next.digests = [AccountDigests.digest(of: bytes)]
      record.digests += next.digests
      record.lockPolicy = account.lockPolicy
      try digests.write(record, of: place)
      try AccountDisk.write(bytes, to: url)
    }
    try digests.write(next, of: place)
    if let former, !isSameLogin { try secrets.remove(former.account.credentials) }
  }

  /// Whether a file has this content.
  private func isSame(
    _ file: OpenedFile, _ account: UserAccount, secrets: Set<String>
  ) throws(AccountError) -> Bool {
    do {
      return try file.secrets == secrets
        && AccountDocument.text(of: file.account, secrets: secrets)
          == AccountDocument.text(of: account, secrets: secrets)
    } catch {
      throw AccountError(.writeFailed, "\(account) cannot be sealed.", cause: error)
    }
  }

  public func delete(_ account: UserAccount) async throws(AccountError) {
    try await onDisk { () throws(AccountError) in try remove(account) }
  }

  private func remove(_ account: UserAccount) throws(AccountError) {
    let url = accountFile(of: account.identity)
    let place = placeName(of: url)
    if var record = try digests.record(of: place) {
      record.mayBeMissing = true
      try digests.write(record, of: place)
    }
    try AccountDisk.remove(url)
    try digests.remove(place)
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

  private func file(at place: String) -> URL {
    folders.root.appending(path: place).appending(path: Self.fileName)
  }

  private func identity(of url: URL) -> UserAccountIdentity {
    let parts = url.pathComponents.dropLast().suffix(2)
    return UserAccountIdentity(
      userId: parts.last ?? "", organizationId: parts.first ?? "")
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

  /// An account file without the account's secrets.
  private struct OpenedFile {
    var account: UserAccount
    /// The names of the secrets; `nil` if they were not recorded.
    let secrets: Set<String>?
    let digest: [UInt8]
  }

  /// Returns the content of a file; `nil` if the account does not exist.
  ///
  /// - Throws: ``AccountError`` `replacedFile` if the file is not the one that was written last, and as
  ///   ``AccountFile/open(_:at:with:)``.
  private func open(_ url: URL, with key: SymmetricKey?) throws(AccountError) -> OpenedFile? {
    let place = placeName(of: url)
    var known = try digests.knowledge(of: place)
    while true {
      let bytes = try AccountDisk.read(url)
      let file = try bytes.map { bytes throws(AccountError) in
        let key = if let key { key } else { try existingKey() }
        let content = try AccountFile.open(bytes, at: place, with: key)
        return OpenedFile(
          account: content.account, secrets: content.secrets,
          digest: AccountDigests.digest(of: bytes))
      }
      if known.admits(bytes) { return file }
      // Another process may have written the file since its digest was read.
      let now = try digests.knowledge(of: place)
      guard now == known else {
        known = now
        continue
      }
      throw AccountError(
        .replacedFile,
        bytes == nil
          ? "The file of account \(place) was removed. Log in again."
          : "The file of account \(place) is not the one that was written last. Log in again.")
    }
  }

  /// Stores the digests of all files, if an earlier version wrote them.
  private func startDigests(with key: SymmetricKey) throws(AccountError) {
    guard try !digests.isInUse() else { return }
    guard try !accountFiles().isEmpty else { return try digests.start() }
    try AccountLock.whileLocked(
      at: lock("account-files"), patience: min(patience, .seconds(30))
    ) { () throws(AccountError) in
      guard try !digests.isInUse() else { return }
      for url in try accountFiles() {
        let place = placeName(of: url)
        // A file that cannot be read has no digest, and is reported as it was before.
        guard let bytes = try? AccountDisk.read(url),
          let account = try? AccountFile.open(bytes, at: place, with: key).account
        else { continue }
        try digests.adopt(bytes, of: account, at: place)
      }
      try digests.start()
    }
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
    guard setsAside, error.code == .damagedFile || error.code == .replacedFile else {
      return UnreadableAccount(url: url, error: error)
    }
    let aside = try? AccountDisk.setAside(url)
    return UnreadableAccount(url: aside ?? url, error: error)
  }
}
