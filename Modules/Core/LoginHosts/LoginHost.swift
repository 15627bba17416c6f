import Foundation
import SalesforceSDKCommon

/// One entry of the list of login servers (CO-100).
public struct LoginHost: Sendable, Hashable {
  /// The name that is shown to users.
  public let name: String
  /// The login server.
  public let server: LoginServer
  /// Whether the user added the entry and may remove it.
  public let isDeletable: Bool

  /// Creates an entry.
  ///
  /// - Parameter name: Default: the server's address without the scheme.
  public init(name: String? = nil, server: LoginServer, isDeletable: Bool = false) {
    let name = (name ?? "").trimmed
    self.name = name.isEmpty ? server.domain : name
    self.server = server
    self.isDeletable = isDeletable
  }

  /// Production and developer orgs.
  public static let production = LoginHost(name: "Production", server: .production)
  /// Sandboxes.
  public static let sandbox = LoginHost(name: "Sandbox", server: .sandbox)

  /// Reads an address that a user typed: adds a missing scheme, changes `http` to `https` except
  /// for this machine, and removes whitespace at both ends and a trailing slash (CO-104, BX-30).
  ///
  /// - Throws: ``OAuthError`` `invalidLoginURL` if it is not an address with a dot inside its host.
  public init(typed address: String, name: String? = nil) throws(OAuthError) {
    var text = address.trimmed
    if text.lowercased().hasPrefix("http://") {
      let rest = String(text.dropFirst("http://".count))
      if URL(string: text)?.isLoopback != true { text = "https://" + rest }
    }
    let server = try LoginServer(text)
    let labels = (server.url.host() ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard server.url.isLoopback || (labels.count > 1 && labels.allSatisfy { !$0.isEmpty }) else {
      throw OAuthError(
        .invalidLoginURL,
        "\(server.domain) is not a login server. Give an address like acme.my.salesforce.com.")
    }
    self.init(name: name, server: server, isDeletable: true)
  }

  /// Reads the list that an app declares: `[{"name", "url"}, ...]`, the first being the default.
  ///
  /// - Throws: ``OAuthError`` `badManagedConfiguration` if it is not such a list, `invalidLoginURL`.
  public static func list(parsing document: [UInt8]) throws(OAuthError) -> [LoginHost] {
    guard let json = try? JSONSlice(parsing: document), json.kind == .array else {
      throw OAuthError(
        .badManagedConfiguration, "The list of login servers is not a JSON array of objects.")
    }
    var hosts: [LoginHost] = []
    for entry in json.elements {
      guard let url = entry["url"]?.string ?? entry["name"]?.string else {
        throw OAuthError(
          .badManagedConfiguration,
          "An entry of the list of login servers has neither name nor url."
        )
      }
      hosts.append(LoginHost(name: entry["name"]?.string, server: try LoginServer(url)))
    }
    return hosts
  }
}

/// The list of login servers, and the selected one (CO-100 to CO-104).
///
/// A value; ``LoginHostStorage`` stores one on disk. The order of entries: those that the app declares,
/// built-in ones, those of the managed configuration, and those that the user added.
public struct LoginHostList: Sendable, Equatable {
  private let fixed: [LoginHost]
  private let allowsOthers: Bool
  /// The entries that the user added.
  public private(set) var custom: [LoginHost] = []
  private var choice: LoginServer?

  /// Creates a list.
  ///
  /// - Parameter declared: The app's own; the first is selected until the user selects another.
  /// - Parameter showsBuiltIn: Whether production and sandbox are offered. Default: true.
  /// - Parameter managed: Those of the managed configuration.
  /// - Parameter onlyManaged: Whether only these are allowed, and no others can be added.
  public init(
    declared: [LoginHost] = [], showsBuiltIn: Bool = true, managed: [LoginHost] = [],
    onlyManaged: Bool = false
  ) {
    let all =
      onlyManaged
      ? managed : declared + (showsBuiltIn ? [.production, .sandbox] : []) + managed
    var seen: Set<LoginServer> = []
    fixed = all.filter { seen.insert($0.server).inserted }
    allowsOthers = !onlyManaged
  }

  /// All entries, in order.
  public var hosts: [LoginHost] { fixed + custom }

  /// The selected entry. Without a selection, or if the selected entry was removed, the first one; production
  /// if the list is empty.
  public var selected: LoginHost {
    hosts.first { $0.server == choice } ?? hosts.first ?? .production
  }

  /// The chosen server, even if it is no longer in the list.
  var chosen: LoginServer? { choice }

  /// Selects a server, and adds it if it is not in the list. `nil` ends the selection.
  ///
  /// - Returns: Whether the list now has it.
  @discardableResult
  public mutating func select(_ server: LoginServer?) -> Bool {
    guard let server else {
      choice = nil
      return true
    }
    if !hosts.contains(where: { $0.server == server }) {
      guard allowsOthers else { return false }
      custom.append(LoginHost(server: server, isDeletable: true))
    }
    choice = server
    return true
  }

  /// Adds an entry and selects it. If the list already has its server, that entry is selected instead.
  ///
  /// - Returns: Whether the list now has it.
  @discardableResult
  public mutating func add(_ host: LoginHost) -> Bool {
    if allowsOthers, !hosts.contains(where: { $0.server == host.server }) {
      custom.append(LoginHost(name: host.name, server: host.server, isDeletable: true))
    }
    return select(host.server)
  }

  /// Removes an entry that the user added; any other entry stays.
  public mutating func remove(_ server: LoginServer) {
    custom.removeAll { $0.server == server }
  }

  /// Moves an entry that the user added to another position among such entries; a position out of range
  /// becomes the nearest valid one.
  public mutating func move(_ server: LoginServer, to place: Int) {
    guard let from = custom.firstIndex(where: { $0.server == server }) else { return }
    let host = custom.remove(at: from)
    custom.insert(host, at: min(max(place, 0), custom.count))
  }

  /// Replaces an entry that the user added.
  public mutating func replace(_ server: LoginServer, with host: LoginHost) {
    guard let index = custom.firstIndex(where: { $0.server == server }),
      host.server == server || !hosts.contains(where: { $0.server == host.server })
    else { return }
    custom[index] = LoginHost(name: host.name, server: host.server, isDeletable: true)
    if choice == server { choice = host.server }
  }
}
