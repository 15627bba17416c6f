public import Foundation

/// The folders of a program for data, caches, state and settings, by the rules of the system (CA-29, CO-89).
///
/// On Linux these are the XDG folders, each with a subfolder for the program. Programs with the
/// same name share these folders, like a group of apps on other systems.
public struct AppFolders: Sendable, Hashable {
  /// The purpose of a folder.
  public struct Kind: Sendable, Hashable {
    fileprivate enum Name { case data, caches, state, configuration }
    fileprivate let name: Name
    /// Data that the user would miss.
    public static let data = Kind(name: .data)
    /// Data that can be fetched or created again.
    public static let caches = Kind(name: .caches)
    /// Data worth keeping between runs, such as logs.
    public static let state = Kind(name: .state)
    /// Settings that the user may edit.
    public static let configuration = Kind(name: .configuration)
  }

  /// The program's name, such as `org.example.notes`.
  public let appId: String

  private let roots: [Kind: URL]

  /// Names the folders of a program, and creates none of them.
  ///
  /// - Parameter environment: The environment with `XDG_DATA_HOME`, `XDG_CACHE_HOME`,
  ///   `XDG_STATE_HOME`, `XDG_CONFIG_HOME` and `HOME`. A value that is not an absolute path is ignored, as the XDG
  ///   rules require.
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
        .configuration: environment["XDG_CONFIG_HOME"].flatMap(Self.absolute)
          ?? home.appending(path: ".config"),
      ]
    #else
      let library = home.appending(path: "Library")
      roots = [
        .data: library.appending(path: "Application Support"),
        .caches: library.appending(path: "Caches"),
        .state: library.appending(path: "Application Support"),
        .configuration: library.appending(path: "Application Support"),
      ]
    #endif
  }

  /// Creates the folders of all kinds below one folder, for tests and for portable programs.
  public init(appId: String, root: URL) {
    self.appId = appId
    roots = [
      .data: root.appending(path: "data"), .caches: root.appending(path: "caches"),
      .state: root.appending(path: "state"),
      .configuration: root.appending(path: "configuration"),
    ]
  }

  /// Returns the folder of a kind, or a subfolder of it by name. Creates nothing.
  public func folder(_ kind: Kind, _ names: String...) -> URL {
    names.reduce(base(kind)) { $0.appending(path: $1, directoryHint: .isDirectory) }
  }

  /// Creates the folder of a kind, with access for its owner only. A cache folder gets a tag that
  /// tells backup programs to skip it.
  ///
  /// - Throws: ``PreferencesError`` `inputOutput`, also if a file is in the way, or if another user owns or may
  ///   enter one of the folders that the program's name is part of.
  @discardableResult
  public func make(_ kind: Kind, _ names: String...) throws(PreferencesError) -> URL {
    let base = base(kind)
    let url = names.reduce(base) { $0.appending(path: $1, directoryHint: .isDirectory) }
    do throws(FileFailure) {
      try DurableFile.makeFolder(url.path)
      var place = base
      try DurableFile.checkFolder(place.path, Self.access)
      for name in names {
        place.append(path: name, directoryHint: .isDirectory)
        try DurableFile.checkFolder(place.path, Self.access)
      }
      if kind == .caches {
        _ = try DurableFile(base.appending(path: "CACHEDIR.TAG")).create(Self.cacheTag)
      }
    } catch {
      throw PreferencesError(.inputOutput, "\(error)", cause: error)
    }
    return url
  }

  #if os(Linux)
    private static let access = DurableFile.Access.owner
  #else
    // The system makes such folders, which only the app and its user reach, with other modes.
    private static let access = DurableFile.Access.listed
  #endif

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
