import SalesforceSDKCommon

extension SmartStoreManager {
  /// Registers the soups of `userstore.json` that do not exist yet in an account's default store. A repeated
  /// call does nothing.
  ///
  /// A missing or unreadable file, and entries that define no soup, are logged and skipped. If there is no
  /// soup to register, the store is not created.
  ///
  /// - Parameters:
  ///   - owner: The account; without one, the call only logs a warning.
  ///   - source: The location of the file. Default: the app's resources, then the working directory.
  /// - Throws: What opening the store and registering report.
  public func setupUserStoreFromDefaultConfig(
    forUserAccount owner: StoreOwner?, from source: StoreConfigurationSource = .app
  ) async throws {
    let soups = configuredSoups(StoreConfigurationSource.userStoreFile, source)
    guard !soups.isEmpty else { return }
    guard let store = try await shared(forUserAccount: owner) else { return }
    try await register(soups, in: store)
  }

  /// Registers the soups of `globalstore.json` that do not exist yet in the app's default store.
  ///
  /// See ``setupUserStoreFromDefaultConfig(forUserAccount:from:)``.
  public func setupGlobalStoreFromDefaultConfig(
    from source: StoreConfigurationSource = .app
  ) async throws {
    let soups = configuredSoups(StoreConfigurationSource.globalStoreFile, source)
    guard !soups.isEmpty else { return }
    try await register(soups, in: try await sharedGlobal())
  }

  private func configuredSoups(
    _ file: String, _ source: StoreConfigurationSource
  ) -> [StoreConfiguration.Soup] {
    let content: [UInt8]?
    do {
      content = try source.content(of: file)
    } catch {
      logger.error("The file \(file) could not be read, so it registers no soup.", error: error)
      return []
    }
    guard let content else {
      logger.info("There is no file \(file), so it registers no soup.")
      return []
    }
    let configuration = StoreConfiguration(parsing: content)
    for problem in configuration.problems { logger.error("In the file \(file) \(problem)") }
    if configuration.soups.isEmpty { logger.info("The file \(file) registers no soup.") }
    return configuration.soups
  }

  /// A soup that cannot be registered is logged, and the others are registered.
  private func register(
    _ soups: [StoreConfiguration.Soup], in store: SmartStore
  ) async throws {
    for soup in soups {
      do {
        try await store.registerSoup(withName: soup.name, withIndices: soup.indexes)
      } catch let error as SmartStoreError
        where [.invalidIndexSpec, .sql, .unfinishedOperation].contains(error.code)
      {
        // SQLite refuses, for one, more columns than a table may have; and a soup may be half altered.
        logger.error("A soup of a configuration file is left out.", error: error)
      }
    }
  }
}
