import SalesforceSDKCommon
public import SmartStore

extension SyncManager {
  /// The result of loading a sync configuration file.
  public struct LoadedSyncs: Sendable {
    /// The created syncs, which have not run.
    public let created: [SyncState]
    /// The names that were already in use. Those syncs stay as they are, even if the file differs:
    /// delete a sync to create it from the file again.
    public let existing: [String]
    /// The problems in the file.
    public let problems: [SyncsConfigProblem]
  }

  /// Creates the syncs of a file whose names are not in use yet, and runs none of them. Calling it
  /// again is harmless.
  ///
  /// - Throws: ``SyncError`` `store`, `closed`.
  @discardableResult
  public func load(_ config: SyncsConfig) async throws -> LoadedSyncs {
    var created: [SyncState] = []
    var existing: [String] = []
    for entry in config.entries {
      do {
        switch entry.type {
        case .syncDown:
          created.append(
            try await create(
              newDown(entry.target, entry.options, entry.soupName, entry.syncName)))
        case .syncUp:
          created.append(
            try await create(
              newUp(entry.target, entry.options, entry.soupName, entry.syncName)))
        }
      } catch let error as SyncError where error.code == .nameInUse {
        existing.append(entry.syncName)
      }
    }
    return LoadedSyncs(created: created, existing: existing, problems: config.problems)
  }

  /// Creates the syncs of `usersyncs.json`, or of `globalsyncs.json` for a global store.
  ///
  /// A missing file is not an error. Problems are logged and returned.
  ///
  /// - Parameter source: The location of the file. Default: the app's resources, then the working
  ///   directory.
  /// - Throws: As ``load(_:)``.
  @discardableResult
  public func setupSyncsFromDefaultConfig(
    from source: StoreConfigurationSource = .app
  ) async throws -> LoadedSyncs {
    let file = store.isGlobal ? SyncsConfig.globalSyncsFile : SyncsConfig.userSyncsFile
    let content: [UInt8]?
    do {
      content = try source.content(of: file)
    } catch {
      MobileSyncLogger.log.error("The file \(file) could not be read.", error: error)
      let problem = SyncsConfigProblem(
        code: .unreadable, file: file, line: 1, column: 1, path: "",
        message: "The file cannot be read. Check its permissions.")
      return LoadedSyncs(created: [], existing: [], problems: [problem])
    }
    guard let content else {
      MobileSyncLogger.log.debug("There is no file \(file), so it defines no syncs.")
      return LoadedSyncs(created: [], existing: [], problems: [])
    }
    let config = SyncsConfig(parsing: content, file: file, registry: registry)
    for problem in config.problems {
      if problem.isWarning {
        MobileSyncLogger.log.warning("\(problem)")
      } else {
        MobileSyncLogger.log.error("\(problem)")
      }
    }
    return try await load(config)
  }
}
