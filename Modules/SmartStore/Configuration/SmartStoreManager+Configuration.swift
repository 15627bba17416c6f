import SalesforceSDKCommon

extension SmartStoreManager {
  /// Registers the soups of `userstore.json` that do not exist yet in an account's default store. A repeated
  /// call does nothing.
  ///
  /// A missing or unreadable file, and entries that define no soup, are logged and skipped. If there is no
  /// soup to register, the store is not created. Problems of the file's content are logged and returned.
  ///
  /// - Parameters:
  ///   - owner: The account; without one, the call only logs a warning.
  ///   - source: The location of the file. Default: the app's resources, then the working directory.
  /// - Returns: The problems of the file, each with its line.
  /// - Throws: The errors of opening the store and of registering a soup.
  @discardableResult
  public func setupUserStoreFromDefaultConfig(
    forUserAccount owner: StoreOwner?, from source: StoreConfigurationSource = .app
  ) async throws -> [StoreConfigurationProblem] {
    guard let configuration = configuration(StoreConfigurationSource.userStoreFile, source) else {
      return []
    }
    if !configuration.soups.isEmpty, let store = try await shared(forUserAccount: owner) {
      try await register(configuration.soups, in: store)
    }
    return configuration.problems
  }

  /// Registers the soups of `globalstore.json` that do not exist yet in the app's default store.
  ///
  /// See ``setupUserStoreFromDefaultConfig(forUserAccount:from:)``.
  @discardableResult
  public func setupGlobalStoreFromDefaultConfig(
    from source: StoreConfigurationSource = .app
  ) async throws -> [StoreConfigurationProblem] {
    guard let configuration = configuration(StoreConfigurationSource.globalStoreFile, source) else {
      return []
    }
    if !configuration.soups.isEmpty {
      try await register(configuration.soups, in: try await sharedGlobal())
    }
    return configuration.problems
  }

  /// The content of a file; nil if it is missing or cannot be read.
  private func configuration(
    _ file: String, _ source: StoreConfigurationSource
  ) -> StoreConfiguration? {
    let content: [UInt8]?
    do {
      content = try source.content(of: file)
    } catch {
      logger.error("The file \(file) could not be read, so it registers no soup.", error: error)
      return nil
    }
    guard let content else {
      logger.info("There is no file \(file), so it registers no soup.")
      return nil
    }
    let configuration = StoreConfiguration(parsing: content, file: file)
    for problem in configuration.problems {
      if problem.isWarning { logger.warning("\(problem)") } else { logger.error("\(problem)") }
    }
    if configuration.soups.isEmpty { logger.info("The file \(file) registers no soup.") }
    return configuration
  }

  /// Registers soups. A soup that cannot be registered is logged and skipped.
  private func register(
    _ soups: [StoreConfiguration.Soup], in store: SmartStore
  ) async throws {
    for soup in soups {
      do {
        try await store.registerSoup(withName: soup.name, withIndices: soup.indexes)
      } catch let error as SmartStoreError
        where [.invalidIndexSpec, .sql, .unfinishedOperation].contains(error.code)
      {
        // For example, SQLite refuses too many columns, or the soup's alter is unfinished.
        logger.error("A soup of a configuration file is left out.", error: error)
      }
    }
  }
}
