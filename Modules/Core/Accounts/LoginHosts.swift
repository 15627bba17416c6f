public import Foundation
import SalesforceSDKCommon
import Synchronization

/// Another login server was chosen (CO-102).
public struct LoginHostChange: Sendable, Equatable {
  /// The one before.
  public let previous: LoginHost
  /// The one now.
  public let current: LoginHost
}

/// Keeps the list of login servers in a file: what was added here, and what is chosen.
///
/// A file that is damaged is kept under another name, and the list starts with its fixed entries.
public final class LoginHosts: Sendable {
  private let file: URL?
  private let state: Mutex<LoginHostList>
  /// One write at a time, of what holds then: an older list never lands after a newer one.
  private let writing = Mutex(())
  private let source = EventSource<LoginHostChange>()

  /// Opens the list.
  ///
  /// - Parameter list: The fixed entries.
  /// - Parameter file: Where the rest is kept; `nil` keeps it in memory.
  /// - Throws: ``AccountError`` `readFailed` if the file is there and cannot be read.
  public init(_ list: LoginHostList = LoginHostList(), in file: URL? = nil) throws(AccountError) {
    self.file = file
    var list = list
    if let file, let bytes = try AccountDisk.read(file) {
      if let kept = KeptHosts(parsing: bytes) {
        for host in kept.custom { list.add(host) }
        // Chosen although it is gone: then the first entry counts, until it comes back.
        list.select(nil)
        if let choice = kept.choice, list.hosts.contains(where: { $0.server == choice }) {
          list.select(choice)
        }
      } else {
        let aside = file.appendingPathExtension("unreadable-\(UUID().uuidString.prefix(8))")
        CoreLogger.log.error("\(file.lastPathComponent) is damaged and kept as \(aside.path)")
        try? AccountDisk.move(file, to: aside)
      }
    }
    state = Mutex(list)
  }

  /// The list as it is now.
  public var list: LoginHostList { state.withLock { $0 } }

  /// The chosen entry.
  public var selected: LoginHost { list.selected }

  /// Changes the list, and keeps it. Subscribers hear of another choice.
  ///
  /// - Parameter change: Called once; it must not call this list.
  /// - Throws: ``AccountError`` `writeFailed`; then the list is as before.
  public func update(_ change: @Sendable (inout LoginHostList) -> Void) throws(AccountError) {
    let (old, new) = state.withLock { list in
      let old = list
      change(&list)
      return (old, list)
    }
    guard old != new else { return }
    do throws(AccountError) {
      try write()
    } catch {
      state.withLock { if $0 == new { $0 = old } }
      throw error
    }
    if old.selected != new.selected {
      source.send(LoginHostChange(previous: old.selected, current: new.selected))
    }
  }

  /// The choices from now on. Each call gives a stream of its own, which keeps all of them until
  /// they are read.
  public func changes() -> some AsyncSequence<LoginHostChange, Never> & Sendable {
    source.stream()
  }

  private func write() throws(AccountError) {
    guard let file else { return }
    try writing.withLock { (_: inout Void) throws(AccountError) in
      try AccountDisk.write(KeptHosts(list).bytes, to: file)
    }
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
    guard let json = try? JSONSlice(parsing: bytes), json.kind == .object,
      json["version"]?.int64 == 1
    else { return nil }
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
