public import Foundation

/// The folders of a program for data, caches and state, by the rules of the system (CA-29, CO-89).
///
/// On Linux these are the XDG folders, each with a folder of the program's own below it. Programs that
/// are given the same name share what is in them; that is what a group of apps is here.
public struct AppFolders: Sendable, Hashable {
  /// What a folder is for.
  public struct Kind: Sendable, Hashable {
    fileprivate enum Name { case data, caches, state }
    fileprivate let name: Name
    /// What the user would miss.
    public static let data = Kind(name: .data)
    /// What can be fetched or made again.
    public static let caches = Kind(name: .caches)
    /// What is worth keeping between runs, such as logs.
    public static let state = Kind(name: .state)
  }

  /// The program's name, such as `org.example.notes`.
  public let appId: String

  private let roots: [Kind: URL]

  /// Names the folders of a program; nothing is made.
  ///
  /// - Parameter environment: Where `XDG_DATA_HOME`, `XDG_CACHE_HOME`, `XDG_STATE_HOME` and `HOME`
  ///   are looked up. A value that is no absolute path counts as missing, as the XDG rules demand.
  /// - Precondition: `appId` can be the name of a folder.
  public init(
    appId: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    precondition(
      !appId.isEmpty && !appId.contains("/") && appId != "." && appId != "..",
      "\(appId) is no name of a folder")
    self.appId = appId
    let home = environment["HOME"].flatMap(Self.absolute) ?? URL.homeDirectory
    #if os(Linux)
      roots = [
        .data: environment["XDG_DATA_HOME"].flatMap(Self.absolute)
          ?? home.appending(path: ".local/share"),
        .caches: environment["XDG_CACHE_HOME"].flatMap(Self.absolute)
          ?? home.appending(path: ".cache"),
        .state: environment["XDG_STATE_HOME"].flatMap(Self.absolute)
          ?? home.appending(path: ".local/state"),
      ]
    #else
      let library = home.appending(path: "Library")
      roots = [
        .data: library.appending(path: "Application Support"),
        .caches: library.appending(path: "Caches"),
        .state: library.appending(path: "Application Support"),
      ]
    #endif
  }

  /// Puts all kinds below one folder, for tests and for programs that carry their data along.
  public init(appId: String, root: URL) {
    self.appId = appId
    roots = [
      .data: root.appending(path: "data"), .caches: root.appending(path: "caches"),
      .state: root.appending(path: "state"),
    ]
  }

  /// The folder of a kind, with further names below it; nothing is made.
  public func folder(_ kind: Kind, _ names: String...) -> URL {
    names.reduce(base(kind)) { $0.appending(path: $1, directoryHint: .isDirectory) }
  }

  /// Makes the folder of a kind, for its owner alone. A folder of caches is marked so that backups
  /// leave it out.
  ///
  /// - Throws: ``PreferencesError`` `inputOutput`, also if a file is in the way.
  @discardableResult
  public func make(_ kind: Kind, _ names: String...) throws(PreferencesError) -> URL {
    let url = names.reduce(base(kind)) { $0.appending(path: $1, directoryHint: .isDirectory) }
    do throws(FileFailure) {
      try DurableFile.makeFolder(url.path)
      if kind == .caches {
        _ = try DurableFile(base(kind).appending(path: "CACHEDIR.TAG")).create(Self.cacheTag)
      }
    } catch {
      throw PreferencesError(.inputOutput, "\(error)", cause: error)
    }
    return url
  }

  /// The text by which backup programs know caches.
  private static let cacheTag = Array("Signature: 8a477f597d28d172789f06886806bc55\n".utf8)

  private func base(_ kind: Kind) -> URL {
    guard let root = roots[kind] else { preconditionFailure("every kind has a root") }
    return root.appending(path: appId, directoryHint: .isDirectory)
  }

  private static func absolute(_ path: String) -> URL? {
    path.hasPrefix("/") ? URL(filePath: path, directoryHint: .isDirectory) : nil
  }
}
