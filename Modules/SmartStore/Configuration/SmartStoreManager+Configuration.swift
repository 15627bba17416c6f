import SalesforceSDKCommon

extension SmartStoreManager {
  /// Registers the soups of `userstore.json` that do not exist yet in an account's default store. A repeated
  /// call does nothing.
  ///
  /// A missing file is logged and skipped. A file that cannot be read, an entry that defines no soup, and a soup that the
  /// store refuses are logged and returned; the other soups are registered. If there is no soup to register, the store is
  /// not created.
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
    let (configuration, problems) = configuration(StoreConfigurationSource.userStoreFile, source)
    guard let configuration, !configuration.soups.isEmpty,
      let store = try await shared(forUserAccount: owner)
    else { return problems }
    return problems + (try await register(configuration, in: store))
  }

  /// Registers the soups of `globalstore.json` that do not exist yet in the app's default store.
  ///
  /// See ``setupUserStoreFromDefaultConfig(forUserAccount:from:)``.
  @discardableResult
  public func setupGlobalStoreFromDefaultConfig(
    from source: StoreConfigurationSource = .app
  ) async throws -> [StoreConfigurationProblem] {
    let (configuration, problems) = configuration(StoreConfigurationSource.globalStoreFile, source)
    guard let configuration, !configuration.soups.isEmpty else { return problems }
    return problems + (try await register(configuration, in: try await sharedGlobal()))
  }

  /// The content of a file, nil if it is missing or cannot be read, and its problems.
  private func configuration(
    _ file: String, _ source: StoreConfigurationSource
  ) -> (StoreConfiguration?, [StoreConfigurationProblem]) {
    let content: [UInt8]?
    do {
      content = try source.content(of: file)
    } catch {
      logger.error("The file \(file) could not be read, so it registers no soup.", error: error)
      let problem = StoreConfigurationProblem(
        file: file, line: 1, column: 1, path: "",
        message: "The file cannot be read, so it registers no soup. Check its permissions.",
        isWarning: false)
      return (nil, [problem])
    }
    guard let content else {
      logger.info("There is no file \(file), so it registers no soup.")
      return (nil, [])
    }
    let configuration = StoreConfiguration(parsing: content, file: file)
    for problem in configuration.problems {
      if problem.isWarning { logger.warning("\(problem)") } else { logger.error("\(problem)") }
    }
    if configuration.soups.isEmpty { logger.info("The file \(file) registers no soup.") }
    return (configuration, configuration.problems)
  }

  /// Registers soups. A soup that cannot be registered is logged and skipped.
  ///
  /// - Returns: A problem for each of those.
  private func register(
    _ configuration: StoreConfiguration, in store: SmartStore
  ) async throws -> [StoreConfigurationProblem] {
    var problems: [StoreConfigurationProblem] = []
    for (soup, place) in zip(configuration.soups, configuration.places) {
      do {
        try await store.registerSoup(withName: soup.name, withIndices: soup.indexes)
      } catch let error as SmartStoreError
        where [.invalidIndexSpec, .sql, .unfinishedOperation].contains(error.code)
      {
        // For example, SQLite refuses too many columns, or the soup's alter is unfinished.
        var problem = place
        problem.message = "\(error.message) The soup '\(soup.name)' is left out."
        problems.append(problem)
        logger.error("\(problem)", error: error)
      }
    }
    return problems
  }
}
