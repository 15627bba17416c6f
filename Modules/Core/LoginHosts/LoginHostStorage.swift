public import Foundation
public import SalesforceSDKCommon
import Synchronization

/// The selection of another login server (CO-102).
public struct LoginHostChange: Sendable, Equatable {
  /// The previous selection.
  public let previous: LoginHost
  /// The current selection.
  public let current: LoginHost
}

/// A storage of the added login servers and the selected one.
///
/// With a secret store, they are a secret, so that a file that another program puts into the folder cannot
/// name the server of the next login. Without one, they are a file, which everyone who can write to the
/// folder can change. A list that is damaged is kept under another name or, as a secret, until the next
/// change, and the list starts with its fixed entries.
public final class LoginHostStorage: Sendable {
  private struct State {
    var list: LoginHostList
    /// The stored form that this list is as of; `nil` if there was none.
    var bytes: [UInt8]?
  }

  private let file: URL?
  private let secrets: (any SecretStore)?
  private let fixed: LoginHostList
  private let state: Mutex<State>
  /// One change at a time.
  private let changing = Mutex(())
  private let source = EventSource<LoginHostChange>()

  /// The time that a change waits for another process.
  private static let patience: Duration = .seconds(5)
  private static let secretName = SecretName(service: "com.salesforce.loginHosts")

  /// Opens the list.
  ///
  /// - Parameter list: The fixed entries.
  /// - Parameter file: The file of the other entries and the selection; `nil` keeps them in memory.
  /// - Parameter secrets: The secret store that has them instead. The content of a file of an earlier
  ///   version is moved there once; a file that appears later is renamed and reported in the log.
  ///   Default: none, so they are in the file.
  /// - Throws: ``AccountError`` `readFailed` if the list exists and cannot be read, `keyUnavailable` or
  ///   `keyMissing` if the secret store cannot be used.
  public init(
    _ list: LoginHostList = LoginHostList(), in file: URL? = nil,
    secrets: (any SecretStore)? = nil
  ) throws(AccountError) {
    self.file = file
    self.secrets = file == nil ? nil : secrets
    fixed = list
    var state = State(list: list)
    if let file {
      if let secrets {
        try Self.takeOver(file, secrets, fixed: list)
        try Self.read(secrets, fixed: list, into: &state)
      } else {
        try Self.read(file, fixed: list, into: &state)
      }
    }
    self.state = Mutex(state)
  }

  /// The list of a secret store, whose reading changes nothing: a file of an earlier version stays where it is.
  package static func reader(
    _ list: LoginHostList, secrets: any SecretStore
  ) throws(AccountError) -> LoginHostStorage {
    var state = State(list: list)
    try read(secrets, fixed: list, into: &state)
    return LoginHostStorage(list, state)
  }

  private init(_ list: LoginHostList, _ state: sending State) {
    file = nil
    secrets = nil
    fixed = list
    self.state = Mutex(state)
  }

  /// Reads the file, and applies its content if it has changed.
  private static func read(
    _ file: URL, fixed: LoginHostList, into state: inout State
  ) throws(AccountError) {
    let bytes = try AccountDisk.read(file)
    guard bytes != state.bytes else { return }
    state = State(list: fixed, bytes: bytes)
    guard let bytes else { return }
    guard let kept = KeptHosts(parsing: bytes) else {
      let aside = try? AccountDisk.setAside(file)
      CoreLogger.log.error(
        "\(file.lastPathComponent) is damaged and kept as \((aside ?? file).lastPathComponent)")
      return
    }
    kept.apply(to: &state.list)
  }

  /// Reads the secret, and applies its content if it has changed.
  private static func read(
    _ secrets: any SecretStore, fixed: LoginHostList, into state: inout State
  ) throws(AccountError) {
    let bytes = try secret(in: secrets)
    guard bytes != state.bytes else { return }
    state = State(list: fixed, bytes: bytes)
    guard let bytes, !bytes.isEmpty else { return }
    guard let kept = KeptHosts(parsing: bytes) else {
      CoreLogger.log.error("The added login servers are damaged; the next change replaces them.")
      return
    }
    kept.apply(to: &state.list)
  }

  /// The stored form in a secret store, which is empty if it cannot be read; `nil` if there never was one.
  private static func secret(in secrets: any SecretStore) throws(AccountError) -> [UInt8]? {
    do throws(SecretStoreError) {
      return try secrets.read(secretName)
    } catch {
      let failure = AccountSecrets.unavailable(error)
      // A damaged list costs the added servers, and no login.
      guard failure.code == .readFailed else { throw failure }
      CoreLogger.log.error("The added login servers cannot be read.", error: error)
      return []
    }
  }

