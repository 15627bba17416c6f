import SalesforceSDKCommon
public import SmartStore

extension SyncManager {
  /// The result of loading a sync configuration file.
  public struct LoadedSyncs: Sendable {
    /// The created syncs, which have not run.
    public let created: [SyncState]
    /// The names that were already in use. Those syncs stay as they are, even if the file differs.
    public let existing: [String]
    /// The names among ``existing`` whose stored sync has another definition than the file. Change the stored sync, or
    /// delete it and load the file again.
    public let differing: [String]
    /// The entries of the file that are left out because of a problem: the names, or the path, such as `syncs[2]`, of one
    /// without a name.
    public let leftOut: [String]
    /// The problems in the file, and the stored syncs that differ from it.
    public let problems: [SyncsConfigProblem]
    /// Probable mistakes in the fields of the created syncs, together with the other syncs of the store, that are not
    /// among ``problems`` already.
    public let warnings: [SyncFieldWarning]

    init(
      created: [SyncState] = [], existing: [String] = [], differing: [String] = [],
      leftOut: [String] = [], problems: [SyncsConfigProblem] = [], warnings: [SyncFieldWarning] = []
    ) {
      self.created = created
      self.existing = existing
      self.differing = differing
      self.leftOut = leftOut
      self.problems = problems
      self.warnings = warnings
    }
  }

  /// Creates the syncs of a file whose names are not in use yet, and runs none of them. Calling it
  /// again is harmless.
  ///
  /// Problems and warnings are logged and returned.
  ///
  /// - Throws: ``SyncError`` `store`, `closed`.
  @discardableResult
  public func load(_ config: SyncsConfig) async throws -> LoadedSyncs {
    var created: [SyncState] = []
    var existing: [String] = []
    var differing: [String] = []
    var problems = config.problems
    for entry in config.entries {
      let new =
        switch entry.type {
        case .syncDown: try newDown(entry.target, entry.options, entry.soupName, entry.syncName)
        case .syncUp: try newUp(entry.target, entry.options, entry.soupName, entry.syncName)
        }
      do {
        created.append(try await create(new))
      } catch let error as SyncError where error.code == .nameInUse {
        existing.append(entry.syncName)
        guard let stored = try await syncStatus(forName: entry.syncName), !stored.isDefined(as: new)
        else { continue }
        differing.append(entry.syncName)
        problems.append(.differsFromStored(entry, file: config.file))
      }
    }
    problems.forEach(log)
    let warnings = await fieldWarnings(of: created)
    for index in created.indices { created[index].warnings = warnings[index] }
    var others: [SyncFieldWarning] = []
    for warning in warnings.joined()
    where !others.contains(warning) && !problems.contains(where: { $0.message == warning.message })
    {
      others.append(warning)
    }
    log(others)
    return LoadedSyncs(
      created: created, existing: existing, differing: differing, leftOut: config.leftOut,
      problems: problems, warnings: others)
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
      return LoadedSyncs(problems: [problem])
    }
    guard let content else {
      MobileSyncLogger.log.debug("There is no file \(file), so it defines no syncs.")
      return LoadedSyncs()
    }
    return try await load(SyncsConfig(parsing: content, file: file, registry: registry))
  }

  private nonisolated func log(_ problem: SyncsConfigProblem) {
    if problem.isWarning {
      MobileSyncLogger.log.warning("\(problem)")
    } else {
      MobileSyncLogger.log.error("\(problem)")
    }
  }
}

extension SyncsConfigProblem {
  fileprivate static func differsFromStored(
    _ entry: SyncsConfig.Entry, file: String
  ) -> SyncsConfigProblem {
    SyncsConfigProblem(
      code: .differsFromStored, file: file, at: entry.place,
      message:
        "The store has a sync '\(entry.syncName)' with another definition, which stays as it is. Change the stored "
        + "sync, or delete it and load the file again.")
  }
}
