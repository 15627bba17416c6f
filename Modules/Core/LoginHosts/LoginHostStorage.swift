public import Foundation
import SalesforceSDKCommon
import Synchronization

/// The selection of another login server (CO-102).
public struct LoginHostChange: Sendable, Equatable {
  /// The previous selection.
  public let previous: LoginHost
  /// The current selection.
  public let current: LoginHost
}

/// A file with the added login servers and the selected one.
///
/// A file that is damaged is kept under another name, and the list starts with its fixed entries.
public final class LoginHostStorage: Sendable {
  private struct State {
    var list: LoginHostList
    /// The content of the file that this list is as of; `nil` if there was no file.
    var bytes: [UInt8]?
  }

  private let file: URL?
  private let fixed: LoginHostList
  private let state: Mutex<State>
  /// One change at a time.
  private let changing = Mutex(())
  private let source = EventSource<LoginHostChange>()

  /// The time that a change waits for another process.
  private static let patience: Duration = .seconds(5)

  /// Opens the list.
  ///
  /// - Parameter list: The fixed entries.
  /// - Parameter file: The file of the other entries and the selection; `nil` keeps them in memory.
  /// - Throws: ``AccountError`` `readFailed` if the file exists and cannot be read.
  public init(_ list: LoginHostList = LoginHostList(), in file: URL? = nil) throws(AccountError) {
    self.file = file
    fixed = list
    var state = State(list: list)
    if let file { try Self.read(file, fixed: list, into: &state) }
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
    for host in kept.custom { state.list.add(host) }
    // Chosen although it is gone: then the first entry counts, until it comes back.
    state.list.select(nil)
    if let choice = kept.choice, state.list.hosts.contains(where: { $0.server == choice }) {
      state.list.select(choice)
    }
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
        try AccountLock.whileLocked(at: file.path + ".lock", patience: Self.patience) {
          () throws(AccountError) in
          try Self.read(file, fixed: fixed, into: &new)
          let before = new.list
          change(&new.list)
          guard new.list != before else { return }
          let bytes = KeptHosts(new.list).bytes
          try AccountDisk.write(bytes, to: file)
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