  /// Moves the list of an earlier version into the secret store, or sets a file aside that was put
  /// there since.
  private static func takeOver(
    _ file: URL, _ secrets: any SecretStore, fixed: LoginHostList
  ) throws(AccountError) {
    if !DurableFile(file).exists {
      let isStored = try secret(in: secrets) != nil
      let isNew = try !hasSecrets(secrets)
      if isStored || isNew { return }
    }
    try whileLocked(file) { () throws(AccountError) in
      if let stored = try secret(in: secrets) {
        guard let bytes = try AccountDisk.read(file) else { return }
        // The process that moved it has ended before it removed the file.
        if bytes == stored { return try AccountDisk.remove(file) }
        let aside = try AccountDisk.setAside(file)
        CoreLogger.log.warning(
          "\(file.lastPathComponent) was not written by this program. Its login servers are ignored; it "
            + "is kept as \(aside.lastPathComponent).")
        return
      }
      var state = State(list: fixed)
      try read(file, fixed: fixed, into: &state)
      // Stored even without a file: one that appears later is not of an earlier version.
      try write(state.bytes ?? KeptHosts(state.list).bytes, to: secrets)
      try AccountDisk.remove(file)
    }
  }

  /// Whether the program has stored a secret. Without any, opening the list creates no secret store.
  private static func hasSecrets(_ secrets: any SecretStore) throws(AccountError) -> Bool {
    do throws(SecretStoreError) {
      return try !secrets.list().isEmpty
    } catch {
      throw AccountSecrets.unavailable(error)
    }
  }

  private static func write(
    _ bytes: [UInt8], to secrets: any SecretStore
  ) throws(AccountError) {
    do throws(SecretStoreError) {
      try secrets.write(bytes, for: secretName)
    } catch {
      throw AccountSecrets.notWritten(error)
    }
  }

  private static func whileLocked<Result>(
    _ file: URL, _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result {
    try AccountLock.whileLocked(at: file.path + ".lock", patience: patience, body)
  }

  /// The list as it is now.
  public var list: LoginHostList { state.withLock { $0.list } }

  /// The chosen entry.
  public var selected: LoginHost { list.selected }

  /// Changes the list, based on the changes of other processes, and stores it. Subscribers are
  /// notified if the selection changes.
  ///
  /// - Parameter change: Called once; it must not call this list.
  /// - Throws: ``AccountError`` `readFailed`, `writeFailed`, or `busy` if another process holds the file;
  ///   then the list is as before.
  public func update(_ change: @Sendable (inout LoginHostList) -> Void) throws(AccountError) {
    let (old, new) = try changing.withLock { (_: inout Void) throws(AccountError) in
      let old = state.withLock { $0 }
      var new = old
      if let file {
        try Self.whileLocked(file) { () throws(AccountError) in
          if let secrets {
            try Self.read(secrets, fixed: fixed, into: &new)
          } else {
            try Self.read(file, fixed: fixed, into: &new)
          }
          let before = new.list
          change(&new.list)
          // The first change also says that no file of an earlier version is expected.
          guard new.list != before || (secrets != nil && new.bytes == nil) else { return }
          let bytes = KeptHosts(new.list).bytes
          if let secrets {
            try Self.write(bytes, to: secrets)
          } else {
            try AccountDisk.write(bytes, to: file)
          }
          new.bytes = bytes
        }
      } else {
        change(&new.list)
      }
      state.withLock { $0 = new }
      return (old.list, new.list)
    }
    if old.selected != new.selected {
      source.send(LoginHostChange(previous: old.selected, current: new.selected))
    }
  }

  /// Returns the selections from now on. Each call returns a separate stream, which buffers all of
  /// them until they are read.
  public func changes() -> some AsyncSequence<LoginHostChange, Never> & Sendable {
    source.stream()
  }

  /// Chooses the server of the current user; a failure of the disk costs no more than that.
  func follow(_ server: LoginServer) {
    do throws(AccountError) {
      try update { $0.select(server) }
    } catch {
      CoreLogger.log.warning("the choice of \(server) was not kept", error: error)
    }
  }
}

/// `{"version": 1, "custom": [{"name", "url"}], "selected": url}`.
private struct KeptHosts {
  let custom: [LoginHost]
  let choice: LoginServer?

  init(_ list: LoginHostList) {
    custom = list.custom
    choice = list.chosen
  }

  init?(parsing bytes: [UInt8]) {
    guard let json = try? JSONSlice(parsing: bytes), json["version"]?.int64 == 1 else {
      return nil
    }
    custom =
      json["custom"]?.elements.compactMap { entry in
        guard let url = entry["url"]?.string, let server = try? LoginServer(url) else { return nil }
        return LoginHost(name: entry["name"]?.string, server: server, isDeletable: true)
      } ?? []
    choice = json["selected"]?.string.flatMap { try? LoginServer($0) }
  }

  /// Adds the entries to a list, and makes the choice if the list has it.
  func apply(to list: inout LoginHostList) {
    for host in custom { list.add(host) }
    // Chosen although it is gone: then the first entry counts, until it comes back.
    list.select(nil)
    if let choice, list.hosts.contains(where: { $0.server == choice }) { list.select(choice) }
  }

  var bytes: [UInt8] {
    var object: JSONObject = [
      "version": 1,
      "custom": .array(
        custom.map { ["name": .string($0.name), "url": .string($0.server.url.absoluteString)] }),
    ]
    if let choice { object["selected"] = .string(choice.url.absoluteString) }
    return Array(JSONValue.object(object).text.utf8)
  }
}
